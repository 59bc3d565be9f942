"""A provider that fails: before its first word, in the middle, temporarily, permanently."""

from __future__ import annotations

import logging
import re
import socket
import time
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.engine.speech import Reply
from caesura.store import life
from tests.engine.world import YES, World
from tests.openai_server import Broken, Call, Error, Refusal, Say

FALLBACKS = """
tools: []
model:
  primary: openai:first
  fallbacks: [openai:second, openai:third]
  base_url: {url}
  api_key_env: TEST_KEY
"""


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_a_transient_failure_before_the_first_word_is_retried(world: World, status: int) -> None:
    world.agent("tools: []")
    world.desk.script(Refusal(status), Refusal(status), Say("hello"))
    said = await world.say("hi")
    assert said.finished
    assert said.text == "hello"
    assert len(world.desk.requests) == 3
    assert len(said.of(ev.ModelStarted)) == 1


async def test_the_retry_after_header_of_the_provider_is_used(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Refusal(429, {"retry-after": "0.4"}), Say("hello"))
    began = time.monotonic()
    assert (await world.say("hi")).finished
    assert time.monotonic() - began >= 0.4


async def test_an_error_inside_a_stream_before_the_first_word_is_retried(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Error(), Say("hello"))
    said = await world.say("hi")
    assert (said.text, len(world.desk.requests)) == ("hello", 2)
    assert len(said.of(ev.ModelStarted)) == 1


async def test_a_permanent_failure_is_not_retried(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Refusal(401), Say("never"))
    said = await world.say("hi")
    assert said.failure.code == "model"
    assert len(world.desk.requests) == 1
    world.desk.refused.clear()


@pytest.mark.parametrize(
    "refusal", [Refusal(401), Refusal(403), Refusal(404), Refusal(400), Refusal(429, {"retry-after": "60"})]
)
async def test_what_will_not_pass_soon_goes_to_the_fallback_at_once(world: World, refusal: Refusal) -> None:
    world.agent(FALLBACKS.format(url=world.desk.base_url))
    world.desk.script(refusal, model="first")
    world.desk.script(Say("from the second"), model="second")
    said = await world.say("hi")
    assert said.text == "from the second"
    assert [asked["model"] for asked in world.desk.requests] == ["first", "second"]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "the model is not available: its provider refuses the server's key"),
        (404, "the model is not available: its provider does not have it"),
        (400, "the model is not available: its provider refused the request"),
        (429, "the model is not available: its provider has too much to do, try again later"),
        (500, "the model is not available: its provider failed"),
    ],
)
async def test_people_are_told_what_went_wrong_in_our_words(world: World, status: int, told: str) -> None:
    world.agent("tools: []")
    world.desk.script(*[Refusal(status)] * 3)
    failure = (await world.say("hi")).failure
    assert (failure.message, failure.code, failure.retryable) == (told, "model", True)


