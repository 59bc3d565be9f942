"""Blocks that a provider wants back: they live in the log of their turn, and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.messages import Message
from caesura.dialects.native import encode
from tests.engine.crash import lose
from tests.engine.kept_model import BLOCKS, Thinks
from tests.engine.world import PATIENCE, YES, World

QUESTION = json.dumps({"questions": [{"question": "Which?"}]})
MARKS = ("c2lnbmVk", "c2VjcmV0")


@pytest.fixture(autouse=True)
def prompts() -> Iterator[list[list[Message]]]:
    Thinks.prompts.clear()
    yield Thinks.prompts
    Thinks.prompts.clear()


def agent(world: World, tool: str, options: str = "") -> None:
    model = f"{{class: 'tests.engine.kept_model:Thinks', options: {{tool: {tool}{options}}}}}"
    world.agent(f"tools: [{tool}]\nmodel: {model}")


def given_back(prompt: list[Message]) -> list[object]:
    return [block for message in prompt for block in message.kept]


async def test_blocks_go_back_unchanged_after_a_tool(world: World, prompts: list[list[Message]]) -> None:
    agent(world, "note")
    assert (await world.say("go")).finished
    first, second = prompts
    assert given_back(first) == []
    assert given_back(second) == BLOCKS
    assert [(message.role, message.reasoning) for message in second[1:2]] == [("assistant", "hm")]


async def test_blocks_go_back_after_an_approval(world: World, prompts: list[list[Message]]) -> None:
    agent(world, "seal")
    said = await world.resume(await world.say("go"), YES)
    assert said.finished
    assert given_back(prompts[-1]) == BLOCKS


async def test_blocks_go_back_after_a_question(world: World, prompts: list[list[Message]]) -> None:
    agent(world, "ask_user", f", args: {QUESTION!r}")
    said = await world.resume(await world.say("go"), Answer("answers", answers=("this",)))
    assert said.finished
    assert given_back(prompts[-1]) == BLOCKS


async def test_blocks_go_back_after_a_crash(world: World, prompts: list[list[Message]]) -> None:
    agent(world, "ponder")
    said = await world.say("go")
    turn = said.turn
    (item,) = said.interrupts
    assert await world.answer(turn, {item.id: YES})
    async with asyncio.timeout(PATIENCE):
        while not world.traces():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await lose(world)
    async with asyncio.timeout(PATIENCE):
        while len(world.traces()) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    transcript = await world.transcript(turn)
    (reply,) = [message for message in transcript.finished if message.role == "assistant"]
    assert list(reply.kept) == BLOCKS


async def test_a_turn_that_has_ended_keeps_no_blocks(world: World, prompts: list[list[Message]]) -> None:
    agent(world, "note")
    said = await world.say("go")
    row = await world.checked(said.turn)
    assert not any(message.kept for message in row.messages or ())
    assert (await world.say("again")).finished
    assert given_back(prompts[2]) == []
    assert not any(message.reasoning for message in prompts[2])
    assert given_back(prompts[3]) == BLOCKS


async def test_a_waiting_turn_stores_its_blocks_in_the_log_alone(world: World) -> None:
    agent(world, "seal")
    said = await world.say("go")
    assert said.of(ev.ModelFinished)[0].kept == tuple(BLOCKS)
    row = await world.row(said.turn)
    assert not any(message.kept for message in row.messages or ())


async def test_no_client_is_shown_a_block(world: World) -> None:
    agent(world, "seal")
    said = await world.say("go")
    for event in await world.events(said.turn):
        _, frame = encode.step(0, ev.Envelope(1, 1, event))
        assert b"kept" not in frame
        assert not any(mark.encode() in frame for mark in MARKS)


async def test_too_much_to_keep_is_dropped_and_the_log_says_so(
    world: World, prompts: list[list[Message]], caplog: pytest.LogCaptureFixture
) -> None:
    agent(world, "note", f", size: {1024 * 1024}")
    said = await world.say("go")
    assert said.finished
    assert said.of(ev.ModelFinished)[0].kept == ()
    assert given_back(prompts[-1]) == []
    assert "too large, and is left out" in caplog.text
