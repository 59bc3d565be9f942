"""MCP servers whose tools agents have. The package `mcp` is imported when the first server is opened."""
