"""The tools of the web, against servers on this machine."""
