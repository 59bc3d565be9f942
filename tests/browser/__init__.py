"""The web page in Chromium, as people use it."""
