"""How much disk space the workspaces of each person take together, and how much they may take."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from caesura.agents.tools.size import Size, measure
from caesura.core.errors import CaesuraError, WorkspacesFull

#: The bytes on disk that a file takes even if it is empty.
_SMALLEST = 4096
#: Seconds for which measured sizes are valid: other processes may use the same disk. Sizes that took long to
#: measure are valid for longer.
_BELIEVED = 60.0
_TIMES = 20
#: At most this many sizes are kept, over all people. The sizes of people who have not used a tool for longest
#: are dropped first.
_MOST_SIZES = 100_000

#: The conversations of a person.
Conversations = Callable[[str], Awaitable[Sequence[str]]]


async def _no_conversations(person: str) -> Sequence[str]:
    return ()


class DiskShare:
    """`most` is the limit in bytes for each person; None for no limit. `refused` is called for each refusal.
    Thread-safe."""

    def __init__(
        self,
        most: int | None = None,
        root: Path = Path("workspaces"),
        conversations: Conversations = _no_conversations,
        refused: Callable[[CaesuraError], None] = lambda error: None,
    ) -> None:
        self._most, self._root, self._conversations, self._refused = most, root, conversations, refused
        self._people: dict[str, _Held] = {}
        self._measuring: dict[str, asyncio.Future[None]] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(2, "caesura-share")

    async def know(self, person: str) -> None:
        """Measure all workspaces of a person, unless their sizes are known."""
        held = self._people.get(person)
        if self._most is None or (held is not None and time.monotonic() < held.until):
            return
        names = await self._conversations(person)
        measuring = self._measuring.get(person)
        if measuring is None:
            loop = asyncio.get_running_loop()
            measuring = loop.run_in_executor(self._threads, self._measure, person, names)
            self._measuring[person] = measuring
            measuring.add_done_callback(lambda _: self._measuring.pop(person, None))
        # A caller that stops waiting does not cancel the measurement: the next call uses its result.
        await asyncio.shield(measuring)

    def knows(self, person: str) -> bool:
        return person in self._people

    def note(self, person: str, workspace: Path, size: Size) -> bool:
        """Record the size of a workspace. Returns whether the person's workspaces are over the limit."""
        with self._lock:
            held = self._people.get(person)
            if self._most is None or held is None:
                return False
            held.put(workspace.name, _charged(size))
            return held.total > self._most

    def take(self, person: str, workspace: Path, size: Size) -> str | None:
        """Record that a workspace grows to this size, or return why it may not."""
        with self._lock:
            held = self._people.get(person)
            if self._most is None or held is None:
                return None
            if held.without(workspace.name) + _charged(size) <= self._most:
                held.put(workspace.name, _charged(size))
                return None
        return self.refuse()

    def left(self, person: str) -> int:
        with self._lock:
            held = self._people.get(person)
            return sys.maxsize if self._most is None or held is None else max(0, self._most - held.total)

    def forget(self, conversation_id: str) -> None:
        """Drop the size of a workspace that was deleted."""
        with self._lock:
            for held in self._people.values():
                if conversation_id in held.sizes:
                    held.put(conversation_id, 0)

    def refuse(self) -> str:
        """Count a refusal; returns the text for the model."""
        error = WorkspacesFull(
            f"the files of all conversations of this person may hold {self._most} bytes together;"
            " remove files with a command, or ask the person to delete conversations"
        )
        self._refused(error)
        return error.message

    def _measure(self, person: str, names: Sequence[str]) -> None:
        begun = time.monotonic()
        with self._lock:
            before = self._people.setdefault(person, _Held({}, 0.0))
            before.changed.clear()
        sizes = {name: _charged(measure(self._root / name)) for name in names}
        took = time.monotonic() - begun
        with self._lock:
            self._people.pop(person, None)
            known = {name: size for name, size in (sizes | before.changed).items() if size}
            self._people[person] = _Held(known, begun + took + max(_BELIEVED, _TIMES * took))
            count = sum(len(held.sizes) + 1 for held in self._people.values())
            while count > _MOST_SIZES and len(self._people) > 1:
                count -= len(self._people.pop(next(iter(self._people))).sizes) + 1


class _Held:
    """The sizes of one person's workspaces, by conversation; `changed` has those that changed since they were
    last measured."""

    def __init__(self, sizes: dict[str, int], until: float) -> None:
        self.sizes, self.until = sizes, until
        self.total = sum(sizes.values())
        self.changed: dict[str, int] = {}

    def put(self, name: str, size: int) -> None:
        self.total = self.without(name) + size
        self.sizes[name] = self.changed[name] = size
        if not size:
            del self.sizes[name]

    def without(self, name: str) -> int:
        return self.total - self.sizes.get(name, 0)


def _charged(size: Size) -> int:
    return max(size.bytes, _SMALLEST * size.files)
