"""API A: sessions and threads, one SSE response a segment."""
