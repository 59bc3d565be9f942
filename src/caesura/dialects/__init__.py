"""Other protocols spoken on top of the same service."""
