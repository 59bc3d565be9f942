"""The web page in Chromium."""
