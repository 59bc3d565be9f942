"""The checks of an operator's own types, and their descriptions of calls: they run in threads, because they
may take any time."""

from __future__ import annotations

import asyncio
import json
from textwrap import dedent

import pytest

from caesura.agents.tools.own import described
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import Approval
from caesura.engine import engine
from tests.engine.world import PATIENCE, YES, World

CODE = '''
    import threading, time
    from pathlib import Path
    from typing import Annotated

    import caesura
    from pydantic import BeforeValidator

    FOLDER = Path(__file__).parent.parent


    def seen(value):
        with (FOLDER / "trace.txt").open("a") as file:
            file.write(threading.current_thread().name + "\\n")
        while value == "slow" and not (FOLDER / "go").exists():
            time.sleep(0.01)
        if value == "wrong":
            raise ValueError("it is wrong")
        return value


    def told(args):
        where = seen(args["value"])
        args["value"] = "changed"
        return f"Do {where}"


    Checked = Annotated[str, BeforeValidator(seen)]


    @caesura.tool(permission="auto")
    def plain(value: Checked) -> str:
        """A plain function."""
        return value


    @caesura.tool(permission="auto")
    async def waits(value: Checked) -> str:
        """An async function."""
        return value


    @caesura.tool
    def asks(value: Checked) -> str:
        """A function that a person approves."""
        return value


    @caesura.tool(label="Do it", describe=told)
    def described(value: str) -> str:
        """A function that a person approves, as the operator describes it."""
        return value
'''
DEMO = "model: {primary: demo, options: {delay: 0, think: false}}"


@pytest.fixture
def shop(world: World) -> World:
    world.agents.joinpath("shop.py").write_text(dedent(CODE))
    world.agent(f"tools: ['shop:plain', 'shop:waits', 'shop:asks', 'shop:described']\n{DEMO}")
    assert not world.catalog.faults
    return world


def words(name: str, value: str) -> str:
    return f"call {name} {json.dumps({'value': value})}"


async def until_traced(world: World, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(world.traces()) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_arguments_are_checked_in_threads(shop: World) -> None:
    for name in ("plain", "waits"):
        assert (await shop.say(words(name, "one"))).results() == [(name, "one", "ok")]
        [(_, told, status)] = (await shop.say(words(name, "wrong"))).results()
        assert status == "error"
        assert told == "the arguments do not fit: value: Value error, it is wrong"
    said = await shop.say(words("asks", "one"))
    [asked] = said.waiting(Approval)
    with pytest.raises(BadAnswer, match="it is wrong"):
        await shop.answer(said.turn, {asked.id: Answer("edit", args={"value": "wrong"})})
    done = await shop.resume(said, Answer("edit", args={"value": "two"}))
    assert done.results() == [("asks", "two", "ok")]
    [(_, _, status)] = (await shop.say(words("asks", "wrong"))).results()
    assert status == "error"
    assert set(shop.traces()) == {"caesura-own-tool"}


@pytest.mark.parametrize("name", ["plain", "waits", "asks"])
async def test_a_check_that_takes_long_delays_nobody_else(shop: World, name: str) -> None:
    turn = await shop.send(words(name, "slow"))
    await until_traced(shop, 1)
    await shop.begin(user="bob")
    assert (await shop.say(words("plain", "quick"))).results() == [("plain", "quick", "ok")]
    shop.folder.joinpath("go").touch()
    said = await shop.segment(turn)
    if name == "asks":
        shop.user = "alice"
        said = await shop.resume(said, YES)
    assert said.results() == [(name, "slow", "ok")]


async def test_the_check_of_an_edit_has_a_limit(shop: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_CHECK", 0.05)
    said = await shop.say(words("asks", "one"))
    [asked] = said.waiting(Approval)
    with pytest.raises(BadAnswer, match="did not check these arguments in time"):
        await shop.answer(said.turn, {asked.id: Answer("edit", args={"value": "slow"})})
    shop.folder.joinpath("go").touch()
    assert (await shop.resume(said, YES)).results() == [("asks", "one", "ok")]


async def test_a_call_is_described_in_a_thread_and_delays_nobody_else(shop: World) -> None:
    turn = await shop.send(words("described", "slow"))
    await until_traced(shop, 1)
    assert shop.traces() == ["caesura-own-tool"]
    await shop.begin(user="bob")
    assert (await shop.say(words("plain", "quick"))).results() == [("plain", "quick", "ok")]
    shop.folder.joinpath("go").touch()
    said = await shop.segment(turn)
    [asked] = said.waiting(Approval)
    assert (asked.label, asked.description) == ("Do it", "Do slow")
    assert asked.args == {"value": "slow"}
    shop.user = "alice"
    assert (await shop.resume(said, YES)).results() == [("described", "slow", "ok")]


async def test_a_call_that_is_not_described_in_time_gets_the_usual_description(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(described, "_PATIENCE", 0.05)
    said = await shop.say(words("described", "slow"))
    [asked] = said.waiting(Approval)
    assert (asked.label, asked.description) == ("Do it", 'Using tool: described {"value":"slow"}')
    shop.folder.joinpath("go").touch()
    assert (await shop.resume(said, YES)).results() == [("described", "slow", "ok")]
