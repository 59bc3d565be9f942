"""Tests of the log: what it costs, and what it does when the storage fails."""
