"""API B over a real server, as a front end uses it."""
