"""What the server refuses, as real providers do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.openai_server.history import fault_in

USER = {"role": "user", "content": "hi"}
CALLS = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}, {"id": "2"}]}


def tool(call: str) -> dict[str, Any]:
    return {"role": "tool", "content": "x", "tool_call_id": call}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER, CALLS],
        [USER, CALLS, tool("1")],
        [USER, CALLS, tool("1"), USER, tool("2")],
        [USER, CALLS, tool("1"), tool("2"), tool("2")],
        [USER, tool("1")],
        [USER, {**CALLS, "tool_calls": [{"id": "1", "function": {"arguments": {}}}]}, tool("1")],
        [USER, {**CALLS, "tool_calls": [{"id": "1"}]}, {**tool("1"), "content": None}],
        [tool("1"), CALLS],
        [USER, {"role": "assistant", "content": ""}],
        [USER, {"role": "system", "content": "late"}],
        [{"role": "robot", "content": "hi"}],
    ],
)
def test_a_history_that_no_provider_takes_is_refused(messages: list[dict[str, Any]]) -> None:
    assert fault_in(messages)


def test_a_good_history_is_taken() -> None:
    system = {"role": "system", "content": "be brief"}
    assert (
        fault_in([system, USER, CALLS, tool("2"), tool("1"), {"role": "assistant", "content": "ok"}]) is None
    )
