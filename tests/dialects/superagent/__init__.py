"""API C without a server."""
