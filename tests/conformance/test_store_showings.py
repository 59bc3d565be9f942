"""Which questions were shown to whom, and blind decisions about those that were not, on every backend."""

import asyncio

import pytest
from sqlalchemy import Connection, select

from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered, InterruptPending
from caesura.core.interrupts import Approval
from caesura.core.turns import Turn
from caesura.store import interrupts, life, schema, showings, users
from caesura.store.database import Database
from tests.conformance.rows import change_turn, make_conversation, make_turn, make_user

YES = Answer("approve")
LAPTOP, PHONE = "1a2b3c4d", "5e6f7a8b"


@pytest.fixture(autouse=True)
def _no_double_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "DOUBLE_CLICK", 0)


async def test_a_question_that_nobody_was_shown_is_not_decided_blindly(database: Database) -> None:
    turn = await _waiting(database, "int-1")
    for _ in range(3):
        refusal = await _refusal(database, "int-1")
        assert [item.id for item in refusal.interrupts] == ["int-1"]
    await database.write_lightly(showings.add, turn.num, ["int-1"], LAPTOP)
    assert await _decide(database, "int-1")


async def test_a_named_question_is_decided_whether_it_was_shown_or_not(database: Database) -> None:
    await _waiting(database, "int-1")
    assert await database.write(life.answer, "alice", {"int-1": YES}, viewer=LAPTOP)


async def test_an_api_that_records_nothing_is_not_asked_what_it_has_shown(database: Database) -> None:
    await _waiting(database, "int-1")
    assert await database.write(life.answer, "alice", {"int-1": YES}, blind=True)


async def test_all_questions_of_a_blind_decision_must_have_been_shown(database: Database) -> None:
    turn = await _waiting(database, "int-1", "int-2")
    await database.write_lightly(showings.add, turn.num, ["int-1"], LAPTOP)
    await _refusal(database, "int-1", "int-2")
    assert len(await database.read(interrupts.pending, turn.num)) == 2
    await database.write_lightly(showings.add, turn.num, ["int-1", "int-2"], LAPTOP)
    assert await _decide(database, "int-1", "int-2")


async def test_a_viewer_with_a_stale_view_decides_nothing_and_a_new_viewer_does(database: Database) -> None:
    turn = await _waiting(database, "int-1")
    await database.write_lightly(showings.add, turn.num, ["int-1"], LAPTOP)
    await database.write_lightly(showings.add, turn.num, ["int-1"], PHONE)
    assert await _decide(database, "int-1", viewer=PHONE)
    await _ask(database, turn, "int-2")
    await database.write_lightly(showings.add, turn.num, ["int-2"], PHONE)
    await _refusal(database, "int-2", viewer=LAPTOP)
    await database.write_lightly(showings.add, turn.num, ["int-2"], LAPTOP)
    assert await _decide(database, "int-2", viewer=LAPTOP)
    await _ask(database, turn, "int-3")
    await database.write_lightly(showings.add, turn.num, ["int-3"], LAPTOP)
    assert await _decide(database, "int-3", viewer="new")


async def test_who_comes_second_is_told_the_decision_and_not_what_waits_then(database: Database) -> None:
    turn = await _waiting(database, "int-1")
    await database.write_lightly(showings.add, turn.num, ["int-1"], LAPTOP)
    assert await _decide(database, "int-1")
    await _ask(database, turn, "int-2")
    with pytest.raises(AlreadyAnswered):
        await _decide(database, "int-1")


async def test_only_what_waits_in_the_turn_is_recorded_as_shown(database: Database) -> None:
    turn, other = await _waiting(database, "int-1", "int-2"), await _waiting(database, "int-3")
    await database.write(life.answer, "alice", {"int-1": YES})
    asked = ["int-1", "int-2", "int-3", "int-unknown"]
    assert await database.write_lightly(showings.add, turn.num, asked, LAPTOP) == ["int-2"]
    assert await database.read(_shown_to) == {"int-1": None, "int-2": f"{LAPTOP},", "int-3": None}
    assert await database.read(showings.waiting, turn.num) == ["int-2"]
    assert await database.read(showings.waiting, other.num) == ["int-3"]


async def test_a_question_remembers_24_viewers_each_once(database: Database) -> None:
    turn = await _waiting(database, "int-1", "int-2")
    names = [f"{number:08x}" for number in range(30)]
    for name in [*names, *names]:
        await database.write_lightly(showings.add, turn.num, ["int-2"], name)
    shown = await database.read(_shown_to)
    assert shown["int-2"] == "".join(f"{name}," for name in names[:24])
    await database.write_lightly(showings.add, turn.num, ["int-1"], names[-1])
    assert await _decide(database, "int-2", viewer=names[-1]) is False  # the other question still waits


async def test_showings_to_several_viewers_at_once_are_all_recorded(database: Database) -> None:
    turn = await _waiting(database, "int-1", "int-2", "int-3")
    asked = ["int-3", "int-1", "int-2"]
    names = [f"{number:08x}" for number in range(12)]
    shows = (database.write_lightly(showings.add, turn.num, asked, name) for name in names * 2)
    await asyncio.gather(*shows)
    for shown in (await database.read(_shown_to)).values():
        assert sorted((shown or "").split(",")) == ["", *names]


async def _decide(database: Database, *names: str, viewer: str = LAPTOP) -> bool:
    answers = dict.fromkeys(names, YES)
    return await database.write(life.answer, "alice", answers, blind=True, viewer=viewer)


async def _refusal(database: Database, *names: str, viewer: str = LAPTOP) -> InterruptPending:
    with pytest.raises(InterruptPending) as caught:
        await _decide(database, *names, viewer=viewer)
    return caught.value


async def _waiting(database: Database, *names: str) -> Turn:
    """Create a turn of alice that waits for these approvals."""
    if await database.read(users.get, "alice") is None:
        await make_user(database, "alice")
    turn = await make_turn(database, await make_conversation(database, "alice"))
    await _ask(database, turn, *names)
    return turn


async def _ask(database: Database, turn: Turn, *names: str) -> None:
    items = {f"graph-{name}": Approval(name, name="execute") for name in names}
    await database.write(interrupts.ask, turn.num, "alice", items)
    await change_turn(database, turn, status="waiting")


def _shown_to(connection: Connection) -> dict[str, str | None]:
    rows = connection.execute(select(schema.interrupts.c.id, schema.interrupts.c.shown_to))
    return {row.id: row.shown_to for row in rows}
