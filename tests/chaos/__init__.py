"""Tests that kill processes and cut streams."""
