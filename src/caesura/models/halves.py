"""Characters that a provider has cut in two: some split a text in the midst of a surrogate pair."""

from __future__ import annotations

import re
from typing import Literal

from caesura.models.model import CallPart, Piece, Reasoning, Text

#: The place of a tool call, or what else the text belongs to.
Key = int | str | None | tuple[Literal["text", "thought"]]
TEXT: Key = ("text",)
THOUGHT: Key = ("thought",)
_HALF = re.compile("[\ud800-\udfff]")


class Halves:
    """The first half of a character is held back until the text that follows it has come."""

    def __init__(self) -> None:
        self._held: dict[Key, str] = {}

    def join(self, text: str, key: Key) -> str:
        """The whole characters of this text, behind what was held back."""
        text = self._held.pop(key, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._held[key] = text[-1]
            text = text[:-1]
        return joined(text)

    def forget(self, key: Key) -> None:
        """Another text begins in this place."""
        self._held.pop(key, None)

    def rest(self) -> list[Piece]:
        """Halves whose other half has not come."""
        held, self._held = self._held, {}
        return [_piece(key, half) for key, half in held.items()]


def joined(text: str) -> str:
    """The same text with both halves of a character as one character."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _piece(key: Key, half: str) -> Piece:
    if key == TEXT:
        return Text(half)
    if key == THOUGHT:
        return Reasoning(half)
    assert not isinstance(key, tuple)  # noqa: S101 - for the type checker
    return CallPart(key, half)
