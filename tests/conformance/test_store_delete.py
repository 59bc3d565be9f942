"""Deleting a conversation leaves nothing of it in any table, on every backend."""

from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Connection, insert, inspect, text

from caesura.core import codec, json_data
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.artifacts import create, rewrite
from caesura.core.errors import NotFound
from caesura.core.interrupts import Approval
from caesura.core.messages import Message, to_dict
from caesura.store import (
    artifacts,
    changes,
    checkpoints,
    conversations,
    events,
    graph_states,
    interrupts,
    keys,
    life,
    read_marks,
    remains,
    summaries,
    tool_calls,
    turns,
    users,
)
from caesura.store.database import Database
from caesura.store.graph_states import Kept
from caesura.store.schema import NOBODY, readings
from caesura.store.summaries import Summary
from tests.conformance.rows import change_turn, end_turn, make_conversation, make_turn, make_user

Rows = dict[str, list[tuple[Any, ...]]]


async def test_a_deleted_conversation_leaves_nothing_in_any_table(database: Database) -> None:
    await make_user(database, "alice")
    await _fill(database, await make_conversation(database, "alice"), "kept")
    before = await database.read(_everything)
    conversation_id = await make_conversation(database, "alice")
    await _fill(database, conversation_id, "gone")
    full = await database.read(_everything)
    of_nobody = {"users", "invites", "ended_sessions", "agent_versions", "alembic_version"}
    untouched = {name for name in full if len(full[name]) <= len(before[name])} - of_nobody
    assert untouched == set(), "a new table is to be filled here too"
    removed = await database.write(conversations.remove, conversation_id, "alice")
    assert len(removed) == 2
    after = await database.read(_everything)
    told = [row for row in after.pop("changes") if row not in before["changes"]]
    # How much was used stays known.
    assert [row[9:] for row in after["users"]] == [(2, 0, 0)]
    after["users"] = [(*row[:9], 0, 0, 0) for row in after["users"]]
    assert after == {name: rows for name, rows in before.items() if name != "changes"}
    assert "gone" not in repr(told), "of the feed only ids stay"
    assert [row.kind for row in await database.read(changes.after, "alice", 0, 100)][-1] == "deleted"


async def test_a_deleted_persons_rows_are_gone_when_their_conversations_are(database: Database) -> None:
    before = await database.read(_everything)
    await make_user(database, "alice")
    conversation_id = await make_conversation(database, "alice")
    await _fill(database, conversation_id, "gone")
    await database.write(keys.keep, "alice", "loose", "print", {}, None)
    await database.write(conversations.remove, conversation_id, "alice")
    await database.write(users.remove, "alice")
    assert await database.read(_everything) == before


async def test_a_large_conversation_is_gone_at_once_and_deleted_in_small_steps(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remains, "BYTES", 40)
    await make_user(database, "alice")
    await _fill(database, await make_conversation(database, "alice"), "kept")
    before = await database.read(_everything)
    conversation_id = await make_conversation(database, "alice")
    await _fill(database, conversation_id, "gone")
    ended, asking = [
        await database.read(turns.get, link.id) for link in await database.read(turns.tree, conversation_id)
    ]

    removed = await database.write(conversations.remove, conversation_id, "alice")

    assert removed == [ended.num, asking.num]
    assert len(await database.read(events.stored, ended.num)) == 3, "it is not deleted yet"
    finds: list[tuple[Any, str]] = [
        (conversations.get, conversation_id),
        (turns.owned, ended.id),
        (turns.owned, asking.id),
        (interrupts.get, "gone-a"),
    ]
    for find, name in finds:
        with pytest.raises(NotFound):
            await database.read(find, name, "alice")
    assert (await database.read(conversations.page, "alice", 10)).total == 1
    assert await database.read(life.claim_some, "node-2", 1000, 10) == []
    assert [user.id for user in await database.read(users.listing)] == ["alice"]

    left = [await database.read(_bytes_of_events)]
    while await database.write(remains.clear, conversation_id):
        left.append(await database.read(_bytes_of_events))
    assert max(more - less for more, less in pairwise(left)) <= remains.BYTES
    after = await database.read(_everything)
    for rows in (after, before):
        rows.pop("changes")
        rows["users"] = [row[:1] for row in rows["users"] if row[0] != NOBODY]
    assert after == before


