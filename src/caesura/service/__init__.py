"""What a caller may ask for: conversations, runs, artifacts, accounts."""
