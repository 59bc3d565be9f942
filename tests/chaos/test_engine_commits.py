"""kill -9 of an engine at every commit of a turn, one after the other; another process goes on.

The process dies right after the commit, with nobody told of it. Whatever the place: no run is lost, no tool
has its effect twice, what waits for a person can be answered, and nobody reads a word twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from caesura.core import events as ev
from caesura.core.fold import fold
from caesura.store import interrupts, turns
from caesura.store.open import open_database
from tests.chaos.engine_life import CONVERSATION, Lives, Orders
from tests.conformance.conftest import _empty, _migrate
from tests.engine.grammar import check

pytestmark = pytest.mark.timeout(300)

FIRST = "Working on it."
LAST = "All done: 2 results."
EFFECTS = {"call-tools-1-note": "note a", "call-tools-1-seal": "seal b"}


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


class Place:
    """Where lives are lived: a fresh database and a fresh folder for each."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._folder, self._url, self._number = folder, url, 0

    def orders(self, agent: str) -> Orders:
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        url = self._url or f"sqlite:///{folder}/caesura.db"
        if self._url is None or self._number == 1:
            _migrate(url)
        else:
            _empty(url)
        return Orders(url, str(folder), agent)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, None if request.param == "sqlite" else request.getfixturevalue("postgres_url"))


class Found:
    """What the rows and the tools' traces say afterwards."""

    def __init__(self, row: turns.Turn, events: list[ev.Event], asked: list[interrupts.Asked]) -> None:
        self.row, self.events, self.asked = row, events, asked
        self.transcript = fold(events)

    @property
    def texts(self) -> list[str]:
        return [m.content for m in self.row.messages or () if m.role == "assistant"]

    @property
    def unknown(self) -> set[str | None]:
        return {item.interrupt.tool_call_id for item in self.asked if item.interrupt.unknown}


async def look(orders: Orders, status: str = "done") -> list[Found]:
    """Each turn, checked for what must be true of every ended one."""
    database = await open_database(orders.url)
    try:
        found = []
        for row in await database.read(turns.of, CONVERSATION):
            envelopes = await database.read(_events, row.num)
            asked = await database.read(interrupts.of, row.num)
            found.append(Found(row, envelopes, asked))
    finally:
        await database.close()
    for item in found:
        check(item.events)
        assert item.row.status == status, item.events
        assert item.row.owner is None
        assert item.row.messages == item.transcript.closed()
        assert not item.transcript.open
        assert all(asked.status == "answered" for asked in item.asked)
    return found


def _events(connection: object, num: int) -> list[ev.Event]:
    from caesura.store import events

    envelopes = events.read(connection, num, 0, 1 << 30)  # type: ignore[arg-type]
    assert [item.seq for item in envelopes] == list(range(1, len(envelopes) + 1))
    return [item.event for item in envelopes]


def traces(orders: Orders) -> list[str]:
    path = Path(orders.folder) / "trace.txt"
    return sorted(path.read_text().splitlines()) if path.exists() else []


async def test_killed_at_any_commit_a_turn_goes_on_and_no_tool_works_twice(
    lives: Lives, place: Place
) -> None:
    number, unknown = 0, set[str | None]()
    while True:
        number += 1
        orders = replace(place.orders("tools"), unknown="reject")
        if lives.run(replace(orders, commit=number)) is not None:
            break
        assert lives.run(orders) is not None, f"killed at commit {number}"
        (found,) = await look(orders)
        for call, effect in EFFECTS.items():
            # Where nobody knows whether a call had its effect, the person was asked, and left it.
            fitting = (0, 1) if call in found.unknown else (1,)
            assert traces(orders).count(effect) in fitting, f"killed at commit {number}"
        assert found.texts == [FIRST, LAST], f"killed at commit {number}"
        unknown |= found.unknown
    assert number > 15
    assert unknown == set(EFFECTS), "a kill between a call's intent and its result is asked about"


@pytest.mark.parametrize("tool", ["note", "seal"])
@pytest.mark.parametrize(("decision", "times"), [("reject", 1), ("approve", 2)])
async def test_killed_inside_a_tool_the_person_decides_whether_it_is_run_again(
    lives: Lives, place: Place, tool: str, decision: str, times: int
) -> None:
    orders = replace(place.orders("tools"), unknown=decision)
    assert lives.run(replace(orders, tool=tool)) is None
    assert lives.run(orders) is not None
    (found,) = await look(orders)
    assert found.unknown == {f"call-tools-1-{tool}"}
    other = "seal b" if tool == "note" else "note a"
    assert traces(orders) == sorted([other, *[{"note": "note a", "seal": "seal b"}[tool]] * times])
    results = {m.name: m.status for m in found.row.messages or () if m.role == "tool"}
    assert results[tool] == ("unknown" if decision == "reject" else "ok")


async def test_killed_again_and_again_inside_a_tool_nothing_is_run_unasked(
    lives: Lives, place: Place
) -> None:
    orders = place.orders("tools")
    for times in range(1, 4):
        assert lives.run(replace(orders, tool="seal")) is None
        assert traces(orders).count("seal b") == times
    assert lives.run(replace(orders, unknown="reject")) is not None
    (found,) = await look(orders)
    assert traces(orders) == ["note a", "seal b", "seal b", "seal b"]
    assert sum(item.interrupt.unknown for item in found.asked) == 3


async def test_killed_every_few_commits_it_still_comes_to_an_end(lives: Lives, place: Place) -> None:
    for step in (10, 13):
        orders = place.orders("tools")
        for _ in range(40):
            if lives.run(replace(orders, commit=step)) is not None:
                break
        else:
            pytest.fail(f"no end when killed at every commit number {step}")
        (found,) = await look(orders)
        assert traces(orders) == ["note a", "seal b"]
        assert found.texts == [FIRST, LAST]


async def test_a_turn_that_always_kills_its_process_is_given_up(lives: Lives, place: Place) -> None:
    orders = place.orders("tools")
    for _ in range(30):
        if lives.run(replace(orders, commit=5)) is not None:
            break
    (found,) = await look(orders, status="failed")
    assert isinstance(found.transcript.outcome, ev.Failed)
    assert "given up" in found.transcript.outcome.message
    assert traces(orders) == []
