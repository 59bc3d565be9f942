"""A reply as it is read: what every protocol's replies have in common."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import orjson

from caesura.core import json_data
from caesura.models import refusals
from caesura.models.failures import ModelError
from caesura.models.halves import Halves, Key
from caesura.models.model import Piece

_DONE = b"[DONE]"
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,64}")
#: The most characters that are kept for the provider, and the most tool calls of a reply.
_MOST_KEPT, _MOST_CALLS = 8 * 1024 * 1024, 1_000
#: From this many bytes on an event is checked before it is read: the most lists and objects, and the most
#: lines. To read more of them would keep the event loop busy for too long.
_LARGE, _MOST_PARTS = 64 * 1024, 20_000


class Reply(ABC):
    """`complete`: the provider has said why it stopped, so nothing is missing. `ended`: nothing more comes.
    `failure`: the reply cannot be read any further."""

    def __init__(self, host: str, secrets: tuple[str, ...]) -> None:
        self.complete = self.ended = False
        self.failure: ModelError | None = None
        self._host, self._secrets = host, secrets
        self._kept = 0
        self._halves: Halves | None = None
        self._reason: str | None = None

    def take(self, payloads: Iterable[bytes]) -> list[Piece]:
        """The pieces in the data of these events."""
        pieces: list[Piece] = []
        try:
            for payload in payloads:
                if payload == _DONE:
                    self.complete = self.ended = True
                elif payload:
                    for chunk in self._chunks(payload):
                        self._read(chunk, pieces)
        except ModelError as error:
            self.failure = error.with_traceback(None)  # which would keep this reply
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            self.failure = ModelError("broken", f"{self._host} sent something that is no part of a reply")
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        """The pieces of a reply that came in one piece, though a stream was asked for."""
        pieces = self.take([body])
        self.ended = True
        self.complete = self.complete or bool(pieces)
        return pieces

    def rest(self) -> list[Piece]:
        """What was held back."""
        return self._halves.rest() if self._halves is not None else []

    @abstractmethod
    def end(self) -> list[Piece]:
        """What is only known at the end."""

    @abstractmethod
    def _read(self, chunk: Any, pieces: list[Piece]) -> None:
        """Append the pieces of this event."""

    def _text_of(self, value: Any, key: Key) -> str:
        """A part of a text, as far as its characters are complete."""
        found = string(value)
        return found if self._halves is None else self._halves.join(found, key)

    def _keep(self, part: Any) -> str:
        """A part of what goes back to the provider, which nobody sees and nobody else bounds."""
        kept = string(part)
        self._kept += len(kept)
        if self._kept > _MOST_KEPT:
            raise ModelError("broken", f"{self._host} sent too much that is to go back")
        return kept

    def _count_call(self, number: int) -> None:
        if number > _MOST_CALLS:
            raise ModelError("broken", f"{self._host} sent too many tool calls")

    def _stopped(self, reason: Any) -> None:
        """The provider says why it stopped. Only a plain word is told, since people and logs see it."""
        word = refusals.scrubbed(reason, self._secrets) if isinstance(reason, str) else ""
        self._reason, self.complete = word if _WORD.fullmatch(word) else None, True

    def _refused(self, error: Any) -> ModelError:
        return refusals.from_inside(error, self._host, self._secrets)

    def _chunks(self, payload: bytes) -> list[Any]:
        if len(payload) > _LARGE:
            self._bound(payload)
        try:
            return [self._loaded(payload)]
        except ValueError:
            if b"\n" not in payload:
                raise
        # Some servers leave out the empty lines between events.
        return [self._loaded(line) for line in payload.split(b"\n") if line.strip() not in (b"", _DONE)]

    def _loaded(self, payload: bytes) -> Any:
        try:
            return orjson.loads(payload)
        except ValueError:
            # Only the slower parser takes half of a character, as servers send it that split a text anywhere.
            if b"\\u" not in payload:
                raise
            json_data.check_parts(payload)
            self._halves = self._halves or Halves()
            return json.loads(payload)

    def _bound(self, payload: bytes) -> None:
        if payload.count(b"\n") > _MOST_PARTS or json_data.crowded(payload, _MOST_PARTS):
            raise ModelError("broken", f"{self._host} sent an event with too many parts")


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is no text")
    return value


def word(value: Any) -> str:
    """An id or a name, which some servers send as a number or leave out."""
    if value is None or isinstance(value, str | int):
        return str(value or "")
    raise TypeError("a word is no word")


def count(source: Any, *path: str) -> int:
    """The number at this path; 0 if there is none."""
    for name in path:
        source = source.get(name) if isinstance(source, dict) else None
    return source if isinstance(source, int) and not isinstance(source, bool) and source > 0 else 0
