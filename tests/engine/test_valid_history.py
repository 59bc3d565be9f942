"""What a provider demands of messages holds for whatever is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from caesura.core import events as ev
from caesura.core.fold import NOT_DONE, Transcript
from caesura.core.messages import Message, Role
from caesura.engine.history import said_in, valid

_ids = st.sampled_from(["a", "b", "c", "d"])
_texts = st.sampled_from(["", " ", "\n", "x", "two words"])
_calls = st.lists(st.builds(lambda id: {"id": id, "name": "look", "args": {}}, _ids), max_size=3).map(tuple)
_messages = st.builds(
    Message,
    role=st.sampled_from(get_args(Role)),
    content=_texts,
    reasoning=_texts,
    tool_calls=_calls,
    tool_call_id=st.none() | _ids,
    name=st.none() | st.just("look"),
    status=st.sampled_from(get_args(ev.ToolStatus)),
    parent=st.none() | _ids,
    cut=st.booleans(),
    kept=st.sampled_from([(), ({"type": "thinking", "signature": "s"},)]),
)
_turns = st.lists(st.tuples(_texts, st.lists(_messages, max_size=8)), max_size=4)


def check(messages: Sequence[Message]) -> None:
    """Raise if a provider would refuse these messages."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting, "a result without its call before it"
            assert message.tool_call_id == waiting.pop(0), "a result in the wrong place"
        else:
            assert not waiting, "a call without its result"
        assert message.content.strip() or message.tool_calls, "nothing is said"
        assert message.content.strip() or not message.content, "a text of nothing but space"
        if message.role == "assistant":
            waiting = [call["id"] for call in message.tool_calls]
            assert len(set(waiting)) == len(waiting), "two calls with one id"
        else:
            assert message.content
        assert message.role != "system"
    assert not waiting, "a call without its result"


@given(_turns)
def test_any_stored_turns_are_a_valid_history(turns: list[tuple[str, list[Message]]]) -> None:
    said = [message for content, messages in turns for message in said_in(content, messages)]
    check(said)
    assert not any(message.kept or message.reasoning or message.parent for message in said)


@given(st.lists(_messages, max_size=12))
def test_any_state_of_a_turn_is_made_valid_and_stays_so(messages: list[Message]) -> None:
    made = valid(messages)
    check(made)
    assert valid(made) == made


@given(st.lists(_messages, max_size=12))
def test_nothing_that_was_said_is_left_out(messages: list[Message]) -> None:
    def said(found: Sequence[Message]) -> list[str]:
        roles = ("user", "assistant")
        return [item.content for item in found if item.role in roles and item.content.strip()]

    made = [message for message in valid(messages) if message.content != "(no text)"]
    assert said(made) == said(messages)


def test_a_turn_that_ended_between_a_call_and_its_result_has_one_all_the_same() -> None:
    call = {"id": "a", "name": "look", "args": {}}
    transcript = Transcript()
    for event in (ev.ModelStarted(1, "x"), ev.ModelFinished(1, (call,)), ev.Stopped("user")):
        transcript.apply(event)
    closed, opened = transcript.closed(), transcript.messages()
    for messages in (closed, opened):
        made = said_in("hi", messages)
        assert [message.content for message in made] == ["hi", "", NOT_DONE]


def test_results_keep_their_status_and_an_empty_one_says_so() -> None:
    calls: Any = tuple({"id": id, "name": "look", "args": {}} for id in ("a", "b"))
    results = [
        Message("tool", "", tool_call_id="b", name="look"),
        Message("tool", "no", tool_call_id="a", name="look", status="refused"),
    ]
    made = valid([Message("user", "hi"), Message("assistant", "", tool_calls=calls), *results])
    assert [(message.content, message.status) for message in made[2:]] == [
        ("no", "refused"),
        ("(no output)", "ok"),
    ]
