"""The life of a turn, on every backend: each verb from each status, compared with the diagram of the
protocol."""

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from sqlalchemy import Connection

from caesura.core.answers import Answer
from caesura.core.errors import CaesuraError
from caesura.core.interrupts import Approval
from caesura.core.turns import Status, Turn
from caesura.store import interrupts, life, turns
from caesura.store.database import Database
from tests.conformance.rows import LEASE, change_turn, make_conversation, make_turn, set_columns, settled

PROTOCOL = Path(__file__).parents[2] / "docs/protocol.md"
STATUSES: tuple[Status, ...] = get_args(Status)
Edge = tuple[str, str, str]
Verb = Callable[[Connection, Turn], Any]


def _answer(connection: Connection, turn: Turn) -> None:
    item = Approval(f"int-{turn.num}")
    interrupts.ask(connection, turn.num, turn.user_id, {"g": item})
    life.answer(connection, turn.user_id, {item.id: Answer("approve")})


def _claim(connection: Connection, turn: Turn) -> None:
    set_columns(connection, turn.num, lease_until=0)
    life.claim(connection, turn.num, "node-2", LEASE)


def _claim_some(connection: Connection, turn: Turn) -> None:
    set_columns(connection, turn.num, lease_until=0)
    life.claim_some(connection, "node-2", LEASE, 10)


def _claim_stopped(connection: Connection, turn: Turn) -> None:
    life.request_stop(connection, turn.num, "user")
    life.claim_stopped(connection, turn.num, "node-2", LEASE)


def _reopen(connection: Connection, turn: Turn) -> None:
    set_columns(connection, turn.num, owner=None, lease_until=None)
    life.reopen(connection, turn.id)


VERBS: dict[str, tuple[Verb, ...]] = {
    "begin_segment": (lambda c, turn: life.begin_segment(c, turn, 2),),
    "wait": (lambda c, turn: life.wait(c, turn, [], 0, None, True),),
    "settle": tuple(
        lambda c, turn, status=status: life.settle(c, [settled(turn, status)])  # type: ignore[misc]
        for status in get_args(life.Outcome)
    ),
    "give_up": (lambda c, turn: life.give_up(c, turn, None),),
    "answer": (_answer,),
    "hand_over": (lambda c, turn: life.hand_over(c, turn.num, turn.epoch),),
    "reopen": (_reopen,),
    "claim": (_claim,),
    "claim_some": (_claim_some,),
    "claim_stopped": (_claim_stopped,),
    "seize": (lambda c, turn: life.seize(c, turn.num, turn.epoch, LEASE),),
    "renew": (lambda c, turn: life.renew(c, "node-1", [turn.num], LEASE),),
    "held": (lambda c, turn: life.held(c, "node-1", [turn.num]),),
    "stops": (lambda c, turn: life.stops(c, "node-1"),),
    "orphan": (lambda c, turn: life.orphan(c, "node-2"),),
    "release": (lambda c, turn: life.release(c, [life.Owned(turn.num, turn.epoch)]),),
    "request_stop": (lambda c, turn: life.request_stop(c, turn.num, "user"),),
}


def drawn() -> tuple[set[Edge], set[str]]:
    """The edges of the diagram, and the verbs that, by the text after it, do not change the status."""
    section = PROTOCOL.read_text().partition("### The life of a turn")[2].partition("\n### ")[0]
    edges = re.findall(r"^    (\S+) --> (\S+): (\w+)$", section, re.MULTILINE)
    quiet = section.partition("These verbs change only the owner:")[2].partition("only records")[0]
    return set(edges), set(re.findall(r"`(\w+)`", quiet))


def test_the_protocol_names_every_verb_and_every_status() -> None:
    edges, quiet = drawn()
    made = {name for name, value in inspect.getmembers(life, inspect.isfunction) if _is_verb(name, value)}
    assert {verb for _, _, verb in edges} | quiet == made
    assert {status for edge in edges for status in edge[:2]} - {"[*]"} == set(STATUSES)


async def test_a_verb_leads_where_the_diagram_says_and_nowhere_else(database: Database) -> None:
    edges, quiet = drawn()
    seen: set[Edge] = set()
    for owner in ("node-1", None):
        seen.add(("[*]", (await make_turn(database, owner=owner)).status, "create"))
    conversation_id = await make_conversation(database)
    for verb, ways in VERBS.items():
        for status in STATUSES:
            for way in ways:
                after = await _tried(database, conversation_id, status, way)
                if after != status or (verb, status) == ("begin_segment", "running"):
                    seen.add((status, after, verb))
    assert seen == edges
    assert not {verb for _, _, verb in seen} & quiet


@pytest.mark.parametrize("status", ["done", "failed", "stopped"])
async def test_a_turn_that_has_ended_is_not_begun_again(database: Database, status: Status) -> None:
    turn = await make_turn(database)
    await change_turn(database, turn, status=status)
    with pytest.raises(CaesuraError):
        await database.write(life.begin_segment, turn, 2)


async def _tried(database: Database, conversation_id: str, status: Status, way: Verb) -> str:
    """The status of a turn after this verb, if somebody owns the turn."""
    turn = await make_turn(database, conversation_id, parent=None)
    await change_turn(database, turn, status=status)
    with suppress(CaesuraError):
        await database.write(way, turn)
    return (await database.read(turns.get, turn.id)).status


def _is_verb(name: str, value: object) -> bool:
    return not name.startswith("_") and getattr(value, "__module__", "") == life.__name__
