"""Requests that a client should not send, by the thousand, against a real server process."""
