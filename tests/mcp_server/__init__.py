"""MCP servers for tests: one written with the official package, and one that does what it should not."""
