"""Holdings: the memory that results of tool calls take, in one running turn and in all turns of a person
that run in this process.

A result that does not fit is cut before it is journalled. So the agent reads the same text after a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from caesura.core import outputs
from caesura.core.messages import Message
from caesura.engine import texts

#: A turn may hold this many bytes, whatever the other turns of the person hold.
_ALWAYS = 256 * 1024
#: A result of which fewer characters would be left is left out as a whole.
_WORTH = 500


class Holding:
    """What one turn holds."""

    def __init__(self, most: int, together: int, people: Counter[str], person: str) -> None:
        self._most, self._together = most, together
        self._people, self._person = people, person
        self._sizes: dict[str, int] = {}
        self._size = 0

    def recall(self, messages: Iterable[Message]) -> None:
        """Count the results that the turn already has. They are held whatever their size is."""
        for message in messages:
            if message.role == "tool":
                self._hold(message.tool_call_id or "", outputs.size(message.content))

    def keep(self, call_id: str, text: str) -> str:
        """As much of this result as there is space for. A call that is made again has one result."""
        self._hold(call_id, 0)
        kept = self._fitting(text)
        self._hold(call_id, outputs.size(kept))
        return kept

    def close(self) -> None:
        for call_id in list(self._sizes):
            self._hold(call_id, 0)

    def _hold(self, call_id: str, size: int) -> None:
        added = size - self._sizes.pop(call_id, 0)
        if size:
            self._sizes[call_id] = size
        self._size += added
        self._people[self._person] += added
        if not self._people[self._person]:
            del self._people[self._person]

    def _fitting(self, text: str) -> str:
        size = outputs.size(text)
        own, others = self._most - self._size, self._together - self._people[self._person]
        left = max(min(own, others), min(_ALWAYS, self._most) - self._size, 0)
        if size <= left:
            return text
        person = texts.results_of_person_full(self._together)
        why = texts.results_full(self._most) if own <= others else person
        characters = len(text) * left // size
        if characters < _WORTH:
            return texts.left_out(len(text), why)
        return outputs.bounded(text, characters, why)


class Holdings:
    """`most` is how many bytes one turn may hold, `together` how many all running turns of a person may."""

    def __init__(self, most: int, together: int) -> None:
        self._most, self._together = most, together
        self._people: Counter[str] = Counter()

    def __getitem__(self, person: str) -> int:
        """The bytes that the turns of this person hold."""
        return self._people[person]

    @contextmanager
    def of(self, person: str) -> Iterator[Holding]:
        """What a turn of this person holds while it runs."""
        holding = Holding(self._most, self._together, self._people, person)
        try:
            yield holding
        finally:
            holding.close()
