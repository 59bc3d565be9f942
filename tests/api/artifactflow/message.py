"""A message of API B and what a front end does with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.api.reading import Event, parse, until

ENDS = ("complete", "interrupt", "error")
LIVE = ("queued", "running")


@dataclass(frozen=True)
class Message:
    client: httpx.Client
    conversation_id: str
    id: str
    thread_id: str
    url: str

    @classmethod
    def send(cls, client: httpx.Client, content: str, **body: Any) -> Self:
        """Send a message, the first one of a new conversation unless the body names one."""
        return cls.of(client, sent(client, content, **body))

    @classmethod
    def of(cls, client: httpx.Client, response: httpx.Response) -> Self:
        assert response.status_code == 200, response.text
        body = response.json()
        assert set(body) == {"conversation_id", "message_id", "thread_id", "stream_url"}
        assert body["stream_url"] == f"/api/v1/stream/{body['thread_id']}"
        return cls(client, body["conversation_id"], body["message_id"], body["thread_id"], body["stream_url"])

    def at(self, client: httpx.Client) -> "Message":
        """The same message over another connection."""
        return Message(client, self.conversation_id, self.id, self.thread_id, self.url)

    def then(self, content: str, **body: Any) -> "Message":
        """The next message of the conversation: on the active branch unless the body names a parent."""
        return Message.send(self.client, content, conversation_id=self.conversation_id, **body)

    def read(self, after: str | None = None) -> list[Event]:
        """The stream to its end."""
        with self.reading(after) as found:
            return checked(list(found), whole=after is None)

    @contextmanager
    def reading(self, after: str | None = None) -> Iterator[Iterator[Event]]:
        """The stream as it arrives; leaving early closes the connection."""
        headers = {} if after is None else {"Last-Event-ID": after}
        with self.client.stream("GET", self.url, headers=headers) as response:
            assert response.status_code == 200, (response.status_code, response.read())
            yield parse(response.iter_lines())

    def decide(self, **body: Any) -> httpx.Response:
        url, ids = f"/api/v1/chat/{self.conversation_id}/resume", {"thread_id": self.thread_id}
        return self.client.post(url, json={**ids, "message_id": self.id, **body})

    def resume(self, **body: Any) -> list[Event]:
        """Decide on what is shown now, and read the stream that follows."""
        shown = self.shown()["interrupt"]["interrupt_data"]
        named = {"interrupt_id": shown["interrupt_id"]} if len(shown["requests"]) == 1 else {}
        response = self.decide(**(named | body))
        assert response.status_code == 200, response.text
        assert response.json() == {"stream_url": self.url}
        return self.read()

    def cancel(self, **body: Any) -> bool:
        response = self.client.post(f"/api/v1/chat/{self.conversation_id}/cancel", json=body or None)
        assert response.status_code == 200, response.text
        cancelled: bool = response.json()["cancelled"]
        return cancelled

    def detail(self) -> dict[str, Any]:
        response = self.client.get(f"/api/v1/chat/{self.conversation_id}")
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def shown(self) -> dict[str, Any]:
        """The message in its conversation."""
        found: list[dict[str, Any]] = self.detail()["messages"]
        return next(item for item in found if item["id"] == self.id)

    def until(self, *statuses: str) -> None:
        until(lambda: self.shown()["status"] in statuses)


def sent(client: httpx.Client, content: Any, **body: Any) -> httpx.Response:
    return client.post("/api/v1/chat", json={"content": content, **body})


def place(event: Event) -> tuple[int, float]:
    """The place of an event in its stream: `12.1` and `12.2` come before `12`."""
    number, _, part = event.id.partition(".")
    return int(number), int(part) if part else float("inf")


def checked(found: list[Event], *, whole: bool) -> list[Event]:
    """Check what is true of every stream: one end, at the end; increasing ids; a whole one begins with
    `metadata`."""
    assert [event.name for event in found if event.name in ENDS] == [found[-1].name], found
    places = [place(event) for event in found if event.id]
    assert places == sorted(set(places))
    if whole:
        assert [number for number, event in enumerate(found) if event.name == "metadata"] == [0]
    return found


def kinds(found: list[Event]) -> list[str]:
    """The events, those named `stream` by their type, without pieces of text and without the title."""
    names = [event.data["type"] if event.name == "stream" else event.name for event in found]
    return [name for name in names if name not in ("llm_chunk", "title")]


def typed(found: list[Event], kind: str) -> list[dict[str, Any]]:
    """The data of the `stream` events of this type."""
    return [event.data["data"] for event in found if event.name == "stream" and event.data["type"] == kind]


def said(found: list[Event]) -> str:
    """The text of the newest model call, as a front end shows it."""
    text = ""
    for event in found:
        kind = event.data["type"] if event.name == "stream" else event.name
        if kind in ("start", "restart"):
            text = ""
        elif kind == "llm_chunk":
            text += event.data["data"]["content"]
    return text


def last(found: list[Event], name: str) -> dict[str, Any]:
    """The data of the last event, which has this name."""
    assert found[-1].name == name, found[-1]
    data: dict[str, Any] = found[-1].data
    return data


def words(found: Iterator[Event], count: int = 1) -> list[Event]:
    """Events until this many pieces of text have come."""
    taken: list[Event] = []
    while len(typed(taken, "llm_chunk")) < count:
        taken.append(next(found))
    return taken
