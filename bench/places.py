"""The databases to measure on: a file in a temporary folder, and a PostgreSQL where there is one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import Missing, Postgres


@contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="caesura-bench-") as folder:
        yield f"sqlite:///{Path(folder) / 'caesura.db'}"


@contextmanager
def postgres() -> Iterator[str | None]:
    """A database of a server of our own; None where PostgreSQL is not installed."""
    try:
        server = Postgres.start()
    except Missing:
        yield None
        return
    with server:
        yield server.create_database("bench")
