"""API A: sessions and threads, with one SSE response for each segment."""
