"""Writing to a turn's log, on every backend."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError, IntegrityError

from caesura.core.errors import Fenced
from caesura.core.events import Finished, RunStarted, TextDelta, ToolStarted
from caesura.log import Log, Stream
from caesura.store import conversations, life, turns, users
from caesura.store.database import Database
from tests.conformance.rows import make_conversation, make_turn, make_user, settled
from tests.log.reading import followed, places, said, stored, words


class Refused(Exception):
    """Raised by an `also`."""


@pytest.mark.parametrize("old_first", [True, False])
async def test_an_owner_that_claims_its_own_turn_again_is_not_mistaken_for_the_old_epoch(
    database: Database, old_first: bool
) -> None:
    log, turn = Log(database), await make_turn(database)
    old = await log.open(turn.num, 1)
    await old.commit(RunStarted("demo", 1))
    await database.write(lambda c: life.hand_over(c, turn.num, 1))
    assert await database.write(life.claim, turn.num, "node", 1000)
    new = log.begin(turn.num, 2, 1)
    if old_first:
        old.put(TextDelta(1, "late"))
    done = asyncio.ensure_future(new.commit(RunStarted("demo", 1, "adopt"), also=lambda c: None))
    await asyncio.sleep(0)
    if not old_first:
        old.put(TextDelta(1, "late"))
    await done
    with pytest.raises(Fenced):
        await old.commit(TextDelta(1, "later"))
    assert [item.event for item in await log.read(turn.num)] == [
        RunStarted("demo", 1),
        RunStarted("demo", 1, "adopt"),
    ]


async def test_appended_events_are_read_in_order(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    events = [RunStarted("demo", 1), *words(2, 9), Finished()]
    assert await log.append(turn.num, 1, events) == 10
    found = await stored(log, turn.num)
    assert [envelope.event for envelope in found] == events
    assert places(found) == list(range(1, 11))


async def test_a_log_that_nobody_wrote_to_is_empty(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    assert await log.read(turn.num) == []
    assert await log.read(turn.num + 1) == []


async def test_events_keep_the_time_at_which_they_were_put(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    live = asyncio.create_task(followed(log, turn.num, 0, 3))
    for event in words(1, 3):
        stream.put(event)
        await asyncio.sleep(0.01)
    times = [envelope.at for envelope in await live]
    assert times == sorted(times)
    assert times[-1] - times[0] >= 10
    assert [envelope.at for envelope in await stored(log, turn.num)] == times


async def test_events_that_were_put_are_committed_before_later_ones(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for event in words(1, 5):
        stream.put(event)
    await stream.commit(*words(6, 7))
    assert stream.last == 7
    assert said(await stored(log, turn.num)) == list("1234567")


async def test_many_commits_at_once_keep_their_order(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    commits = [stream.commit(event, also=_count(turn.num)) for event in words(1, 20)]
    assert await asyncio.gather(*commits) == list(range(1, 21))
    assert said(await stored(log, turn.num)) == [str(number) for number in range(1, 21)]


async def test_a_commit_without_events_waits_for_all_that_was_put(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    await stream.commit()
    stream.put(TextDelta(1, "1"))
    await stream.commit()
    assert said(await stored(log, turn.num)) == ["1"]


async def test_a_writer_who_breathes_waits_while_much_is_pending(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    for event in words(1, 5000):
        stream.put(event)
        if stream.last == 0 and event != TextDelta(1, "4096"):
            continue
        await stream.breathe()
    assert stream.last >= 4096
    await stream.commit()
    assert places(await stored(log, turn.num)) == list(range(1, 5001))


async def test_a_second_stream_continues_where_the_first_ended(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    await log.append(turn.num, 1, words(1, 3))
    await log.append(turn.num, 1, words(4, 5))
    assert said(await stored(log, turn.num)) == list("12345")


@pytest.mark.parametrize("epoch", [0, 2])
async def test_only_the_epoch_that_owns_a_turn_opens_its_stream(database: Database, epoch: int) -> None:
    log, turn = Log(database), await make_turn(database)
    with pytest.raises(Fenced):
        await log.open(turn.num, epoch)
    with pytest.raises(Fenced):
        await log.open(turn.num + 1, 1)


async def test_an_owner_that_lost_its_turn_writes_nothing_more(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    stream = await log.open(turn.num, 1)
    await stream.commit(*words(1, 2))
    assert await database.write(life.claim, turn.num, "node-2", 60_000)
    with pytest.raises(Fenced):
        await stream.commit(TextDelta(1, "too late"))
    await _assert_failed(stream)
    assert said(await stored(log, turn.num)) == ["1", "2"]


async def test_a_put_that_came_too_late_fails_the_stream_for_good(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    stream = await log.open(turn.num, 1)
    await database.write(life.claim, turn.num, "node-2", 60_000)
    stream.put(TextDelta(1, "too late"))
    with pytest.raises(Fenced):
        await stream.commit()
    await _assert_failed(stream)
    assert await stored(log, turn.num) == []


async def test_all_waiting_commits_of_a_fenced_stream_fail(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    stream = await log.open(turn.num, 1)
    await database.write(life.claim, turn.num, "node-2", 60_000)
    outcomes = await asyncio.gather(*(stream.commit(e) for e in words(1, 5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Fenced] * 5
    assert await stored(log, turn.num) == []


async def test_the_new_owner_continues_without_a_gap(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    old = await log.open(turn.num, 1)
    await old.commit(*words(1, 3))
    claimed = await database.write(life.claim, turn.num, "node-2", 60_000)
    assert claimed is not None
    new = await log.open(turn.num, claimed.epoch)
    old.put(TextDelta(1, "too late"))
    await new.commit(*words(4, 6))
    assert said(await stored(log, turn.num)) == list("123456")


async def test_a_deleted_turn_takes_no_event(database: Database) -> None:
    log, user = Log(database), await make_user(database)
    conversation = await make_conversation(database, user)
    turn = await make_turn(database, conversation)
    stream = await log.open(turn.num, 1)
    await stream.commit(*words(1, 3))
    await database.write(conversations.remove, conversation, user)
    with pytest.raises(Fenced):
        await stream.commit(TextDelta(1, "too late"), also=_never)
    await _assert_failed(stream)
    assert await stored(log, turn.num) == []


async def test_one_fenced_stream_of_a_group_leaves_the_others_alone(database: Database) -> None:
    log = Log(database)
    made = [await make_turn(database, lease_ms=-1) for _ in range(6)]
    streams = [await log.open(turn.num, 1) for turn in made]
    for turn in made[::2]:
        await database.write(life.claim, turn.num, "node-2", 60_000)
    commits = (stream.commit(*words(1, 3)) for stream in streams)
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Fenced, type(None)] * 3
    found = [len(await stored(log, turn.num)) for turn in made]
    assert found == [0, 3] * 3
    await asyncio.gather(*(stream.commit(*words(4, 4)) for stream in streams[1::2]))


async def test_also_runs_in_the_same_transaction(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    stream.put(TextDelta(1, "1"))
    number = await stream.commit(TextDelta(1, "2"), also=_count(turn.num))
    assert number == 2
    await stream.commit(
        Finished(), also=lambda c: life.settle(c, [settled(turn, released=False)]), durable=True
    )
    assert (await database.read(turns.get, turn.id)).status == "done"


async def test_also_without_an_event_is_fenced_too(database: Database) -> None:
    log, turn = Log(database), await make_turn(database, lease_ms=-1)
    stream = await log.open(turn.num, 1)
    assert await stream.commit(also=lambda c: "done") == "done"
    await database.write(life.claim, turn.num, "node-2", 60_000)
    with pytest.raises(Fenced):
        await stream.commit(also=_never)
    await _assert_failed(stream)


async def test_the_events_of_an_also_that_raises_are_not_written_and_leave_no_gap(database: Database) -> None:
    log, turn, user = Log(database), await make_turn(database), await make_user(database)
    stream = await log.open(turn.num, 1)
    await stream.commit(TextDelta(1, "1"))
    stream.put(TextDelta(1, "2"))
    with pytest.raises(Refused):
        await stream.commit(TextDelta(1, "lost"), also=_set_password_and_raise(user))
    assert stream.error is None
    stream.put(TextDelta(1, "3"))
    await stream.commit(TextDelta(1, "4"))
    found = await stored(log, turn.num)
    assert said(found) == ["1", "2", "3", "4"]
    assert places(found) == [1, 2, 3, 4]
    kept = await database.read(users.get, user)
    assert kept is not None
    assert kept.password_hash == "hash"


async def test_an_also_that_raises_leaves_the_rest_of_its_group_alone(database: Database) -> None:
    log, user = Log(database), await make_user(database)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(5)]
    alsos = [None, _set_password_and_raise(user), _count(streams[2].turn), _break_a_key(user), None]
    commits = (s.commit(*words(1, 2), also=also) for s, also in zip(streams, alsos, strict=True))
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), Refused, int, IntegrityError, type(None)]
    assert [len(await stored(log, stream.turn)) for stream in streams] == [2, 0, 2, 0, 2]
    for stream in streams:
        await stream.commit(TextDelta(1, "3"))
    assert [(await stored(log, s.turn))[-1].seq for s in streams] == [3, 1, 3, 1, 3]


async def test_an_also_with_data_that_cannot_be_stored_fails_alone(database: Database) -> None:
    """PostgreSQL reports it with an error that is not about a constraint."""
    log = Log(database, patience=0)
    streams = [await log.open((await make_turn(database)).num, 1) for _ in range(2)]
    commits = [streams[0].commit(*words(1, 1), also=_bad_data), streams[1].commit(*words(1, 1))]
    failed, done = await asyncio.gather(*commits, return_exceptions=True)
    assert done is None
    assert isinstance(failed, DataError | Refused)
    await streams[0].commit(*words(1, 1))
    assert [said(await stored(log, stream.turn)) for stream in streams] == [["1"], ["1"]]


async def test_an_also_that_raises_stop_iteration_is_reported_like_any_other_error(
    database: Database,
) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    async with asyncio.timeout(60):
        with pytest.raises(RuntimeError):
            await stream.commit(TextDelta(1, "lost"), also=lambda c: next(iter(())))
        await stream.commit(TextDelta(1, "1"))


async def test_two_streams_of_one_turn_do_not_fail_other_streams(database: Database) -> None:
    log, turn, other = Log(database), await make_turn(database), await make_turn(database)
    first, second = await log.open(turn.num, 1), await log.open(turn.num, 1)
    bystander = await log.open(other.num, 1)
    commits = [stream.commit(*words(1, 1)) for stream in (first, second, bystander)]
    outcomes = await asyncio.gather(*commits, return_exceptions=True)
    assert outcomes[2] is None
    assert sorted(outcome is None for outcome in outcomes[:2]) == [False, True]
    await bystander.commit(*words(2, 2))
    assert said(await stored(log, turn.num)) == ["1"]
    assert said(await stored(log, other.num)) == ["1", "2"]


async def test_a_commit_whose_caller_was_cancelled_is_complete(database: Database) -> None:
    log, turn, user = Log(database), await make_turn(database), await make_user(database)
    stream = await log.open(turn.num, 1)
    commit = asyncio.create_task(
        stream.commit(TextDelta(1, "1"), also=lambda c: users.set_password(c, user, "new"))
    )
    await asyncio.sleep(0)
    commit.cancel()
    await stream.commit(TextDelta(1, "2"))
    assert said(await stored(log, turn.num)) == ["1", "2"]
    kept = await database.read(users.get, user)
    assert kept is not None
    assert kept.password_hash == "new"


async def test_closing_writes_what_is_pending(database: Database) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    reader = asyncio.create_task(_until_the_end(log, turn.num))
    await asyncio.sleep(0.01)
    for event in words(1, 100):
        stream.put(event)
    await log.close()
    assert await reader == list(range(1, 101))
    assert places(await stored(log, turn.num)) == list(range(1, 101))


async def test_readers_of_a_deleted_turn_come_to_an_end(database: Database) -> None:
    log, user = Log(database), await make_user(database)
    conversation = await make_conversation(database, user)
    turn = await make_turn(database, conversation)
    await log.append(turn.num, 1, words(1, 3))
    reader = asyncio.create_task(_until_the_end(log, turn.num))
    await asyncio.sleep(0.02)
    for number in await database.write(conversations.remove, conversation, user):
        log.forget(number)
    assert await asyncio.wait_for(reader, 60) == [1, 2, 3]


@pytest.mark.parametrize("text", ["\0", "a\ud800b", "𝄞中文", "", "x" * 100_000])
async def test_any_text_is_seen_live_as_it_is_stored(database: Database, text: str) -> None:
    log, turn = Log(database), await make_turn(database)
    stream = await log.open(turn.num, 1)
    live = asyncio.create_task(followed(log, turn.num, 0, 2))
    await asyncio.sleep(0)
    stream.put(TextDelta(1, text))
    args: dict[Any, Any] = {"a": (1, text), 2: float("nan"), "c": {3}}
    stream.put(ToolStarted("call-1", "look", args, "demo"))
    await stream.commit()
    found = await stored(log, turn.num)
    assert await live == found
    assert said(found) == [text.replace("\ud800", "?")]


async def _until_the_end(log: Log, turn: int) -> list[int]:
    return [place async for found in log.follow(turn) for place in places(found)]


async def _assert_failed(stream: Stream) -> None:
    assert isinstance(stream.error, Fenced)
    with pytest.raises(Fenced):
        stream.put(TextDelta(1, "again"))
    with pytest.raises(Fenced):
        await stream.commit(also=_never)


def _never(connection: Connection) -> None:
    raise AssertionError("this must not be reached")


def _count(turn: int) -> Any:
    counted = text("SELECT max(last) FROM events WHERE turn = :turn")
    return lambda connection: connection.execute(counted, {"turn": turn}).scalar_one()


def _set_password_and_raise(user: str) -> Any:
    def also(connection: Connection) -> None:
        users.set_password(connection, user, "must not stay")
        raise Refused

    return also


def _break_a_key(user: str) -> Any:
    def also(connection: Connection) -> None:
        connection.execute(
            text("INSERT INTO users (id, password_hash, created_at) VALUES (:id, '', 0)"), {"id": user}
        )

    return also


def _bad_data(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        raise Refused  # the backend stores any text
    connection.execute(text("UPDATE users SET conversation_count = 1 / 0"))
