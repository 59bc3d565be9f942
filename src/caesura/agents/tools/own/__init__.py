"""An operator's own tools: Python functions that an agent's file names."""
