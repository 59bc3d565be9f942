"""Imports of a server, done once before all forks."""

import caesura.app
import caesura.store.postgres  # noqa: F401
