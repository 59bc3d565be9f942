"""The web: searching it, and reading its pages."""
