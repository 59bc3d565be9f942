"""API C: chat with one agent in a session, and confirmations, with one SSE response for each segment."""
