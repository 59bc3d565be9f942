"""Agents: their files, models and tools."""
