"""Imports of a server, done once before all forks."""

import caesura.app  # noqa: F401
