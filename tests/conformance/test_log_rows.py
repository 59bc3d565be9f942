"""Many batches with an `also` at once, on every backend."""

import asyncio
from collections.abc import Sequence
from typing import Any, Self

import pytest
from sqlalchemy import Connection, select

from caesura.core import json_data
from caesura.core.events import Finished, TextDelta
from caesura.core.turns import Turn
from caesura.log import Log, Stream
from caesura.log.bulk import Bulk
from caesura.log.stream import Batch
from caesura.store import life, schema, shares, turns
from caesura.store.database import Database
from tests.conformance.rows import make_conversation, make_turn, settled
from tests.log.flaky import Flaky, times
from tests.log.reading import check, places, said, stored, word
from tests.sent import statements

MOST = 64


class Refused(Exception):
    """Raised by an `also`."""


class Over(Bulk):
    """The rows that the engine writes when a turn ends."""

    def __init__(self, turn: Turn, *, refused: bool = False) -> None:
        self.turn, self.refused = turn, refused

    @classmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        life.settle(connection, [settled(item.turn) for item in items])
        shares.charge(connection, *(item.turn.num for item in items))
        if any(item.refused for item in items):
            raise Refused


async def test_words_are_committed_between_the_endings_of_others(database: Database) -> None:
    commits: list[str] = []

    def committed(seconds: float, batches: Sequence[Batch]) -> None:
        """Put a word after each commit of endings."""
        commits.append("endings" if any(batch.also for batch in batches) else "words")
        if commits[-1] == "endings":
            lone.put(word(lone.turn, lone.last + 1))

    log = Log(database, committed=committed)
    streams, made = await _streams(log, database, 8 * MOST)
    lone = await log.open((await make_turn(database)).num, 1)
    await asyncio.gather(*(s.commit(Finished(), also=Over(t)) for s, t in zip(streams, made, strict=True)))
    await lone.commit()
    assert commits.count("endings") >= 8
    last = len(commits) - commits[::-1].index("endings")
    assert commits[:last].count("words") >= 1  # on a slow machine there are more


@pytest.mark.parametrize("alike", [True, False])
async def test_one_transaction_holds_a_bounded_number_of_endings(database: Database, alike: bool) -> None:
    sizes: list[int] = []
    log = Log(database, committed=lambda _, batches: sizes.append(sum(b.also is not None for b in batches)))
    streams, made = await _streams(log, database, 3 * MOST + 5)
    alsos = [Over(turn) if alike else _end(turn) for turn in made]
    await asyncio.gather(*(s.commit(Finished(), also=also) for s, also in zip(streams, alsos, strict=True)))
    await asyncio.gather(*(streams[0].commit(Finished(), also=lambda _: None) for _ in range(MOST + 1)))
    assert sum(sizes) == len(streams) + MOST + 1
    assert max(sizes) <= MOST
    await _assert_over(database, made)


async def test_endings_at_once_cost_few_statements_each(database: Database) -> None:
    log = Log(database)
    streams, made = await _streams(log, database, 2 * MOST)
    with statements() as sent:
        await asyncio.gather(
            *(s.commit(Finished(), also=Over(t)) for s, t in zip(streams, made, strict=True))
        )
    assert len(sent) < len(made)  # on SQLite only the beginning of a transaction is counted
    await _assert_over(database, made)


async def test_a_refused_ending_does_not_affect_the_others_of_its_transaction(database: Database) -> None:
    log = Log(database)
    streams, made = await _streams(log, database, 10)
    alsos = [Over(turn, refused=place in (3, 4)) for place, turn in enumerate(made)]
    for stream in streams:
        stream.put(TextDelta(1, "before"))
    commits = (s.commit(TextDelta(1, "last"), also=also) for s, also in zip(streams, alsos, strict=True))
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    kinds = [type(None)] * 3 + [Refused] * 2 + [type(None)] * 5
    assert [type(outcome) for outcome in outcomes] == kinds
    written = [said(await stored(log, stream.turn)) for stream in streams]
    assert written == [["before", "last"]] * 3 + [["before"]] * 2 + [["before", "last"]] * 5
    await _assert_over(database, [turn for place, turn in enumerate(made) if place not in (3, 4)])
    assert {(await database.read(turns.get, made[place].id)).status for place in (3, 4)} == {"running"}
    await asyncio.gather(*(s.commit(TextDelta(1, "more"), also=lambda _: None) for s in streams[3:5]))
    assert [places(await stored(log, stream.turn)) for stream in streams[3:5]] == [[1, 2]] * 2


async def test_a_fenced_stream_among_endings_writes_nothing(database: Database) -> None:
    log = Log(database)
    streams, made = await _streams(log, database, 6, lease_ms=-1)
    for turn in made[::2]:
        await database.write(life.claim, turn.num, "node-2", 60_000)
    commits = (s.commit(Finished(), also=Over(t)) for s, t in zip(streams, made, strict=True))
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert [outcome is None for outcome in outcomes] == [False, True] * 3
    assert [len(await stored(log, stream.turn)) for stream in streams] == [0, 1] * 3
    await _assert_over(database, made[1::2])


