"""A process that has imported everything and keeps nothing open, and forks children that are killed.

It reads the orders for a child as a line of JSON, and answers with the child's output and how it ended.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from psycopg.pq import PipelineStatus, TransactionStatus
from sqlalchemy import Connection

from caesura.store import events, sqlite, statements
from caesura.store.open import open_database
from caesura.store.wire import Wire
from tests.chaos.crowd import write_until_killed
from tests.chaos.kinds import Kinds
from tests.chaos.process import Program, wait_for
from tests.chaos.story import Story
from tests.sent import listen

When = Literal["before", "after"]


class Ended(NamedTuple):
    said: list[str]
    killed: bool


class Forks(Program):
    """The tests' side: children on demand."""

    def __init__(self) -> None:
        super().__init__("tests.chaos.forks")

    def run(self, url: str, name: str, when: When = "after", number: int = 0) -> Ended:
        """Tell a story in a child that is killed before or after its commit of this number, from 1 on."""
        child = self.ask({"url": url, "name": name, "when": when, "number": number})
        wait_for(child)
        return Ended(**self.ask({"child": child}))

    def crowd(self, url: str, name: str, life: float) -> Ended:
        """Write and read in a child that is killed after `life` seconds."""
        child = self.ask({"url": url, "name": name, "life": life})
        return Ended(**self.ask({"child": child}))


class Reaper:
    """Counts commits, and ends the process at one of them."""

    def __init__(self, number: int) -> None:
        #: The kind of each commit.
        self.commits: list[str] = []
        self._number = number
        self._kinds = Kinds()

    def __call__(self) -> None:
        self.commits.append(self._kinds.take())
        if len(self.commits) == self._number:
            os.kill(os.getpid(), signal.SIGKILL)


async def _tell(url: str, name: str, when: When, reaper: Reaper, say: Callable[[str], None]) -> None:
    if when == "before":
        _call_before_commits(reaper)
    database = await open_database(url, after_commit=reaper if when == "after" else None)
    await Story(database, name, say).tell()
    await database.close()


async def _write(url: str, name: str, life: float, say: Callable[[str], None]) -> None:
    await write_until_killed(await open_database(url), name, life, say)


def _call_before_commits(reaper: Reaper) -> None:
    """Call the reaper before COMMIT, and before a statement that is its own transaction."""

    def before_statement(wire: Wire, text: str) -> None:
        reads = threading.current_thread().name.startswith("caesura-read")
        alone = wire.info.transaction_status == TransactionStatus.IDLE and "INSERT" in text
        if (text == "COMMIT" and not reads) or (alone and wire.pgconn.pipeline_status == PipelineStatus.OFF):
            reaper()

    def run(connection: Connection, text: str, *values: Any) -> Any:
        alone = not (text.startswith(("BEGIN", "PRAGMA")) or statements.driver(connection).in_transaction)
        if text == "COMMIT" or alone:
            reaper()
        return statements.run(connection, text, *values)

    listen(before_statement)
    setattr(sqlite, "run", run)  # noqa: B010 - with this the writer begins and ends its transactions
    setattr(events, "run", run)  # noqa: B010 - and with this it writes words


def _child(order: dict[str, Any], out: int) -> None:
    def say(line: str) -> None:
        os.write(out, f"{line}\n".encode())

    if "life" in order:
        return asyncio.run(_write(**order, say=say))
    reaper = Reaper(order["number"])
    asyncio.run(_tell(order["url"], order["name"], order["when"], reaper, say))
    return say(json.dumps(reaper.commits))


class _Children:
    """The program's side: forks children and waits for them."""

    def __init__(self) -> None:
        self._pipes: dict[int, int] = {}

    def do(self, what: dict[str, Any]) -> Any:
        return self._end(what["child"])._asdict() if "child" in what else self._fork(what)

    def _fork(self, order: dict[str, Any]) -> int:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(reading)
                _child(order, writing)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        self._pipes[child] = reading
        return child

    def _end(self, child: int) -> Ended:
        with os.fdopen(self._pipes.pop(child)) as said:
            lines = said.read().splitlines()
        _, status = os.waitpid(child, 0)
        return Ended(lines, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)


if __name__ == "__main__":
    import caesura.store.postgres  # noqa: F401 - once, for all children

    with tempfile.TemporaryDirectory() as folder:  # what is made on first use is made once, for all children
        asyncio.run(_tell(f"sqlite:///{folder}/caesura.db", "warm-up", "after", Reaper(0), lambda line: None))
    gc.freeze()  # so that no child copies pages just to look for garbage there
    children = _Children()
    for line in sys.stdin:
        print(json.dumps(children.do(json.loads(line))), flush=True)
