"""A server for agent conversations."""

import os

__version__ = "0.1.0"

# Read by LangGraph when it is imported: without it, a stored checkpoint could name any importable to call.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
