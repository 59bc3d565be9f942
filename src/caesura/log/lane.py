"""A lane: commits some streams apart from the others, a bounded number of batches in one transaction at a
time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from caesura.log.stream import Batch, Stream

#: Seconds until a stream that is not due is checked again.
_TICK = 0.005


class Lane:
    def __init__(
        self, name: str, most: int, commit: Callable[[Sequence[Stream], list[Batch]], Awaitable[None]]
    ) -> None:
        """`commit` is given streams and their batches, at most `most` batches altogether."""
        self._name, self._most, self._commit = name, most, commit
        #: When each waiting stream may be written.
        self._due: dict[Stream, float] = {}
        self._busy = False
        self.task: asyncio.Task[None] | None = None

    @property
    def free(self) -> bool:
        """Whether a stream added now would be in the next transaction, and that transaction would begin at
        once."""
        return not self._busy and len(self._due) < self._most

    def add(self, stream: Stream, after: float = 0.0) -> None:
        """Write the batches of this stream after `after` seconds, and after those of the streams added before
        it."""
        self._due[stream] = asyncio.get_running_loop().time() + after
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._run(), name=self._name)

    async def _run(self) -> None:
        while self._due:
            streams, batches = self._take()
            if streams:
                self._busy = True
                try:
                    await self._commit(streams, batches)
                finally:
                    self._busy = False
            else:
                await asyncio.sleep(_TICK)

    def _take(self) -> tuple[list[Stream], list[Batch]]:
        now = asyncio.get_running_loop().time()
        streams: list[Stream] = []
        batches: list[Batch] = []
        for stream, due in self._due.items():
            if len(batches) >= self._most:
                break
            if due <= now:
                streams.append(stream)
                batches += stream.take(self._most - len(batches))
        for stream in streams:
            del self._due[stream]
        return streams, batches
