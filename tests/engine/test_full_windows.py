"""Answers that end because the model's window is full, or because no more may be written."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from tests.engine.full_model import FULL, WORDS
from tests.engine.world import World

CUT = "(The answer is cut off here: the conversation is too long for the model.)"
SHORT = "(The answer is cut off here: it is as long as the model may write.)"


def agent(world: World, options: str) -> None:
    world.agent(f"tools: [note]\nmodel: {{class: 'tests.engine.full_model:Full', options: {{{options}}}}}")


@pytest.mark.parametrize("more", ["", ", calls: true"])
async def test_a_window_that_is_full_before_the_first_word_is_answered_with_a_shorter_history(
    world: World, more: str
) -> None:
    agent(world, f"window: 2590{more}")
    for _ in range(2):
        assert (await world.say("word " * 500)).text == WORDS
    said = await world.say("word " * 500)
    assert said.finished
    assert said.text == WORDS
    assert said.of(ev.ModelStarted)[-1].context_from is not None
    await world.checked(said.turn)


async def test_an_answer_that_is_cut_off_says_so_and_the_next_turn_is_shorter(world: World) -> None:
    agent(world, "window: 2500")
    while (said := await world.say("word " * 200)).text == WORDS:
        assert said.finished
    assert said.finished
    assert said.of(ev.ModelStarted)[0].context_from is None
    assert said.of(ev.ModelFinished)[-1].finish_reason == FULL
    assert WORDS.startswith(said.text.removesuffix(f"\n\n{CUT}"))
    assert said.text.endswith(CUT)
    row = await world.checked(said.turn)
    assert row.messages is not None
    assert row.messages[-1].content == said.text
    after = await world.say("go on")
    assert after.text == WORDS
    assert after.of(ev.ModelStarted)[0].context_from is not None


async def test_an_answer_of_thoughts_alone_says_that_it_is_cut_off(world: World) -> None:
    agent(world, "window: 300, thinks: true")
    said = await world.say("word " * 300)
    assert said.finished
    assert said.text == CUT


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
@pytest.mark.parametrize(("says", "told"), [("words", f"words\n\n{SHORT}"), ("", SHORT)])
async def test_an_answer_that_is_as_long_as_allowed_says_that_it_is_cut_off(
    world: World, reason: str, says: str, told: str
) -> None:
    options = f"{{says: '{says}', reason: {reason}}}"
    world.agent(f"model: {{class: 'tests.engine.full_model:Ends', options: {options}}}")
    said = await world.say("hello")
    assert said.finished
    assert said.text == told
    assert said.of(ev.ModelFinished)[-1].finish_reason == reason
    row = await world.checked(said.turn)
    assert row.messages is not None
    assert row.messages[-1].content == told


async def test_a_whole_answer_has_no_such_sentence(world: World) -> None:
    world.agent("model: {class: 'tests.engine.full_model:Ends', options: {says: words, reason: stop}}")
    assert (await world.say("hello")).text == "words"
