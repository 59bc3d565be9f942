"""API B without a server."""
