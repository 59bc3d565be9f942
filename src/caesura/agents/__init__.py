"""Agents: what answers in a conversation, and where it is found."""
