"""The secret values of an MCP server's entry, which no log and no message of ours may show."""

from __future__ import annotations

from collections.abc import Iterable

from caesura.core import shown

_HIDDEN = "[hidden]"
#: A shorter value is hardly a key, and would be found in ordinary words.
_SHORTEST = 8
_LONGEST_TOLD = 300


class Secrets:
    def __init__(self, values: Iterable[str]) -> None:
        parts = {part for value in values for part in (value, *value.split())}
        #: Longest first: a key may contain another.
        self._values = sorted((part for part in parts if len(part) >= _SHORTEST), key=len, reverse=True)

    def hidden(self, text: str) -> str:
        """The text without the values."""
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return text

    def line(self, text: str) -> str:
        """The beginning of the text on one line, for a log or a message."""
        told = shown.line(self.hidden(text)).strip()
        return told if len(told) <= _LONGEST_TOLD else f"{told[:_LONGEST_TOLD]}…"
