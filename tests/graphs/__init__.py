"""Graphs as people write them, served by a real server process."""
