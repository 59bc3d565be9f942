"""The engine: the only room that drives LangGraph. A turn becomes a run, whatever happens becomes events."""