async def test_words_and_rows_of_one_stream_keep_their_order_beside_many_endings(database: Database) -> None:
    log = Log(database)
    streams, made = await _streams(log, database, 3 * MOST)
    mixed = await log.open((await make_turn(database)).num, 1)
    reader = asyncio.create_task(check(log, mixed.turn, 300))
    ending = [
        asyncio.create_task(s.commit(Finished(), also=Over(t))) for s, t in zip(streams, made, strict=True)
    ]
    for seq in range(1, 301):
        if seq % 3:
            mixed.put(word(mixed.turn, seq))
        else:
            mixed.note(word(mixed.turn, seq), also=_must_be_last(mixed.turn, seq))
        if seq % 10 == 0:
            await asyncio.sleep(0)
    await mixed.commit()
    assert await reader == 300
    await asyncio.gather(*ending)


async def test_endings_whose_replies_got_lost_are_not_written_twice(database: Database) -> None:
    flaky = Flaky(database)
    log = Log(flaky)
    streams, made = await _streams(log, database, MOST + 3)
    flaky.after = times(3)
    for stream in streams:
        stream.put(word(stream.turn, 1))
    await asyncio.gather(*(s.commit(Finished(), also=Over(t)) for s, t in zip(streams, made, strict=True)))
    assert [places(await stored(log, stream.turn)) for stream in streams] == [[1, 2]] * len(streams)
    await _assert_over(database, made)


async def test_closing_writes_the_rows_that_are_pending(database: Database) -> None:
    log = Log(database)
    streams, made = await _streams(log, database, 2 * MOST)
    for stream, turn in zip(streams, made, strict=True):
        stream.put(word(stream.turn, 1))
        stream.put(word(stream.turn, 2))
        stream.note(Finished(), also=Over(turn))
    await log.close()
    assert [places(await stored(log, stream.turn)) for stream in streams] == [[1, 2, 3]] * len(streams)
    await _assert_over(database, made)


async def test_charging_many_turns_at_once_equals_charging_each(database: Database) -> None:
    """Two conversations, several turns in each, charged at once and one by one."""
    log, places_ = Log(database), [await make_conversation(database) for _ in range(2)]
    new = {"content": "é", "parent": None}
    made = [await make_turn(database, place, **new) for _ in range(2) for place in places_]
    for turn in made:
        await log.append(turn.num, 1, [TextDelta(1, "word")] * turn.num)
    await database.write(lambda c: shares.charge(c, *(turn.num for turn in made)))
    together = await database.read(_account)
    for turn in made:
        await database.write(shares.charge, turn.num)
    assert await database.read(_account) == together
    sizes, accounts = together
    assert all(sizes.values())
    for place in places_:
        assert accounts[place] == sum(sizes[turn.num] for turn in made if turn.conversation_id == place)
    kept = json_data.dumps([])
    await database.write(lambda c: life.settle(c, [settled(made[0])]))
    await database.write(lambda c: shares.charge(c, *(turn.num for turn in made)))
    assert (await database.read(_account))[1][places_[0]] == accounts[places_[0]] + len(kept)


async def _streams(log: Log, database: Database, count: int, **new: Any) -> tuple[list[Stream], list[Turn]]:
    place = await make_conversation(database)
    values: dict[str, Any] = {"content": "hello", "owner": "node-1", "lease_ms": 60_000} | new
    one = life.New(place, parent=None, **values)
    made = await database.write(lambda connection: [life.create(connection, one) for _ in range(count)])
    return [log.begin(turn.num, 1) for turn in made], made


async def _assert_over(database: Database, made: Sequence[Turn]) -> None:
    for turn in await database.read(turns.some, [turn.num for turn in made]):
        assert (turn.status, turn.owner, turn.lease_until, turn.messages) == ("done", None, None, [])
        assert turn.ended_at is not None
        assert turn.size > 0


def _end(turn: Turn) -> Any:
    return lambda connection: Over(turn)(connection)


def _must_be_last(turn: int, seq: int) -> Any:
    def also(connection: Connection) -> None:
        newest = select(schema.events.c.last).where(schema.events.c.turn == turn)
        assert max(connection.execute(newest).scalars()) == seq

    return also


def _account(connection: Connection) -> tuple[dict[int, int], dict[str, int]]:
    sizes = connection.execute(select(schema.turns.c.num, schema.turns.c.size))
    stored_ = connection.execute(select(schema.conversations.c.id, schema.conversations.c.stored))
    return {row[0]: row[1] for row in sizes}, {row[0]: row[1] for row in stored_}
