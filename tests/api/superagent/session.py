"""A session and what a client does with it."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.api.reading import Event, parse, until

A2UI = {"X-A2UI": "true"}
STREAM = "/api/v1/chat/stream"
RESUME = "/api/v1/chat/resume"


@dataclass(frozen=True)
class Session:
    client: httpx.Client
    agent_id: str
    session_id: str

    @classmethod
    def new(cls, client: httpx.Client, agent: str = "approval-agent") -> Self:
        return cls(client, agent, f"session {uuid.uuid4()}")

    def at(self, client: httpx.Client) -> "Session":
        """The same session over another connection."""
        return Session(client, self.agent_id, self.session_id)

    @property
    def ids(self) -> dict[str, str]:
        return {"agent_id": self.agent_id, "session_id": self.session_id}

    def send(self, message: Any, **body: Any) -> httpx.Response:
        """Send a message and read the response to its end, in the legacy form."""
        return self.client.post(STREAM, json={**self.ids, "message": message, **body})

    def chat(self, message: str, **body: Any) -> list[Event]:
        """Send a message, and read until the stream ends."""
        with self.chatting(message, **body) as found:
            return checked(list(found))

    @contextmanager
    def chatting(self, message: str, **body: Any) -> Iterator[Iterator[Event]]:
        """Send a message, and read its frames as they arrive; leaving early closes the connection."""
        sent = {**self.ids, "message": message, **body}
        with self.client.stream("POST", STREAM, json=sent, headers=A2UI) as response:
            assert response.status_code == 200, response.read()
            yield parse(response.iter_lines())

    def decide(self, input: Any, a2ui: bool = True, **body: Any) -> httpx.Response:
        sent = {**self.ids, "input": input, **body}
        return self.client.post(RESUME, json=sent, headers=A2UI if a2ui else {})

    def resume(self, **input: Any) -> list[Event]:
        """Fill in the form that the session shows now, and read until the stream ends."""
        return parsed(self.decide(input, checkpoint_id=self.state()["checkpoint_id"]))

    def join(self, after: str | None = None) -> list[Event]:
        response = self.joined(after)
        assert response.status_code == 200, (response.status_code, response.text)
        return checked(list(parse(response.iter_lines())), whole=after is None)

    def joined(self, after: str | None = None, a2ui: bool = True) -> httpx.Response:
        headers = (A2UI if a2ui else {}) | ({} if after is None else {"Last-Event-ID": after})
        return self.client.get(STREAM, params=self.ids, headers=headers)

    def waiting(self) -> dict[str, Any]:
        response = self.client.get("/api/v1/chat/interrupt_state", params=self.ids)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        assert set(found) == ({"interrupted", "state"} if found["interrupted"] else {"interrupted"})
        return found

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.waiting()["state"]
        return found

    def interrupt(self) -> str | None:
        """The id of the question that waits, seen over the native API."""
        found = self.client.get("/api/v2/interrupts", params={"limit": 100}).json()["interrupts"]
        own = self.conversation()["id"]
        return next((item["id"] for item in found if item["conversation_id"] == own), None)

    def abort(self) -> bool:
        response = self.client.post("/api/v1/chat/abort", json=self.ids)
        assert response.status_code == 200, response.text
        aborted: bool = response.json()["aborted"]
        return aborted

    def conversation(self) -> dict[str, Any]:
        """The conversation, as the native API lists it: the newest of the person with this agent."""
        found = self.client.get("/api/v2/conversations", params={"limit": 100}).json()["conversations"]
        item: dict[str, Any] = next(item for item in found if item["agent"] == self.agent_id)
        return item

    def turns(self) -> list[dict[str, Any]]:
        found = self.client.get(f"/api/v2/conversations/{self.conversation()['id']}").json()
        turns: list[dict[str, Any]] = found["turns"]
        return turns

    def until_idle(self) -> None:
        until(lambda: self.conversation()["status"] != "running")


def parsed(response: httpx.Response) -> list[Event]:
    """The frames of a response in the A2UI form."""
    assert response.status_code == 200, response.text
    return checked(list(parse(response.iter_lines())))


def checked(found: list[Event], whole: bool = True) -> list[Event]:
    """Check what is true of every stream: one `done`, at the end; a type and a time on each frame; and, if it
    was read as a whole, that `content` equals what was said so far."""
    assert [event.name for event in found].count("done") == 1, found
    assert found[-1].name == "done"
    shown = {"text": "", "thinking": ""}
    for event in found:
        assert set(event.data) == {"type", "timestamp", "data"}
        assert event.data["type"] == event.name
        assert event.data["timestamp"] > 10**12
        if event.name in shown and whole:
            data, before = event.data["data"], shown[event.name]
            shown[event.name] = data["content"]
            # Only a frame without new text may change what was said before.
            assert shown[event.name] == before + data["delta"] or data["delta"] == ""
    assert found[-1].data["data"] is None
    return found


def said(found: list[Event]) -> str:
    """The text that a client shows in the end."""
    shown = ""
    for data in of(found, "text"):
        shown = data["content"]
    return shown


def of(found: list[Event], kind: str) -> list[Any]:
    """The data of the frames of this type."""
    return [event.data["data"] for event in found if event.name == kind]


def one(found: list[Event], kind: str) -> Any:
    (data,) = of(found, kind)
    return data


def kinds(found: list[Event]) -> list[str]:
    """The types of the frames, without text, thinking and the title, which may come at any time."""
    titles = [event for event in found if event.name == "progress" and "title" in event.data["data"]]
    left = [event for event in found if event not in titles]
    return [event.name for event in left if event.name not in ("text", "thinking")]


def tokens(response: httpx.Response) -> list[str]:
    """The data of each frame of a response in the legacy form, by the rules of server-sent events."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block for block in response.content.decode().split("\n\n") if block]
    found = []
    for block in blocks:
        lines = [line for line in block.split("\n") if not line.startswith(":")]
        assert all(line.startswith("data: ") for line in lines), lines
        if lines:
            found.append("\n".join(line.removeprefix("data: ") for line in lines))
    assert found.count("[DONE]") == 1
    assert found[-1] == "[DONE]"
    return found[:-1]


def interrupt_in(found: list[str]) -> Any:
    """The interrupt in these data, which is the last of them."""
    mark = "\0INTERRUPT:"
    assert [text.startswith(mark) for text in found].count(True) == 1
    assert found[-1].startswith(mark)
    return json.loads(found[-1].removeprefix(mark))
