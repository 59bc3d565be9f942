"""kill -9 of an engine at every commit of a turn, one after the other; another process continues.

The process dies right after the commit, before anybody is notified. Wherever it dies: no run is lost, no tool
has its effect twice, waiting questions can be answered, and nobody reads a word twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from caesura.core import events as ev
from caesura.core.interrupts import Approval, Questions
from tests.chaos import memory_scene
from tests.chaos.engine_life import Commit, Lives, Orders
from tests.chaos.engine_scene import Found, Place, in_lanes, look, traces
from tests.chaos.kills import WAYS, At, Kills

pytestmark = pytest.mark.timeout(300)

FIRST = "Working on it."
LAST = "All done: 2 results."
#: The smallest number of commits. A busy machine may combine commits, but this many depend on one another.
FEWEST = 5
#: Other agents write in the same commits as the first: they are killed at every eighth of them.
STEP = 8
EFFECTS = {"call-tools-1-note": "note a", "call-tools-1-seal": "seal b"}


@pytest.fixture(scope="module")
def lives() -> Iterator[Lives]:
    with Lives() as lives:
        yield lives


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with closing(Place(tmp_path, url)) as place:
        yield place


@pytest.fixture(params=["sqlite", "postgresql"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Place]]:
    """One for each lane."""
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_urls")
    with in_lanes(tmp_path, url) as places:
        yield places


@pytest.fixture
def file(tmp_path: Path) -> Place:
    """SQLite only: these tests differ from the others in the agent, not in the rows."""
    return Place(tmp_path, None)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[Place]]:
    """SQLite alone, one for each lane."""
    with in_lanes(tmp_path) as files:
        yield files


@pytest.mark.parametrize("at", WAYS)
async def test_after_a_kill_anywhere_a_turn_continues_and_no_tool_runs_twice(
    lives: Lives, places: Sequence[Place], at: At
) -> None:
    """The person is asked about outcomes that nobody knows."""
    unknown = set[str | None]()

    async def on(orders: Orders) -> None:
        unknown.update((await goes_on(lives, orders)).unknown)

    assert await Kills(lives, places, rejecting("tools"), on).everywhere(at) >= FEWEST
    # A busy machine may combine the commits between which a call is under way.
    assert unknown == set(EFFECTS) or at == "commit"


def rejecting(agent: str) -> Callable[[Place], Orders]:
    """Of this agent. A call whose outcome is unknown is not run again."""
    return lambda place: replace(place.orders(agent), unknown="reject")


async def run(lives: Lives, orders: Orders) -> list[Commit] | None:
    return await asyncio.to_thread(lives.run, orders)


async def goes_on(lives: Lives, orders: Orders) -> Found:
    """Another process finishes the turn: as if nothing had happened, or after asking the person."""
    assert await run(lives, orders) is not None
    (found,) = await look(orders)
    for call, effect in EFFECTS.items():
        # If the outcome of a call is unknown, the person was asked, and chose not to run it again.
        assert traces(orders).count(effect) in ((0, 1) if call in found.unknown else (1,)), orders
    assert found.texts == [FIRST, LAST], orders
    return found


@pytest.mark.parametrize("tool", ["note", "seal"])
@pytest.mark.parametrize(("decision", "times"), [("reject", 1), ("approve", 2)])
async def test_after_a_kill_inside_a_tool_the_person_decides_whether_to_run_it_again(
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


async def test_after_repeated_kills_inside_a_tool_nothing_runs_without_approval(
    lives: Lives, place: Place
) -> None:
    orders = place.orders("tools")
    for times in range(1, 4):
        assert lives.run(replace(orders, tool="seal")) is None
        assert traces(orders).count("seal b") == times
    assert lives.run(replace(orders, unknown="reject")) is not None
    (found,) = await look(orders)
    assert traces(orders) == ["note a", "seal b", "seal b", "seal b"]
    assert sum(isinstance(item.interrupt, Approval) and item.interrupt.unknown for item in found.asked) == 3


async def test_a_turn_killed_every_few_commits_still_ends(lives: Lives, place: Place) -> None:
    for step in (10, 13):
        orders = replace(place.orders("tools"), unknown="reject")
        for _ in range(40):
            if lives.run(replace(orders, commit=step)) is not None:
                break
        else:
            pytest.fail(f"no end when killed at every commit number {step}")
        await goes_on(lives, orders)


async def test_a_turn_that_always_kills_its_process_is_given_up(lives: Lives, file: Place) -> None:
    orders = file.orders("tools")
    for _ in range(30):
        if lives.run(replace(orders, commit=4)) is not None:
            break
    (found,) = await look(orders, status="failed")
    assert isinstance(found.transcript.outcome, ev.Failed)
    assert "given up" in found.transcript.outcome.message
    assert traces(orders) == []


async def test_after_a_kill_at_any_commit_a_confirmation_in_text_continues(
    lives: Lives, files: Sequence[Place]
) -> None:
    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        assert found.texts == ["Please confirm 1", "Please confirm 2", "Thank you."], orders
        assert len(found.asked) == 2

    kills = Kills(lives, files, lambda file: file.orders("words"), on, step=STEP)
    assert await kills.everywhere("commit") >= FEWEST


@pytest.mark.parametrize("at", WAYS)
async def test_after_a_kill_anywhere_an_operators_graph_continues(
    lives: Lives, files: Sequence[Place], at: At
) -> None:
    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        assert found.texts == [FIRST, "All done: 1 results.", "You said yes."], orders
        # The graph runs its nodes again, but its marked tool only if the person says so.
        assert traces(orders) in (["jot a"], ["jot a", "jot a"][: 1 + len(found.unknown)]), orders

    kills = Kills(lives, files, lambda file: file.orders("graph"), on, step=STEP)
    assert await kills.everywhere(at) >= FEWEST


@pytest.mark.parametrize("how", ["node", "invoked"])
async def test_after_a_kill_a_graph_that_remembers_is_not_left_out_and_says_nothing_twice(
    lives: Lives, files: Sequence[Place], how: str
) -> None:
    orders = memory_scene.orders_of(how, files[0])
    for place in ("call 2", "told 3"):
        (Path(orders.folder) / "die").write_text(place)
        assert await asyncio.to_thread(lives.run, orders) is None, place
    assert await asyncio.to_thread(lives.run, orders) is not None
    await memory_scene.check(how, orders)


@pytest.mark.parametrize("at", WAYS)
async def test_after_a_kill_anywhere_graphs_that_are_sub_agents_continue(
    lives: Lives, files: Sequence[Place], at: At
) -> None:
    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        assert found.said_under(None) == ["I ask.", LAST], orders
        for call in ("call-a", "call-b"):
            assert found.said_under(call) == [FIRST, "All done: 1 results.", "You said yes."], orders
        assert {item.interrupt.parent for item in found.asked} == {"call-a", "call-b"}
        # What a graph had not saved it repeats.
        assert set(traces(orders)) == {"jot a"}
        assert 2 <= len(traces(orders)) <= 4

    kills = Kills(lives, files, lambda file: file.orders("office"), on, step=STEP)
    assert await kills.everywhere(at) >= FEWEST


async def test_after_a_kill_at_any_commit_an_own_tool_asks_once_and_acts_at_most_once(
    lives: Lives, files: Sequence[Place]
) -> None:
    unknown = list[bool]()

    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        assert found.texts == ["I pay.", "All done: 1 results."], orders
        unknown.append("call-pay" in found.unknown)
        asked = [item.interrupt for item in found.asked if isinstance(item.interrupt, Questions)]
        questions = [item.questions[0].question for item in asked]
        assert questions == ["How?", "Sure?"][: len(questions)], orders
        # If the outcome is unknown, the person was asked, and chose not to run it again.
        assert len(questions) == 2 or unknown[-1], orders
        assert len(traces(orders)) in ((0, 1) if unknown[-1] else (1,)), orders
        assert all(line.startswith("pay a cash yes ") for line in traces(orders)), orders

    assert await Kills(lives, files, rejecting("clerk"), on, step=STEP).everywhere("commit") >= FEWEST
    assert not all(unknown)


async def test_after_a_kill_at_any_event_a_turn_with_a_sub_agent_continues(
    lives: Lives, files: Sequence[Place]
) -> None:
    unknown = set[str | None]()

    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        unknown.update(found.unknown)
        for tool, effect in {"note": "note a", "seal": "seal b"}.items():
            asked = f"call-helper-1-{tool}" in found.unknown
            assert traces(orders).count(effect) in ((0, 1) if asked else (1,)), orders
        own = [m.content for m in found.row.messages or () if m.role == "assistant" and m.parent is None]
        assert own == ["I ask.", "All done: 1 results."], orders
        inner = [m.content for m in found.row.messages or () if m.role == "assistant" and m.parent]
        assert inner == [FIRST, LAST], orders

    assert await Kills(lives, files, rejecting("lead"), on).everywhere("events") >= 12
    assert unknown == {"call-helper-1-note", "call-helper-1-seal"}


async def test_after_a_kill_at_any_event_a_turn_with_two_sub_agents_at_once_continues(
    lives: Lives, files: Sequence[Place]
) -> None:
    """Both work and ask at the same time. Each says, asks and does its own things once."""
    effects = {
        f"call-{name}-1-{tool}": f"{tool} {text}{suffix}"
        for name, suffix in (("helper", ""), ("second", "-second"))
        for tool, text in (("note", "a"), ("seal", "b"))
    }

    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        (found,) = await look(orders)
        for call, effect in effects.items():
            assert traces(orders).count(effect) in ((0, 1) if call in found.unknown else (1,)), orders
        said = {parent: found.said_under(parent) for parent in (None, "call-a", "call-b")}
        both = [FIRST, LAST]
        assert said == {None: ["I ask.", "All done: 2 results."], "call-a": both, "call-b": both}, orders
        parents = {"helper": "call-a", "second": "call-b"}
        assert all(item.interrupt.parent == parents[item.interrupt.agent] for item in found.asked)

    assert await Kills(lives, files, rejecting("team"), on, step=3).everywhere("events") >= 20


async def test_after_a_kill_at_any_commit_around_a_title_the_turn_ends_once(
    lives: Lives, files: Sequence[Place]
) -> None:
    def order(file: Place) -> Orders:
        return replace(file.orders("talk"), titled=False, messages=("hello", "again"))

    async def on(orders: Orders) -> None:
        assert await run(lives, orders) is not None
        for found in await look(orders):
            assert found.texts == ["Good day."]

    assert await Kills(lives, files, order, on).everywhere("commit") >= FEWEST
