"""Kill and cut."""
