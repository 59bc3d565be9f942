"""Reading the feed of a person, and folding it to the state of a list."""

import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Self

import httpx

from tests.api.reading import Event, parse, until

FEED = "/api/v2/feed"


class Feed:
    """A feed that is read in a thread of its own until it is left or cut."""

    def __init__(self, client: Callable[[], httpx.Client], after: int | None = None) -> None:
        self._client, self._after = client, after
        self.events: list[Event] = []
        self.refused: int | None = None
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        until(lambda: bool(self.events) or self.refused is not None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._left.set()
        self._thread.join(30)

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    @property
    def last(self) -> int:
        return int(self.events[-1].id)

    def names(self) -> list[str]:
        return [event.name for event in self.events]

    def wait(self, check: Callable[[list[Event]], bool]) -> None:
        until(lambda: check(self.events))

    def _read(self) -> None:
        headers = {} if self._after is None else {"Last-Event-ID": str(self._after)}
        # The server pings in between: the reader leaves soon after it was told to.
        try:
            with self._client() as client, client.stream("GET", FEED, headers=headers) as response:
                if response.status_code != 200:
                    self.refused = response.status_code
                    return
                for event in parse(self._lines(response)):
                    self.events.append(event)
        except (httpx.HTTPError, _Left):
            pass

    def _lines(self, response: httpx.Response) -> Any:
        for line in response.iter_lines():
            if self._left.is_set():
                raise _Left
            yield line


class _Left(Exception):
    pass


class State:
    """What a client knows that had nothing and then applied these events."""

    def __init__(self) -> None:
        self.conversations: dict[str, dict[str, Any]] = {}
        #: The questions that wait, each with its conversation.
        self._asked: dict[str, str] = {}
        self.inbox: int | None = None

    @property
    def questions(self) -> set[str]:
        return set(self._asked)

    def apply(self, events: Iterable[Event]) -> Self:
        for event in list(events):
            match event.name:
                case "ready":
                    self.inbox = event.data["inbox"]
                case "inbox":
                    self.inbox = event.data["count"]
                case "conversation":
                    shown = {name: value for name, value in event.data.items() if name != "questions"}
                    self.conversations[event.data["id"]] = shown
                case "conversation_deleted":
                    gone = event.data["id"]
                    self.conversations.pop(gone, None)
                    self._asked = {name: place for name, place in self._asked.items() if place != gone}
                case "question_opened":
                    self._asked[event.data["interrupt"]["id"]] = event.data["conversation_id"]
                case "question_closed":
                    self._asked.pop(event.data["interrupt_id"], None)
                case name:
                    raise AssertionError(f"an event that is not expected: {name}")
        return self


def listed(client: httpx.Client) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    cursor = None
    while True:
        params = {"limit": 100} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/v2/conversations", params=params).json()
        found |= {item["id"]: item for item in page["conversations"]}
        if (cursor := page["next"]) is None:
            return found


def asked(client: httpx.Client) -> set[str]:
    return {item["id"] for item in client.get("/api/v2/interrupts").json()["interrupts"]}
