"""An operator's own LangGraph graph: running it, observing it, and keeping its checkpoints."""
