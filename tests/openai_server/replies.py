"""What the server can be told to answer, and how that looks on the wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Call:
    """A tool call. `arguments` is sent as it is when it is a text: it may be no JSON at all."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = "call-1"

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(dict(self.arguments))


@dataclass(frozen=True)
class Say:
    """An answer in pieces: what is thought, what is said, what is wanted. `pause` is between the pieces, or
    before a reply that is not streamed; `width` is how many characters of arguments come at a time."""

    pieces: Sequence[str] | str = ()
    calls: Sequence[Call] = ()
    thought: Sequence[str] = ()
    pause: float = 0.0
    width: int = 3

    def chunks(self, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        yield _chunk({"role": "assistant", "content": ""})
        for piece in self.thought:
            yield _chunk({"reasoning_content": piece})
        for piece in [self.pieces] if isinstance(self.pieces, str) else self.pieces:
            yield _chunk({"content": piece})
        yield from self._calls()
        yield _chunk({}, "tool_calls" if self.calls else "stop")
        if (asked.get("stream_options") or {}).get("include_usage"):
            yield {**_chunk({}), "choices": [], "usage": USAGE}

    def whole(self) -> dict[str, Any]:
        """The same without streaming."""
        content = self.pieces if isinstance(self.pieces, str) else "".join(self.pieces)
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        about = {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "test"}
        return {**about, "choices": [choice], "usage": USAGE}

    def _calls(self) -> Iterator[dict[str, Any]]:
        """The calls side by side, their arguments a few characters at a time."""
        for index, call in enumerate(self.calls):
            function = {"name": call.name, "arguments": ""}
            opening = {"index": index, "id": call.id, "type": "function", "function": function}
            yield _chunk({"tool_calls": [opening]})
        longest = max((len(call.text) for call in self.calls), default=0)
        for start in range(0, longest, self.width):
            for index, call in enumerate(self.calls):
                if part := call.text[start : start + self.width]:
                    yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})


@dataclass(frozen=True)
class Broken:
    """Some pieces, perhaps the beginning of a call, and then the connection is gone."""

    pieces: Sequence[str]
    calls: Sequence[Call] = ()


@dataclass(frozen=True)
class Refusal:
    """An error in place of an answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Error:
    """Some pieces, and then an error inside the stream."""

    pieces: Sequence[str] = ()
    error: Mapping[str, Any] = field(default_factory=lambda: {"message": "overloaded", "code": 503})


@dataclass(frozen=True)
class Hang:
    """Some pieces, perhaps the beginning of a call, and then nothing more, for as long as the client
    waits."""

    pieces: Sequence[str] = ()
    calls: Sequence[Call] = ()


@dataclass(frozen=True)
class Held:
    """The first words of an answer, and the rest when the test says so."""

    words: str
    rest: Say
    go_on: threading.Event = field(default_factory=threading.Event)


Reply = Say | Broken | Error | Refusal | Hang | Held


def said(pieces: Sequence[str], calls: Sequence[Call] = ()) -> Iterator[dict[str, Any]]:
    """The beginning of an answer that does not come to its end."""
    for piece in pieces:
        yield _chunk({"content": piece})
    yield from Say(calls=calls)._calls()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    about = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "test"}
    return {**about, "choices": [choice]}