async def test_nothing_can_be_written_to_a_deleted_turn(database: Database) -> None:
    await make_user(database, "alice")
    conversation_id = await make_conversation(database, "alice")
    turn = await make_turn(database, conversation_id)
    before = {name: len(rows) for name, rows in (await database.read(_everything)).items()}
    await database.write(conversations.remove, conversation_id, "alice")
    body = codec.encode([ev.TextDelta(1, "late")])
    row = events.Rows(turn.num, turn.epoch, 1, 1, 0, body)
    refused = await database.write(events.insert_fenced, [row])
    assert refused.fenced == {(turn.num, row.epoch)}
    assert await database.read(turns.numbered, turn.num) is None
    assert await database.write(life.renew, "node-1", [turn.num], 1000) == {}
    after = {name: len(rows) for name, rows in (await database.read(_everything)).items()}
    assert after == before | {"conversations": 0, "turns": 0, "changes": before["changes"] + 1}


async def test_the_number_of_a_deleted_turn_is_never_used_again(database: Database) -> None:
    await make_user(database, "alice")
    first = await make_conversation(database, "alice")
    turn = await make_turn(database, first)
    await database.write(conversations.remove, first, "alice")
    assert (await make_turn(database, await make_conversation(database, "alice"))).num > turn.num


def _bytes_of_events(connection: Connection) -> int:
    return int(connection.execute(text("SELECT sum(length(body)) FROM events")).scalar_one())


async def _fill(database: Database, conversation_id: str, mark: str) -> None:
    """At least one row in every table."""
    first = await make_turn(database, conversation_id)
    log: list[ev.Event] = [ev.RunStarted("demo", 1), ev.TextDelta(1, mark), ev.Finished()]
    for seq, event in enumerate(log, 1):
        row = events.Rows(first.num, 1, seq, seq, 0, codec.encode([event]))
        await database.write(events.insert_fenced, [row])
    await change_turn(database, first, messages=json_data.dumps([to_dict(Message("assistant", mark))]))
    await end_turn(database, first)
    await database.write(summaries.put, conversation_id, Summary(first.id, mark))
    second = await make_turn(database, conversation_id)
    asked = {name: Approval(f"{mark}-{name}") for name in ("a", "b")}
    await database.write(interrupts.ask, second.num, "alice", asked)
    await database.write(life.answer, "alice", {f"{mark}-a": Answer("approve")})
    reading = insert(readings).values(turn=second.num, until=1)
    await database.write(lambda connection: connection.execute(reading).rowcount)
    await database.write(tool_calls.begin, second.num, "c1", "execute", {})
    await database.write(checkpoints.put, second.num, "", checkpoints.Checkpoint("1", None, "t", b"", b""))
    write = checkpoints.Write("t", 0, "", "messages", "t", b"")
    await database.write(checkpoints.put_writes, second.num, "", "1", [write])
    await database.write(graph_states.replace, second.num, [Kept("", "count", "t", mark.encode())])
    await database.write(read_marks.move, second, 1)
    await database.write(keys.keep, "alice", mark, "print", {}, conversation_id)
    words: dict[str, Any] = {"title": mark, "content_type": "text", "first": artifacts.draft(create(mark))}
    await database.write(artifacts.create, conversation_id, "plan", **words)
    base = await database.read(artifacts.base, conversation_id, "plan")
    await database.write(artifacts.add, conversation_id, "plan", artifacts.draft(rewrite("new"), base))


def _everything(connection: Connection) -> Rows:
    """Every row of every table in the database."""
    found: Rows = {}
    for name in inspect(connection).get_table_names():
        rows = connection.execute(text(f"SELECT * FROM {name}"))
        found[name] = sorted((tuple(row) for row in rows), key=repr)
    return found