async def test_a_repeated_failure_ends_the_turn_without_internals(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(*[Refusal(500)] * 3)
    said = await world.say("hi")
    failure = said.failure
    told = "the model is not available: its provider failed"
    assert (failure.message, failure.code, failure.retryable) == (told, "model", True)
    assert failure.error_id is not None
    assert said.row.status == "failed"
    row = await world.checked(said.turn)
    assert row.messages == []
    assert not said.of(ev.ModelStarted)


async def test_an_unreachable_provider_is_a_model_failure(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    model = f"model: {{primary: 'openai:x', base_url: '{url}', api_key_env: TEST_KEY}}"
    world.agent(f"tools: []\n{model}")
    said = await world.say("hi")
    assert said.failure.code == "model"
    assert str(port) not in said.failure.message


async def test_a_provider_that_times_out_is_a_transient_failure(world: World) -> None:
    from tests.openai_server import Hang

    world.agent(
        f"""
        tools: []
        model:
          primary: openai:test
          base_url: {world.desk.base_url}
          api_key_env: TEST_KEY
          idle_timeout: 0.2
        """
    )
    world.desk.script(Hang(), Hang(), Say("hello"))
    said = await world.say("hi")
    assert said.finished
    assert said.text == "hello"


async def test_the_fallbacks_reply_when_the_first_model_does_not(world: World) -> None:
    world.agent(FALLBACKS.format(url=world.desk.base_url))
    world.desk.script(*[Refusal(503)] * 3, model="first")
    world.desk.script(Refusal(400), model="second")
    world.desk.script(Say("from the third"), model="third")
    said = await world.say("hi")
    assert said.finished
    assert said.text == "from the third"
    assert [event.model for event in said.of(ev.ModelStarted)] == ["third"]
    assert [asked["model"] for asked in world.desk.requests] == ["first"] * 3 + ["second", "third"]


UNSET = """
tools: []
model: {{primary: "{}", fallbacks: [{}]}}
"""


async def test_a_model_without_a_key_is_skipped(world: World) -> None:
    world.agent(UNSET.format("anthropic:first", "demo, deepseek:third"))
    said = await world.say("hi")
    assert said.finished
    assert [event.model for event in said.of(ev.ModelStarted)] == ["demo (no AI)"]
    assert said.of(ev.TitleChanged)
    world.desk.script(Say("from the first"), model="first")
    world.agent(FALLBACKS.format(url=world.desk.base_url).replace("openai:second", "deepseek:second"))
    assert (await world.say("again")).text == "from the first"


async def test_a_turn_fails_if_no_model_has_a_key_and_the_log_says_it_in_one_line(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.agent(UNSET.format("anthropic:first", "deepseek:third"))
    said = await world.say("hi")
    assert said.failure.code == "model_unavailable"
    (line,) = [record for record in caplog.records if f"({said.failure.error_id})" in record.getMessage()]
    assert "set ANTHROPIC_API_KEY; model deepseek:third needs a key" in line.getMessage()
    assert line.exc_info is None


@pytest.mark.parametrize("status", [401, 404])
async def test_a_refused_key_and_a_missing_model_are_one_line_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    world.agent("tools: []")
    world.desk.script(Refusal(status))
    said = await world.say("hi")
    (line,) = [record for record in caplog.records if f"({said.failure.error_id})" in record.getMessage()]
    assert f"answered {status}" in line.getMessage()
    assert line.exc_info is None


async def test_each_failed_call_is_logged_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.agent(FALLBACKS.format(url=world.desk.base_url))
    for model, answers in {"first": [500, 502, 503], "second": [400], "third": [404]}.items():
        world.desk.script(*map(Refusal, answers), model=model)
    said = await world.say("hi")
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    found = [re.findall(r" answered (\d+)", line) for line in lines]
    assert found == [["500"], ["502"], ["503"], ["400"], ["404"]]
    for line, model in zip(lines, ["first", "first", "first", "second", "third"], strict=True):
        assert model in line
    assert f"({said.failure.error_id})" in lines[-1]


async def test_a_broken_stream_fails_the_turn_and_keeps_its_text(world: World) -> None:
    world.agent(FALLBACKS.format(url=world.desk.base_url))
    world.desk.script(Broken(["Once ", "upon ", "a "]), Say("so on"), model="first")
    said = await world.say("tell")
    assert (said.failure.message, said.failure.retryable) == ("the model broke off", True)
    assert said.text == "Once upon a "
    row = await world.checked(said.turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("Once upon a ", True)]
    assert len(world.desk.requests) == 1
    assert (await world.say("go on")).finished
    assert world.desk.sent() == [("user", "tell"), ("assistant", "Once upon a "), ("user", "go on")]


async def test_a_failed_turn_is_retried_and_no_text_is_read_twice(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Broken(["Once ", "upon"]), Say(["Once ", "and ", "for all"]))
    said = await world.say("tell")
    again = await world.retry(said.turn)
    assert again.of(ev.RunStarted)[0].cause == "retry"
    assert again.of(ev.TextVoided) == [ev.TextVoided(1)]
    assert again.finished
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["Once and for all"]
    assert world.desk.sent() == [("user", "tell")]


async def test_finished_tools_are_not_run_again_in_a_retry(world: World) -> None:
    world.agent("tools: [note, seal]")
    calls = [Call("note", {"text": "a"}, "note-1"), Call("seal", {"text": "b"}, "seal-1")]
    world.desk.script(Say("both", calls), Broken(["half "]), Say("whole"))
    said = await world.resume(await world.say("go"), YES)
    assert said.failure.code == "model"
    again = await world.retry(said.turn)
    assert again.finished
    assert again.text == "whole"
    assert not again.of(ev.ToolStarted)
    assert world.traces() == ["note a", "seal b"]
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["both", "noted a", "sealed b", "whole"]
    assert [role for role, _ in world.desk.sent()] == ["user", "assistant", "tool", "tool"]


async def test_a_stopped_turn_that_is_retried_asks_again(world: World) -> None:
    world.agent("tools: [note, seal]")
    calls = [Call("note", {"text": "a"}, "note-1"), Call("seal", {"text": "b"}, "seal-1")]
    world.desk.script(Say("both", calls), Say("done"), Say("done"))
    said = await world.say("go")
    await world.close(said.turn)
    again = await world.retry(said.turn)
    if not again.finished:
        again = await world.resume(again, YES)
        assert sorted(world.traces()) == ["note a", "seal b"]
    assert again.finished
    assert world.traces().count("note a") == 1
    await world.checked(said.turn)


async def test_a_turn_fails_twice_and_succeeds_the_third_time(world: World) -> None:
    world.agent("tools: []")
    world.desk.script(Broken(["a"]), Broken(["b"]), Say("c"))
    said = await world.say("go")
    for _ in range(2):
        assert said.failure.retryable
        said = await world.retry(said.turn)
    assert said.finished
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["c"]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_the_history_is_read_again_after_a_retry_on_another_engine(world: World) -> None:
    """Two engines over one database: one replies, the other retries, the first continues."""
    world.agent("tools: []")
    world.desk.script(Broken(["half"]), Say("whole"), Say("next"))
    said = await world.say("tell")
    other = world.new_engine()
    other.start()
    await world.engine.supervisor.join(said.turn.num)
    first, world.engine = world.engine, other
    first.supervisor._poll = 60
    await world.database.write(_reopen_for, said.turn.id, other.supervisor.owner)
    other.supervisor.run(await world.row(said.turn))
    assert (await world.segment(said.turn)).finished
    world.engine = first
    turn = await world.send("go on")
    await world.segment(turn)
    assert world.desk.sent() == [("user", "tell"), ("assistant", "whole"), ("user", "go on")]
    await other.drain()


def _reopen_for(connection: object, turn_id: str, owner: str) -> None:
    turn = life.reopen(connection, turn_id)  # type: ignore[arg-type]
    assert life.claim(connection, turn.num, owner, 60_000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("piece", "name"), [("hello", "str"), ({"text": "hello"}, "dict"), (None, "NoneType")]
)
def test_a_piece_that_is_none_of_ours_is_named(piece: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"the model yielded {name}, not Text, .* of caesura.models.model"):
        Reply().add(piece)
