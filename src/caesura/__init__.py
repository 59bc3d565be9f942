"""A server for agent conversations."""

__version__ = "0.1.0"
