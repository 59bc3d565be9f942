"""The databases and folders of these tests, and checks of what is in them afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection

from caesura.core import events as ev
from caesura.core.fold import fold
from caesura.core.interrupts import Approval
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import Turn
from caesura.store import events, interrupts
from tests.accounts import accounts
from tests.chaos.engine_life import CONVERSATION, Orders, rows_of
from tests.chaos.lanes import LANES
from tests.conformance.rows import turns_of
from tests.engine.grammar import check
from tests.tables import Tables, sqlite_file


class Place:
    """A fresh database and a fresh folder for each run."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder, self._number = folder, 0
        folder.mkdir(exist_ok=True)
        self._tables = None if url is None else Tables(url)

    def close(self) -> None:
        if self._tables is not None:
            self._tables.close()

    @property
    def shared(self) -> bool:
        return self._tables is not None

    def orders(self, agent: str) -> Orders:
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        if self._tables is not None:
            self._tables.empty()
            return Orders(self._tables.url, str(folder), agent)
        (folder / "caesura.db").write_bytes(sqlite_file())
        return Orders(f"sqlite:///{folder}/caesura.db", str(folder), agent)


@contextmanager
def in_lanes(folder: Path, url: Callable[[], str] | None = None) -> Iterator[list[Place]]:
    """A place for each lane, each with a database of its own, if there is a `url`."""
    with ExitStack() as stack:
        made = (Place(folder / f"lane-{lane}", url and url()) for lane in range(LANES))
        yield [stack.enter_context(closing(place)) for place in made]


class Found:
    """What the rows and the tools' traces contain afterwards."""

    def __init__(self, row: Turn, events: list[ev.Event], asked: list[StoredInterrupt]) -> None:
        self.row, self.events, self.asked = row, events, asked
        self.transcript = fold(events)

    @property
    def texts(self) -> list[str]:
        return [m.content for m in self.row.messages or () if m.role == "assistant"]

    def said_under(self, parent: str | None) -> list[str]:
        """The texts of the agent, or of the sub-agent under this tool call."""
        said = [m for m in self.row.messages or () if m.role == "assistant"]
        return [m.content for m in said if m.parent == parent]

    @property
    def unknown(self) -> set[str | None]:
        approvals = [item.interrupt for item in self.asked if isinstance(item.interrupt, Approval)]
        return {item.tool_call_id for item in approvals if item.unknown}


async def look(orders: Orders, status: str = "done") -> list[Found]:
    """Each turn, after checking what must be true of every ended turn."""
    found = await asyncio.to_thread(_found, orders.url)
    for item in found:
        check(item.events)
        assert item.row.status == status, item.events
        assert item.row.owner is None
        assert item.row.messages == item.transcript.closed()
        assert not item.transcript.open
        assert all(asked.status == "answered" for asked in item.asked)
    return found


def _found(url: str) -> list[Found]:
    engine = rows_of(url)
    with engine.connect() as connection:
        kept, counted = accounts(connection)
        assert kept == counted
        return [
            Found(row, _events(connection, row.num), interrupts.of(connection, row.num))
            for row in turns_of(connection, CONVERSATION)
        ]


def _events(connection: Connection, num: int) -> list[ev.Event]:
    envelopes = events.read(connection, num, 0, 1 << 30)
    assert [item.seq for item in envelopes] == list(range(1, len(envelopes) + 1))
    return [item.event for item in envelopes]


def traces(orders: Orders) -> list[str]:
    path = Path(orders.folder) / "trace.txt"
    return sorted(path.read_text().splitlines()) if path.exists() else []
