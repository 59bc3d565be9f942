"""A thread and what a front end does with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.api.reading import Event, parse, until


@dataclass(frozen=True)
class Thread:
    client: httpx.Client
    id: str

    @classmethod
    def new(cls, client: httpx.Client, agent: str | None = None) -> Self:
        made = client.post("/api/sessions", json=None if agent is None else {"agent": agent})
        assert made.status_code == 201, made.text
        return cls(client, made.json()["thread_id"])

    def at(self, client: httpx.Client) -> "Thread":
        """The same thread over another connection."""
        return Thread(client, self.id)

    def chat(self, message: str, **body: Any) -> list[Event]:
        """Send a message, and read until the stream ends."""
        with self.chatting(message, **body) as found:
            return checked(list(found))

    @contextmanager
    def chatting(self, message: str, **body: Any) -> Iterator[Iterator[Event]]:
        """Send a message, and read its events as they arrive; leaving early closes the connection."""
        url, sent = f"/api/chat/{self.id}", {"message": message, **body}
        with self.client.stream("POST", url, json=sent) as response:
            assert response.status_code == 200, response.read()
            yield parse(response.iter_lines())

    def send(self, message: Any, **body: Any) -> httpx.Response:
        """Send a message whose response is not a stream."""
        return self.client.post(f"/api/chat/{self.id}", json={"message": message, **body})

    def resume(self, action: str, answers: list[str] | None = None) -> list[Event]:
        """Decide on the interrupts that the thread shows now, and read until the stream ends."""
        asked = self.status()["interrupt_info"]
        shown = asked["interrupts"][0]["interrupt_id"] if asked else None
        response = self.decide(action=action, answers=answers, interrupt_id=shown)
        return parsed(response)

    def decide(self, **body: Any) -> httpx.Response:
        return self.client.post(f"/api/resume/{self.id}", json=body)

    def join(self, after: str | None = None) -> list[Event]:
        with self.joining(after) as found:
            return checked(list(found))

    @contextmanager
    def joining(self, after: str | None = None) -> Iterator[Iterator[Event]]:
        headers = {} if after is None else {"Last-Event-ID": after}
        with self.client.stream("GET", f"/api/chat/{self.id}/stream", headers=headers) as response:
            assert response.status_code == 200, (response.status_code, response.read())
            yield parse(response.iter_lines())

    def status(self) -> dict[str, Any]:
        return self._get(f"/api/status/{self.id}")

    def history(self) -> list[tuple[str, str]]:
        body = self._get(f"/api/history/{self.id}")
        assert set(body) == {"thread_id", "messages"}
        assert all(set(item) == {"role", "content"} for item in body["messages"])
        return [(item["role"], item["content"]) for item in body["messages"]]

    def listed(self) -> dict[str, Any]:
        """The thread in the list of sessions."""
        found: list[dict[str, Any]] = self._get("/api/sessions?page_size=100")["threads"]
        return next(item for item in found if item["thread_id"] == self.id)

    def stop(self) -> bool:
        response = self.client.post(f"/api/chat/{self.id}/stop")
        assert response.status_code == 200, response.text
        stopped: bool = response.json()["stopped"]
        return stopped

    def until_idle(self) -> None:
        until(lambda: not self.status()["running"])

    def _get(self, url: str) -> dict[str, Any]:
        response = self.client.get(url)
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body


def parsed(response: httpx.Response) -> list[Event]:
    """The events of a decision that was accepted."""
    assert response.status_code == 200, response.text
    return checked(list(parse(response.iter_lines())))


def checked(found: list[Event]) -> list[Event]:
    """Check what is true of every stream: one `end`, at the end; increasing ids."""
    assert names(found).count("end") == 1, found
    assert found[-1] == Event(found[-1].id, "end", {})
    numbers = [int(event.id) for event in found if event.id]
    assert numbers == sorted(set(numbers))
    return found


def names(found: list[Event]) -> list[str]:
    return [event.name for event in found]


def kinds(found: list[Event]) -> list[str]:
    """The names of the events, without text pieces and without the title, which may come at any time."""
    return [name for name in names(found) if name not in ("messages/partial", "title_updated")]


def said(found: list[Event]) -> str:
    """The text that a front end shows in the end."""
    shown, answer = "", ""
    for event in found:
        if event.name == "messages/partial":
            answer += event.data["content"]
        elif event.name == "messages/reset":
            answer = ""
            shown = "" if event.data.get("scope") == "segment" else shown
        elif event.name.startswith("tool/"):
            shown, answer = shown + answer, ""
    return shown + answer


def one(found: list[Event], name: str) -> Any:
    """The data of the only event of this name."""
    (event,) = [event for event in found if event.name == name]
    return event.data


def read(found: Iterator[Event], pieces: int) -> list[Event]:
    """Events until this many pieces of text have come."""
    taken: list[Event] = []
    while names(taken).count("messages/partial") < pieces:
        taken.append(next(found))
    return taken
