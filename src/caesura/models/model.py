"""A chat model: it takes messages and tool schemas, and yields the pieces of its reply as they arrive."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple, Protocol

from caesura.core.messages import Message


class Schema(NamedTuple):
    """A tool as a model sees it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Text(NamedTuple):
    text: str


class Reasoning(NamedTuple):
    text: str


class CallPart(NamedTuple):
    """A part of a tool call. Parts with the same place belong to one call, unless their ids differ. The
    arguments of all parts together are JSON text."""

    place: int | str | None
    args: str = ""
    id: str = ""
    name: str = ""


class Kept(NamedTuple):
    """A block that the provider wants back, unchanged, with this reply, as long as the turn lasts. It is in
    `Message.kept` of the reply, in the order in which the blocks came."""

    block: dict[str, Any]


class Usage(NamedTuple):
    """Tokens of the whole call: `input_tokens`, `output_tokens`, `total_tokens`, and `cache_read_tokens`,
    `cache_write_tokens` and `reasoning_tokens` if there were any. The last piece of this kind counts."""

    counts: dict[str, int]


class Finish(NamedTuple):
    """Why the reply ended, in the provider's word."""

    reason: str


Piece = Text | Reasoning | CallPart | Kept | Usage | Finish


class Model(Protocol):
    """A stream may fail at any moment with a `ModelError`. Closing it closes the connection behind it."""

    @property
    def label(self) -> str:
        """The model's name for people."""

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        """The pieces of the reply to these messages. A system message comes first, if there is one."""
