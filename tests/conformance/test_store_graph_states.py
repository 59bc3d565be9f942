"""What graphs leave to the turns that follow, on every backend."""

from __future__ import annotations

from sqlalchemy import Connection

from caesura.core.turns import Turn
from caesura.store import conversations, graph_states, shares, turns
from caesura.store.database import Database
from caesura.store.graph_states import Kept
from tests.conformance.rows import end_turn, make_conversation, make_turn


def _kept(channel: str, body: bytes = b"\0\xff", ns: str = "") -> Kept:
    return Kept(ns, channel, "msgpack", body)


async def _leave(database: Database, turn: Turn, *items: Kept) -> None:
    await database.write(graph_states.replace, turn.num, items)


async def _next(database: Database, before: Turn, agent: str = "flow") -> Turn:
    """A turn after this one, which has ended."""
    turn = await make_turn(database, before.conversation_id, parent=before.id, agent=agent)
    return await end_turn(database, turn)


async def _first(database: Database, agent: str = "flow") -> Turn:
    return await end_turn(database, await make_turn(database, agent=agent))


async def test_what_a_turn_leaves_replaces_what_its_earlier_attempt_left(database: Database) -> None:
    turn = await make_turn(database)
    await _leave(database, turn, _kept("b"), _kept("a", ns="sub"), _kept("a"))
    found = await database.read(graph_states.of, turn.num)
    assert found == [_kept("a"), _kept("b"), _kept("a", ns="sub")]
    await _leave(database, turn, _kept("c"))
    assert await database.read(graph_states.of, turn.num) == [_kept("c")]
    await _leave(database, turn)
    assert await database.read(graph_states.of, turn.num) == []


async def test_a_turn_begins_with_the_nearest_state_of_its_agent(database: Database) -> None:
    first = await _first(database)
    assert first.begins_with is None
    await _leave(database, first, _kept("a"))
    other = await _next(database, first, "other")
    assert other.begins_with is None
    await _leave(database, other, _kept("b"))
    second = await _next(database, other)
    assert second.begins_with == first.num
    without = await _next(database, second)
    assert without.begins_with == first.num, "the turn before left nothing of its own"
    await _leave(database, without, _kept("c"))
    last = await _next(database, without)
    assert last.states == {"flow": without.num, "other": other.num}
    assert (await _next(database, first)).begins_with == first.num, "another branch"


async def test_the_first_turn_after_another_continues_its_branch(database: Database) -> None:
    first = await _first(database)
    second = await _next(database, first)
    third = await _next(database, second)
    assert {first.branch, second.branch, third.branch} == {first.id}
    branch = await _next(database, first)
    assert branch.branch == branch.id
    assert (await _next(database, branch)).branch == branch.id
    assert (await _next(database, third)).branch == first.id


async def test_states_count_for_their_owner_and_go_with_the_conversation(database: Database) -> None:
    conversation = await make_conversation(database)
    turn = await make_turn(database, conversation)
    await database.write(shares.charge, turn.num)
    before = (await database.read(turns.get, turn.id)).size

    def keep(connection: Connection) -> None:
        graph_states.replace(connection, turn.num, [_kept("a", b"x" * 1000)])
        shares.charge(connection, turn.num)

    await database.write(keep)
    assert (await database.read(turns.get, turn.id)).size == before + 1000
    await database.write(conversations.remove, conversation, turn.user_id)
    assert await database.read(graph_states.of, turn.num) == []
