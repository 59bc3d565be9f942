"""A document that a model is writing, in the events and in the snapshot of the native API."""

import json
from typing import Any

import httpx
import pytest

from tests.api.reading import conversation, follow, outcome, send, to_segment_end, until
from tests.api.slow_model import hold_words

TREES = "Oaks grow old, and many of them are older than the houses around them. " * 4 + "Then beeches."
ARGS = json.dumps({"path": "trees.md", "content": TREES})


def _newest(client: httpx.Client, conversation_id: str) -> dict[str, Any]:
    """The newest turn in the snapshot."""
    found: dict[str, Any] = client.get(f"/api/v2/conversations/{conversation_id}/snapshot").json()["turns"][
        -1
    ]
    return found


def test_a_client_that_comes_in_the_middle_has_what_was_written_and_goes_on(
    alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held,) = hold_words(monkeypatch, "beeches")
    try:
        here = conversation(alice)
        turn = send(alice, here, f"write trees.md: {TREES}")
        held.until_reached()
        until(lambda: "older than the houses" in json.dumps(_newest(alice, here)["writing_tools"]))
        seen = _newest(alice, here)
        assert not any(message["tool_calls"] for message in seen["messages"])
        [writing] = seen["writing_tools"]
        assert writing["name"] == "write_file"
        assert (writing["index"], writing["parent"]) == (0, None)
        assert ARGS.startswith(writing["text"])
        tree = alice.get(f"/api/v2/conversations/{here}").json()
        assert ARGS.startswith(tree["turns"][0]["writing_tools"][0]["text"])
    finally:
        held.release()
    later = to_segment_end(alice, turn["id"], after=seen["cursor"])
    pieces = [event.data for event in later if event.name == "call_delta"]
    assert all(set(piece) == {"call", "index", "text", "name"} for piece in pieces)
    assert all(piece["call"] == writing["call"] for piece in pieces)
    whole = writing["text"] + "".join(piece["text"] for piece in pieces)
    assert ARGS.startswith(whole)
    asked = outcome(later)
    assert asked.name == "interrupted"
    assert asked.data["interrupts"][0]["args"] == json.loads(ARGS)
    assert _newest(alice, here)["writing_tools"] == []


def test_a_stream_that_begins_with_a_piece_tells_its_time(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), f"write trees.md: {TREES}")
    found = to_segment_end(alice, turn["id"])
    first = next(event for event in found if event.name == "call_delta")
    with alice.stream("GET", f"/api/v2/turns/{turn['id']}/events?after={int(first.id) - 1}") as response:
        lines = response.iter_lines()
        assert next(lines).startswith(": at 1")
    again = next(follow(alice, turn["id"], int(first.id) - 1))
    assert again == first
