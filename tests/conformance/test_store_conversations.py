"""Conversations, on every backend."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, update

from caesura.core.answers import Answer
from caesura.core.errors import BadInput, Conflict, NoConversation, NotFound, Unauthenticated
from caesura.core.interrupts import Approval
from caesura.core.messages import Message
from caesura.store import conversations, interrupts, life, schema
from caesura.store.conversations import Order
from caesura.store.database import Database
from caesura.store.statements import driver
from tests.conformance.rows import change_turn, end_turn, make_conversation, make_turn, make_user
from tests.sent import statements


async def test_a_new_conversation_is_idle_and_empty(database: Database) -> None:
    await make_user(database, "alice")
    made = await database.write(conversations.create, "alice-1", "alice", "demo", "s1")
    assert made == await database.read(conversations.get, "alice-1", "alice")
    assert made[:7] == ("alice-1", "alice", "demo", None, "s1", None, 0)
    assert (made.message_count, made.interrupted, made.running) == (0, False, False)
    assert made.created_at > 1_700_000_000_000


async def test_a_conversation_needs_a_person(database: Database) -> None:
    with pytest.raises(Unauthenticated):
        await database.write(conversations.create, "x", "nobody", "demo")


async def test_an_id_is_used_once(database: Database) -> None:
    await make_user(database, "alice")
    await make_user(database, "bob")
    await database.write(conversations.create, "x", "alice", "demo")
    with pytest.raises(Conflict, match="exists already"):
        await database.write(conversations.create, "x", "bob", "demo")
    assert (await database.read(conversations.page, "bob", 10)) == ([], 0)


async def test_anothers_conversation_and_a_missing_one_look_the_same(database: Database) -> None:
    for name in ("alice", "alice-b"):
        await make_user(database, name)
    theirs = "alice-b-11111111-1111-4111-8111-111111111111"
    await database.write(conversations.create, theirs, "alice-b", "demo")
    seen = []
    for conversation_id in (theirs, "alice-b-22222222-2222-4222-8222-222222222222", "", "'; --"):
        for work in (conversations.get, conversations.remove):
            with pytest.raises(NotFound) as caught:
                await database.write(work, conversation_id, "alice")
            seen.append((caught.value.status, caught.value.code, str(caught.value)))
    assert set(seen) == {(404, "not_found", "conversation not found")}
    assert (await database.read(conversations.get, theirs, "alice-b")).user_id == "alice-b"


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x" * 1000], ids=["nul", "surrogate", "long"])
async def test_a_text_that_no_row_can_hold_is_an_error_of_the_caller(database: Database, text: str) -> None:
    await make_user(database, "alice")
    mistakes = []
    for work in (conversations.get, conversations.remove):
        with pytest.raises((NotFound, BadInput)) as caught:
            await database.write(work, text, "alice")
        mistakes.append(caught)
    if text != "x" * 1000:
        assert mistakes
    await make_conversation(database, "alice")


async def test_people_whose_names_share_a_prefix_see_only_their_own_conversations(database: Database) -> None:
    for name in ("alice", "alice-b", "alice%", "_lice"):
        await make_user(database, name)
        await make_conversation(database, name)
    for name in ("alice", "alice-b", "alice%", "_lice"):
        page = await database.read(conversations.page, name, 10)
        assert [item.user_id for item in page.items] == [name]
        assert page.total == 1


async def test_a_session_belongs_to_a_person_and_an_agent(database: Database) -> None:
    await make_user(database, "alice")
    await make_user(database, "bob")
    made = await database.write(conversations.create, "x", "alice", "demo", "s1")
    assert await database.read(conversations.of_session, "alice", "demo", "s1") == made
    for other in (("bob", "demo", "s1"), ("alice", "other", "s1"), ("alice", "demo", "s2")):
        assert await database.read(conversations.of_session, *other) is None
    with pytest.raises(Conflict):
        await database.write(conversations.create, "y", "alice", "demo", "s1")
    await database.write(conversations.create, "y", "bob", "demo", "s1")


async def test_only_one_of_many_concurrent_requests_opens_a_session(database: Database) -> None:
    await make_user(database, "alice")
    tries = (database.write(conversations.create, f"c{n}", "alice", "demo", "s") for n in range(10))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 9
    found = await database.read(conversations.of_session, "alice", "demo", "s")
    assert found in outcomes
    assert (await database.read(conversations.page, "alice", 10)).total == 1


@pytest.mark.parametrize("order", ["created", "updated"])
async def test_pages_run_from_the_newest_to_the_oldest_without_gaps(database: Database, order: Order) -> None:
    await _make_aged(database, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
    whole = await database.read(conversations.page, "alice", 100, order=order)
    assert whole.total == len(whole.items) == 11
    times = [(item.created_at if order == "created" else -item.updated_at) for item in whole.items]
    assert times == sorted(times, reverse=order == "created")
    ids = [item.id for item in whole.items]
    by_offset: list[str] = []
    by_key: list[str] = []
    after = None
    for number in range(5):
        part = await database.read(conversations.page, "alice", 3, offset=3 * number, order=order)
        by_offset += [item.id for item in part.items]
        deep = await database.read(conversations.page, "alice", 3, after=after, order=order)
        by_key += [item.id for item in deep.items]
        assert part == deep
        assert part.total == 11
        if deep.items:
            last = deep.items[-1]
            after = (last.created_at if order == "created" else last.updated_at, last.id)
    assert by_offset == by_key == ids


async def test_a_page_beyond_the_end_is_empty_but_knows_the_total(database: Database) -> None:
    await _make_aged(database, [1, 2])
    assert await database.read(conversations.page, "alice", 10, offset=7) == ([], 2)
    assert await database.read(conversations.page, "nobody", 10) == ([], 0)


async def test_a_page_is_one_query_however_long(database: Database) -> None:
    await _make_aged(database, [1, 2, 3])
    for item in (await database.read(conversations.page, "alice", 10)).items:
        await make_turn(database, item.id)
    for limit in (1, 3):
        for after in (None, (3, "zzz")):
            assert await _statements(database, conversations.page, "alice", limit, after=after) == 1


async def test_reading_one_conversation_is_one_query(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    assert await _statements(database, conversations.get, conversation_id, "alice") == 1


async def test_a_page_says_which_conversations_run_or_wait_and_their_message_counts(
    database: Database,
) -> None:
    await make_user(database, "alice")
    names = {
        name: await make_conversation(database, "alice") for name in ("new", "runs", "waits", "late", "done")
    }
    await make_turn(database, names["runs"])
    waits = await make_turn(database, names["waits"])
    await change_turn(database, waits, status="waiting", owner=None)
    late = await make_turn(database, names["late"])
    await change_turn(database, late, status="waiting", owner=None, waits_until=1)
    done = await make_turn(database, names["done"])
    await end_turn(database, done, "done", Message("assistant", "hi"), Message("tool", ""))
    page = await database.read(conversations.page, "alice", 10)
    seen = {item.id: (item.running, item.interrupted, item.message_count) for item in page.items}
    assert {name: seen[names[name]] for name in names} == {
        "new": (False, False, 0),
        "runs": (True, False, 1),
        "waits": (False, True, 1),
        "late": (False, False, 1),
        "done": (False, False, 2),
    }
    assert await database.read(conversations.get, names["waits"], "alice") in page.items


async def test_a_turn_makes_its_conversation_the_newest_by_update(database: Database) -> None:
    await _make_aged(database, [1, 2, 3])
    await make_turn(database, "c1-00")
    by_update = await database.read(conversations.page, "alice", 10, order="updated")
    assert by_update.items[0].id == "c1-00"
    by_creation = await database.read(conversations.page, "alice", 10)
    assert by_creation.items[-1].id == "c1-00"


async def test_an_id_that_no_database_can_hold_is_not_found(database: Database) -> None:
    for conversation_id in ("conv-\0", "x" * 1000):
        with pytest.raises(NoConversation):
            await database.read(conversations.get, conversation_id, "alice")


async def test_a_title_is_kept_within_its_column(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    hostile = "中\0😀\ud800" * 100
    assert await database.write(conversations.set_title, conversation_id, hostile)
    title = (await database.read(conversations.get, conversation_id, "alice")).title
    assert title == ("中😀?" * 100)[:200]


async def test_a_first_title_does_not_replace_an_existing_one(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    assert await database.write(conversations.set_first_titles, {conversation_id: "one"}) == 1
    assert await database.write(conversations.set_first_titles, {conversation_id: "two"}) == 0
    assert (await database.read(conversations.get, conversation_id, "alice")).title == "one"
    assert await database.write(conversations.set_title, conversation_id, "three")
    assert not await database.write(conversations.set_title, "missing", "three")


async def test_each_conversation_gets_its_own_first_title(database: Database) -> None:
    user = await make_user(database, "alice")
    made = [await make_conversation(database, user) for _ in range(3)]
    titles = {made[0]: "one", made[1]: "two 中\0", "missing": "three"}
    assert await database.write(conversations.set_first_titles, titles) == 2
    found = [(await database.read(conversations.get, item, "alice")).title for item in made]
    assert found == ["one", "two 中", None]


async def test_another_branch_can_be_made_the_active_one(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    first = await end_turn(database, await make_turn(database, conversation_id))
    await end_turn(database, await make_turn(database, conversation_id, parent=None))
    await database.write(conversations.activate, conversation_id, first.id)
    assert (await database.read(conversations.get, conversation_id, "alice")).active_turn == first.id
    assert (await make_turn(database, conversation_id)).parent_id == first.id


async def test_a_missing_conversation_cannot_be_locked(database: Database) -> None:
    with pytest.raises(NotFound, match="conversation not found"):
        await database.write(conversations.lock, "missing")


async def test_a_conversation_is_deleted_once(database: Database) -> None:
    conversation_id = await make_conversation(database, await make_user(database, "alice"))
    turn = await make_turn(database, conversation_id)
    tries = (database.write(conversations.remove, conversation_id, "alice") for _ in range(5))
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert [turn.num] in outcomes
    assert sum(isinstance(outcome, NotFound) for outcome in outcomes) == 4
    assert (await database.read(conversations.page, "alice", 10)) == ([], 0)


async def test_deleting_during_answers_and_writes_does_not_deadlock(database: Database) -> None:
    """The operation that comes second finds the conversation gone. There is no deadlock."""
    for _ in range(5):
        user = await make_user(database)
        conversation_id = await make_conversation(database, user)
        turn = await make_turn(database, conversation_id)
        ids = [f"{turn.id[-20:]}-{number}" for number in range(3)]
        for name in ids:
            item = Approval(name)
            await database.write(interrupts.ask, turn.num, user, {name: item})
        tries: list[Any] = [database.write(conversations.remove, conversation_id, user)]
        for name in ids:
            tries.append(database.write(life.answer, user, {name: Answer("approve")}))
            tries.append(change_turn(database, turn, running_ms=5))
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert outcomes[0] == [turn.num]
        assert {getattr(outcome, "code", None) for outcome in outcomes} <= {None, "not_found", "fenced"}


async def _make_aged(database: Database, ages: list[int]) -> None:
    """Conversations of alice, made at these times and updated in the opposite order."""
    await make_user(database, "alice")
    for number, age in enumerate(ages):
        await database.write(conversations.create, f"c{age}-{number:02}", "alice", "demo")
    table = schema.conversations

    def age_all(connection: Any) -> None:
        for number, age in enumerate(ages):
            row = update(table).where(table.c.id == f"c{age}-{number:02}")
            connection.execute(row.values(created_at=age, updated_at=10 - age))

    await database.write(age_all)


async def _statements(database: Database, work: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """How many statements the work sends to the database."""
    seen: list[str] = []

    def traced(connection: Connection) -> None:
        if not database.shared:
            driver(connection).set_trace_callback(seen.append)
        work(connection, *args, **kwargs)
        if not database.shared:
            driver(connection).set_trace_callback(None)

    with statements() as sent:
        await database.read(traced)
    if database.shared:
        seen += sent
    return len(seen)


async def test_a_search_for_a_long_part_of_long_titles_costs_little_more_than_one_for_a_word(
    database: Database,
) -> None:
    await make_user(database, "alice")
    await database.write(_many_titled, "\u1e9e" * 190, 400)
    took = {titled: await _search_time(database, titled) for titled in ("word", "\u1e9e" * 180 + "zz")}
    [word, long] = took.values()
    assert long < 20 * word


def _many_titled(connection: Connection, title: str, count: int) -> None:
    for number in range(count):
        conversations.create(connection, f"alice-{number}", "alice", "demo")
        conversations.set_title(connection, f"alice-{number}", f"{title}{number}")


async def _search_time(database: Database, titled: str) -> float:
    """The shortest of some tries, in the thread that searches."""

    def search(connection: Connection) -> float:
        begun = time.perf_counter()
        assert conversations.page(connection, "alice", 100, titled=titled).total == 0
        return time.perf_counter() - begun

    return min([await database.read(search) for _ in range(5)])
