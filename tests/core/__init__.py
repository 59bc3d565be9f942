"""The core: pure, so tested with any value that can be thought of."""
