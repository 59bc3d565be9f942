"""The heart of a process: renews the leases of its turns, and looks for stops that other processes requested.

It beats in a separate thread, so that a busy event loop does not look like a dead process.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from caesura.core.errors import CaesuraError
from caesura.store import life
from caesura.store.database import Database

logger = logging.getLogger(__name__)

#: When a turn's row is locked, its lease is renewed after this many seconds, with this many attempts.
_MOMENT, _RENEWALS = 0.05, 10
#: Seconds until the next attempt after the leases could not be renewed.
_SOON = 1.0
#: Seconds between two looks for stops that other processes requested.
_LOOK = 0.5

Job = TypeVar("Job")
#: The turns with a requested stop have its reason, all others None.
Turns = Mapping[int, str | None]
Heard = Callable[[dict[int, Job], Turns], None]


class Heart(Generic[Job]):
    def __init__(
        self,
        database: Database,
        owner: str,
        lease_ms: int,
        jobs: dict[int, Job],
        renewed: Heard[Job],
        stopped: Heard[Job],
    ) -> None:
        """`jobs` are the turns that run now. The event loop calls `renewed` after each heartbeat, with the
        turns that this owner still has, and `stopped` with the turns that are asked to stop. Both also get
        the jobs as they were before the rows were read."""
        self._database, self._owner, self._lease_ms, self._jobs = database, owner, lease_ms, jobs
        self._renewed, self._stopped = renewed, stopped
        #: The time of the last heartbeat. Storage that does not respond may delay heartbeats.
        self._beat_at = time.monotonic()
        self._blind = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._beat, args=(loop,), name="caesura-lease", daemon=True)
        self._thread.start()

    def stop(self, within: float) -> None:
        """Stop beating, and wait for the thread at most `within` seconds. Blocks."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(within)

    @property
    def alive(self) -> bool:
        silent = time.monotonic() - self._beat_at
        return self._thread is not None and self._thread.is_alive() and silent < self._lease_ms / 1000

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        pause = usual = self._lease_ms / 3000
        try:
            while not self._rest(pause, loop):
                self._beat_at = time.monotonic()
                pause = usual if self._renew(loop) else min(usual, _SOON)
        except _LoopClosed:
            return  # the process ends

    def _rest(self, seconds: float, loop: asyncio.AbstractEventLoop) -> bool:
        """Wait until the next heartbeat is due, and look for stops meanwhile, if other processes can request
        any. Returns whether there is none."""
        if not self._database.shared:
            return self._ended.wait(seconds)
        due = time.monotonic() + seconds
        while (left := due - time.monotonic()) > _LOOK:
            if self._ended.wait(_LOOK):
                return True
            self._look(loop)
        return self._ended.wait(max(left, 0))

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Find the stops that were requested since. If that fails, the next heartbeat finds them too."""
        jobs = dict(self._jobs)
        if not jobs:
            return
        try:
            found = self._database.write_now(life.stops, self._owner)
        except Exception as error:  # noqa: BLE001 - the heart must go on beating
            if not self._blind:
                _warn("stops that other processes request are found late", error)
            self._blind = True
            return
        self._blind = False
        if found:
            _tell(loop, self._stopped, jobs, found)

    def _renew(self, loop: asyncio.AbstractEventLoop) -> bool:
        jobs = dict(self._jobs)
        if not jobs:
            return True
        try:
            kept = self._kept(jobs)
        except Exception as error:  # noqa: BLE001 - the heart must go on beating
            _warn("leases could not be renewed", error)
            return False
        _tell(loop, self._renewed, jobs, kept)
        return True

    def _kept(self, numbers: Iterable[int]) -> dict[int, str | None]:
        """The turns that this process still owns, each with its requested stop, if any. A lease whose row
        stays locked is renewed with the next heartbeat."""
        kept: dict[int, str | None] = {}
        locked: dict[int, str | None] = dict.fromkeys(numbers)
        for _ in range(_RENEWALS):
            kept |= self._database.write_now(life.renew, self._owner, list(locked), self._lease_ms)
            missing = [num for num in locked if num not in kept]
            locked = self._database.write_now(life.held, self._owner, missing) if missing else {}
            if not locked or self._ended.wait(_MOMENT):
                break
        return kept | locked


class _LoopClosed(Exception):
    pass


def _tell(
    loop: asyncio.AbstractEventLoop, heard: Heard[Job], jobs: dict[int, Job], turns: Mapping[int, str | None]
) -> None:
    try:
        loop.call_soon_threadsafe(heard, jobs, turns)
    except RuntimeError as error:
        raise _LoopClosed from error


def _warn(what: str, error: Exception) -> None:
    logger.warning("%s: %s", what, error, exc_info=None if isinstance(error, CaesuraError) else error)
