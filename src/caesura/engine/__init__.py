"""Runs: agents at work, supervised, interrupted and resumed."""
