"""The APIs over a real server."""
