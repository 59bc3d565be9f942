"""Tests of the log: its cost, and its behaviour when the storage fails."""
