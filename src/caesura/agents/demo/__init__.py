"""The demo model: no AI, only rules, so that everything can be tried without a key."""
