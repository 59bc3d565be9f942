"""The engine: runs agents, in our own loop or in an operator's LangGraph graph, and writes events."""
