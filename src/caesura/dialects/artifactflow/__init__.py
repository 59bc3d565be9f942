"""API B: conversations as message trees, one stream for each run, and artifacts."""
