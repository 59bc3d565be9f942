"""What the server refuses, as the real one does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.anthropic_server.history import fault_in

HEADERS = {"anthropic-version": "2023-06-01"}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "s"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "look", "input": {}}


def result(call: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": "x", **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


HI = user(text("hi"))


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [assistant(text("hi"))],
        [HI, assistant(text("hello"))],
        [HI, HI],
        [HI, assistant(use("1")), HI],
        [HI, assistant(use("1")), user(text("well"), result("1"))],
        [HI, assistant(use("1"), use("2")), user(result("1"))],
        [HI, assistant(use("1")), user(result("1"), result("2"))],
        [HI, assistant(text("hello")), user(result("1"))],
        [HI, assistant(text(" ")), HI],
        [user(text("")), assistant(text("hello")), HI],
        [HI, assistant(), HI],
        [HI, assistant(use("a.b")), user(result("a.b"))],
        [HI, assistant(use("1")), user(result("1")), assistant(use("1")), user(result("1"))],
        [HI, assistant(text("hello"), THOUGHT), HI],
        [HI, assistant(use("1")), user(result("1", content="", is_error=True))],
    ],
)
def test_a_history_that_claude_does_not_take_is_refused(messages: list[dict[str, Any]]) -> None:
    assert fault_in(HEADERS, {"max_tokens": 1, "messages": messages})


def test_a_good_history_is_taken() -> None:
    messages = [
        HI,
        assistant(THOUGHT, text("well"), use("1"), use("2")),
        user(result("2"), result("1"), text("and?")),
    ]
    assert fault_in(HEADERS, {"max_tokens": 1, "messages": messages, "temperature": 0.5}) is None


def test_a_request_for_another_version_is_refused() -> None:
    asked = {"max_tokens": 1, "messages": [HI]}
    assert fault_in({"anthropic-version": "2023-01-01"}, asked)
    assert fault_in({"anthropic-version": "2026-10-21"}, {**asked, "temperature": 1})
    assert fault_in({"anthropic-version": "2026-10-21"}, asked) is None
