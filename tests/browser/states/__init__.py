"""Every state of the page, as it was drawn, and how to get there for real."""
