"""Tools: what an agent can do besides talking."""
