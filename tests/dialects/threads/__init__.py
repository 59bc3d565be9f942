"""API A without a server."""
