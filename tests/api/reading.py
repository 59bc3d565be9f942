"""Reading server-sent events, and helpers that many tests use."""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from caesura.core import cursors

OUTCOMES = ("finished", "failed", "stopped", "interrupted")


@dataclass(frozen=True)
class Event:
    id: str
    name: str
    data: Any

    @property
    def seq(self) -> int:
        """The number of a native event within its turn."""
        return cursors.seq(int(self.id))


def parse(lines: Iterator[str]) -> Iterator[Event]:
    """The events of a stream; comments are skipped."""
    fields: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields.setdefault(name, []).append(value)
        elif fields:
            data = "\n".join(fields.get("data", []))
            yield Event(fields.get("id", [""])[0], fields.get("event", [""])[0], json.loads(data))
            fields = {}


async def parse_async(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    held: list[str] = []
    async for line in lines:
        held.append(line)
        if not line:
            for event in parse(iter(held)):
                yield event
            held = []


def events(client: httpx.Client, turn_id: str, after: int | None = None) -> list[Event]:
    """All of a turn's events until the server ends the stream."""
    return list(follow(client, turn_id, after))


def follow(client: httpx.Client, turn_id: str, after: int | None = None) -> Iterator[Event]:
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    with client.stream("GET", f"/api/v2/turns/{turn_id}/events", headers=headers) as response:
        assert response.status_code in (200, 204), response.read()
        yield from parse(response.iter_lines())


def to_segment_end(client: httpx.Client, turn_id: str, after: int | None = None) -> list[Event]:
    found = []
    for event in follow(client, turn_id, after):
        found.append(event)
        if event.name == "segment_ended":
            break
    return found


def conversation(client: httpx.Client, **body: Any) -> str:
    response = client.post("/api/v2/conversations", json=body)
    assert response.status_code == 201, response.text
    made: str = response.json()["id"]
    return made


def send(client: httpx.Client, conversation_id: str, content: str, **body: Any) -> dict[str, Any]:
    response = client.post(
        f"/api/v2/conversations/{conversation_id}/turns", json={"content": content, **body}
    )
    assert response.status_code == 201, response.text
    turn: dict[str, Any] = response.json()
    return turn


def finished(client: httpx.Client, content: str, **body: Any) -> dict[str, Any]:
    """A turn in a new conversation, run to the end of its first segment."""
    turn = send(client, conversation(client), content, **body)
    to_segment_end(client, turn["id"])
    return turn


def outcome(found: list[Event]) -> Event:
    """The outcome of a segment: it comes before the segment's end and before a late title."""
    *_, last, end = [event for event in found if event.name != "title_changed"]
    assert end.name == "segment_ended"
    return last


def text(found: list[Event]) -> str:
    """The agent's text, without voided text."""
    void = {event.data["call"] for event in found if event.name == "text_voided"}
    said = [event.data for event in found if event.name == "text_delta"]
    return "".join(data["text"] for data in said if data["call"] not in void)


def until(check: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)
