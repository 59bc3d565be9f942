"""A reader that resumes after power loss, with any id that it ever had, ends with what a new reader shows."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from caesura.core.events import Envelope
from caesura.dialects.artifactflow.encode import Encoder
from caesura.http.frames import encoded
from tests.api.artifactflow.message import ENDS, Message
from tests.api.reading import Event, conversation, parse
from tests.api.server import Served
from tests.api.test_void_cursors import LOSSES, Turns, lost_twice

Segments = list[list[Any]]


@pytest.mark.parametrize(("first", "second"), LOSSES)
def test_resumed_at_any_id_of_any_attempt_equals_unbroken(
    server: Served, alice: httpx.Client, first: int, second: int
) -> None:
    written = server.call(lost_twice(server.database, conversation(alice), first, second))
    screen = shown(frames(written, written.log))
    assert [segment[-1][0] for segment in screen] == ["interrupt", "complete"]
    for held, cursor in [reader for reader in written.readers if reader[0]]:
        seen = frames(written, held)
        assert shown(seen, rejoined(alice, written, str(cursor))) == screen, cursor


def frames(written: Turns, log: Sequence[Envelope]) -> list[Event]:
    """What a reader of these events has been sent."""
    encoder = Encoder(written.turn.conversation_id, written.turn.id)
    return list(parse(iter(encoded(encoder, encoder.start(1), log)[1].decode().split("\n"))))


def rejoined(client: httpx.Client, written: Turns, after: str) -> list[Event]:
    """All events that are sent to a reader that reconnects until nothing is left."""
    url = f"/api/v1/stream/{written.turn.id.replace('turn-', 'thd-')}"
    message = Message(client, "", "", "", url)
    found: list[Event] = []
    while client.get(url, headers={"Last-Event-ID": after}).status_code == 200:
        with message.reading(after) as more:
            found += list(more)
        after = found[-1].id
        assert found[-1].name in ENDS
    return found


def shown(*streams: list[Event]) -> Segments:
    """The content of a front end, as docs/api-artifactflow.md says."""
    segments: Segments = []
    for event in [event for stream in streams for event in stream]:
        kind = event.data["type"] if event.name == "stream" else event.name
        data = event.data["data"] if event.name == "stream" else event.data
        if kind == "metadata":
            segments.append([])
        elif kind == "restart" and data:
            segments = segments[:-1]
        elif kind == "restart":
            places = [place for place, item in enumerate(segments[-1]) if item[0] == "start"]
            del segments[-1][places[-1] :]
        else:
            segments[-1].append((kind, data))
    return segments
