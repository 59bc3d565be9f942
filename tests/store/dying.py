"""Opens a database repeatedly, each time killed after a later statement that writes, and then without a kill.

Run as `python -m tests.store.dying URL`. For each kill it prints the tables that were left behind, then
`through`. Unless the tests are thorough, a sample of the statements is tried, with one of each kind. It is
smaller on PostgreSQL, which takes long for each attempt.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from typing import Any

import alembic.command
import alembic.script  # noqa: F401
from sqlalchemy import Engine, create_engine, event, inspect
from sqlalchemy.pool import NullPool

import caesura.store.postgres  # noqa: F401 - once, for all children
from caesura.store import migrate
from caesura.store.open import open_database
from tests import effort

_WRITING = ("CREATE", "ALTER", "DROP", "INSERT", "UPDATE")


def main(url: str) -> None:
    status = -signal.SIGKILL
    for limit in _limits(url):
        status = _opened(url, limit)
        if status != -signal.SIGKILL:
            break
        print(json.dumps(_tables(url)), flush=True)
    print("through" if status == 0 else f"failed with {status}", flush=True)


def _limits(url: str) -> Iterable[int]:
    """After how many statements it is killed. The last limit is beyond them."""
    if effort.thorough():
        return count(1)
    lasts = url.startswith("sqlite")  # what a migration did there is not undone, so it is tried on a copy
    kinds = _statements(_copy(url) if lasts else url)
    step = 6 if lasts else 8
    return [place + 1 for place in (*effort.sample(kinds, step), len(kinds))]


def _statements(url: str) -> list[str]:
    """The kind of each statement of the migration, which is then undone."""
    found: list[str] = []
    engine = _engine(url)
    _listen(lambda text: found.append(" ".join(text.split()[:2])))
    with engine.connect() as connection:
        migrate.upgrade(connection)
        connection.rollback()
    return found


def _copy(url: str) -> str:
    copy = f"{url}-copy"
    with (
        closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as there,
        closing(sqlite3.connect(copy.removeprefix("sqlite:///"))) as here,
    ):
        there.backup(here)
    return copy


def _opened(url: str, limit: int) -> int:
    """How a child ended that opened the database, and was killed after so many statements."""
    child = os.fork()
    if child == 0:
        _open(url, limit)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _open(url: str, limit: int) -> None:
    left = limit

    def count_down(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    _listen(count_down)

    async def open_and_close() -> None:
        await (await open_database(url)).close()

    asyncio.run(open_and_close())


def _listen(heard: Callable[[str], None]) -> None:
    def listen(_: Any, __: Any, statement: str, *rest: Any) -> None:
        if statement.lstrip().startswith(_WRITING):
            heard(statement)

    event.listen(Engine, "after_cursor_execute", listen)


def _tables(url: str) -> list[str]:
    return inspect(_engine(url)).get_table_names()


def _engine(url: str) -> Engine:
    return create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)


if __name__ == "__main__":
    main(sys.argv[1])
