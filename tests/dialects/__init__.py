"""The dialects, each on its own."""
