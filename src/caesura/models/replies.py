"""A reply as it is read: what every protocol's replies have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from caesura.models import refusals
from caesura.models.failures import ModelError
from caesura.models.model import Piece

_DONE = b"[DONE]"


class Reply:
    """`complete`: the provider has said why it stopped, so nothing is missing. `ended`: nothing more comes.
    `failure`: the reply cannot be read any further."""

    def __init__(self, host: str, secrets: tuple[str, ...]) -> None:
        self.complete = self.ended = False
        self.failure: ModelError | None = None
        self._host, self._secrets = host, secrets

    def take(self, payloads: Iterable[bytes]) -> list[Piece]:
        """The pieces in the data of these events."""
        pieces: list[Piece] = []
        try:
            for payload in payloads:
                if payload == _DONE:
                    self.complete = self.ended = True
                elif payload:
                    for chunk in _chunks(payload):
                        self._read(chunk, pieces)
        except ModelError as error:
            self.failure = error
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            self.failure = ModelError("broken", f"{self._host} sent something that is no part of a reply")
        return pieces

    def whole(self, body: bytes) -> list[Piece]:
        """The pieces of a reply that came in one piece, though a stream was asked for."""
        pieces = self.take([body])
        self.complete = self.ended = True
        return pieces

    def end(self) -> list[Piece]:
        """What is only known at the end."""
        raise NotImplementedError

    def _read(self, chunk: Any, pieces: list[Piece]) -> None:
        """Append the pieces of this event."""
        raise NotImplementedError

    def _refused(self, error: Any) -> ModelError:
        return refusals.from_inside(error, self._host, self._secrets)


def _chunks(payload: bytes) -> list[Any]:
    try:
        return [orjson.loads(payload)]
    except ValueError:
        if b"\n" not in payload:
            raise
    # Some servers leave out the empty lines between events.
    return [orjson.loads(line) for line in payload.split(b"\n") if line.strip() not in (b"", _DONE)]


def count(source: Any, *path: str) -> int:
    """The number at this path; 0 if there is none."""
    for name in path:
        source = source.get(name) if isinstance(source, dict) else None
    return source if isinstance(source, int) and not isinstance(source, bool) and source > 0 else 0
