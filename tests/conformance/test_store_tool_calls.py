"""The tool journal, on every backend."""

from typing import Any

from caesura.store import tool_calls
from caesura.store.database import Database
from tests.conformance.rows import make_turn

ARGS: dict[str, Any] = {"command": "a\0b 中😀", "deep": [{"n": 1.5}], "none": None}


async def test_an_intent_is_stored_before_the_result(database: Database) -> None:
    turn = await make_turn(database)
    assert await database.read(tool_calls.of, turn.num) == {}
    await database.write(tool_calls.begin, turn.num, "c1", "execute", ARGS)
    begun = tool_calls.ToolCall("c1", "execute", ARGS, "begun", None)
    assert await database.read(tool_calls.of, turn.num) == {"c1": begun}
    await database.write(tool_calls.finish, turn.num, "c1", {"content": "x\0y", "status": "ok"})
    ended = begun._replace(status="ended", output={"content": "x\0y", "status": "ok"})
    assert await database.read(tool_calls.of, turn.num) == {"c1": ended}


async def test_a_call_may_be_started_again(database: Database) -> None:
    turn = await make_turn(database)
    for args in ({"command": "ls"}, {"command": "ls -l"}):
        await database.write(tool_calls.begin, turn.num, "c1", "execute", args)
    [call] = (await database.read(tool_calls.of, turn.num)).values()
    assert (call.args, call.status) == ({"command": "ls -l"}, "begun")


async def test_a_call_that_stops_to_ask_is_not_under_way_until_it_begins_again(database: Database) -> None:
    turn = await make_turn(database)

    async def status() -> str:
        return (await database.read(tool_calls.of, turn.num))["c1"].status

    await database.write(tool_calls.begin, turn.num, "c1", "refund", ARGS)
    for _ in range(2):
        await database.write(tool_calls.ask, turn.num, "c1")
        assert await status() == "asked"
        await database.write(tool_calls.begin, turn.num, "c1", "refund", ARGS)
        assert await status() == "begun"
    await database.write(tool_calls.finish, turn.num, "c1", {})
    await database.write(tool_calls.ask, turn.num, "c1")
    assert await status() == "ended"


async def test_a_call_may_be_taken_over_by_another_attempt(database: Database) -> None:
    turn = await make_turn(database)

    async def stored() -> tool_calls.ToolCall:
        return (await database.read(tool_calls.of, turn.num))["c1"]

    await database.write(tool_calls.begin, turn.num, "c1", "pay", ARGS, "here")
    await database.write(tool_calls.finish, turn.num, "c1", {"status": "ok"})
    ended = await stored()
    await database.write(tool_calls.forget_places, turn.num)
    assert await stored() == ended._replace(place=None)
    for call in (ended._replace(place="there"), ended._replace(place="there", status="begun", output=None)):
        await database.write(tool_calls.take_over, turn.num, call)
        assert await stored() == call


async def test_each_turn_has_a_journal_of_its_own(database: Database) -> None:
    one, two = await make_turn(database), await make_turn(database)
    for turn in (one, two):
        await database.write(tool_calls.begin, turn.num, "c1", "execute", {"turn": turn.num})
    await database.write(tool_calls.finish, one.num, "c1", {})
    assert (await database.read(tool_calls.of, one.num))["c1"].output == {}
    assert (await database.read(tool_calls.of, two.num))["c1"].status == "begun"


async def test_values_that_json_cannot_represent_can_be_stored(database: Database) -> None:
    turn = await make_turn(database)
    await database.write(tool_calls.begin, turn.num, "c1", "t", {"x": float("nan"), "\ud800": 2**80})
    [call] = (await database.read(tool_calls.of, turn.num)).values()
    assert call.args == {"x": None, "?": str(2**80)}
