"""API C over a real server, as its clients use it."""
