"""The disk: makes commits safe from power loss, in parallel with the writer.

A light commit has written its frames, so it survives a crash of the process. One sync of the write-ahead log
then makes all such commits survive power loss. The writer continues during a sync, and callers that ask
meanwhile share the next one.

After a failed sync the system may have discarded what it could not write, and yet the next sync succeeds.
From then on nothing is acknowledged until a checkpoint has copied the whole log into the database.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from pathlib import Path

from caesura.core.errors import Unavailable

Callback = Callable[[Exception | None], None]


class Disk:
    def __init__(self, log: Path, checkpoint: Callable[[], bool]) -> None:
        """`checkpoint` copies the whole log into the database, and returns whether it succeeded."""
        self._log, self._checkpoint = log, checkpoint
        self._failed = False
        self._handle: int | None = None
        self._waiting: queue.SimpleQueue[Callback | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="caesura-sync", daemon=True)
        self._thread.start()

    def settle(self, callback: Callback) -> None:
        """Call `callback`, with the error if there was one, when everything committed so far is safe."""
        self._waiting.put(callback)

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()
        if self._handle is not None:
            os.close(self._handle)

    def _run(self) -> None:
        open_ = True
        while open_:
            callbacks = [self._waiting.get()]
            while not self._waiting.empty():
                callbacks.append(self._waiting.get())
            open_ = None not in callbacks
            error = self._sync()
            for callback in callbacks:
                if callback is not None:
                    callback(error)

    def _sync(self) -> Exception | None:
        if self._failed and not self._checkpoint():
            return Unavailable()
        self._failed = False
        try:
            if self._handle is None:
                self._handle = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
            os.fdatasync(self._handle)
        except FileNotFoundError:
            return None  # nothing was written yet
        except OSError as cause:
            self._failed = True
            error = Unavailable()
            error.__cause__ = cause
            return error
        return None
