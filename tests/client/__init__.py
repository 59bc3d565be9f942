"""The Python client, against real servers."""
