"""What a model says: the pieces of its reply, added up. Its text is not kept here: the log has it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from caesura.core import ids, json_data
from caesura.engine import calls
from caesura.engine.calls import Calls
from caesura.models.model import CallPart, Finish, Kept, Usage

logger = logging.getLogger(__name__)

#: The largest number of tokens, which every JSON parser can represent exactly.
_MOST_TOKENS = 2**53 - 1
_TOTALS = ("input_tokens", "output_tokens", "total_tokens")
_PARTS = ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
#: The size of all blocks of a reply that the provider wants back, as JSON.
MOST_KEPT = 1024 * 1024
_LONGEST_REASON = 200
_PIECES = "Text, Reasoning, CallPart, Kept, Usage or Finish"


class Reply:
    """A reply without its text. A provider may report anything, so all of it is bounded."""

    def __init__(self) -> None:
        self.usage: dict[str, int] | None = None
        self.finish_reason: str | None = None
        self._calls = Calls()
        self._kept: list[dict[str, Any]] | None = []
        self._size = 0

    def add(self, piece: CallPart | Kept | Usage | Finish) -> None:
        if isinstance(piece, CallPart):
            self._calls.add(piece)
        elif isinstance(piece, Usage):
            self.usage = counted(piece.counts)
        elif isinstance(piece, Finish):
            self.finish_reason = text(piece.reason)[:_LONGEST_REASON] or None
        elif isinstance(piece, Kept):
            self._keep(piece.block)
        else:  # a class of an operator's may yield anything
            raise TypeError(
                f"the model yielded {type(piece).__name__}, not {_PIECES} of caesura.models.model"
            )

    def new_arguments(self, names: Collection[str]) -> Iterator[calls.Piece]:
        """What was added to the calls of these tools since this was asked last."""
        return self._calls.news(names)

    def tool_calls(self, used: Iterable[str]) -> tuple[dict[str, Any], ...]:
        """The calls, with ids that are unique in this turn. Some models count from zero in every reply, and
        each id is run once."""
        taken = set(used)
        read = []
        for call in self._calls.read():
            given = call["id"] or ""
            good = given and given not in taken and len(given) <= calls.ID_LIMIT and given == text(given)
            own = given if good else f"call-{ids.token()}"
            taken.add(own)
            read.append({"id": own, "name": text(call["name"]), "args": json_data.clean(call["args"])})
        return tuple(read)

    @property
    def kept(self) -> tuple[dict[str, Any], ...]:
        return tuple(self._kept or ())

    def _keep(self, block: dict[str, Any]) -> None:
        """All blocks or none: a provider refuses a reply with some of them."""
        if self._kept is None:
            return
        data = json_data.dumps(block)
        self._size += len(data)
        if self._size > MOST_KEPT:
            logger.warning("what the provider wants back with a reply is too large, and is left out")
            self._kept = None
        else:
            self._kept.append(json_data.loads(data))


def counted(reported: Mapping[str, Any]) -> dict[str, int]:
    """Reported tokens as valid counts. Parts of the total that are zero are left out."""
    totals = {name: _count(reported.get(name)) for name in _TOTALS}
    parts = {name: _count(reported.get(name)) for name in _PARTS}
    return totals | {name: count for name, count in parts.items() if count}


def text(given: str) -> str:
    """The text in a form that every database can store."""
    return json_data.text(given).replace("\0", "")


def _count(reported: object) -> int:
    return min(max(reported, 0), _MOST_TOKENS) if isinstance(reported, int) else 0
