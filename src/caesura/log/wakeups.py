"""Wake-ups between processes: a hint that a turn has new events. The rows are authoritative. A lost hint
costs time (the log polls once a second), never an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Wakeups(Protocol):
    def listen(self, heard: Callable[[int], None]) -> None:
        """Call `heard` with the number of each turn that another process wrote to."""
        ...

    def tell(self, turns: Iterable[int]) -> None:
        """Notify the other processes, without waiting for them."""
        ...


class Alone:
    """No other process writes here."""

    def listen(self, heard: Callable[[int], None]) -> None:
        pass

    def tell(self, turns: Iterable[int]) -> None:
        pass
