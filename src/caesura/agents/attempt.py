"""The reading of one agent file in a thread of its own: the code that it names may import for any time."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from caesura.agents import definition, imports
from caesura.agents.definition import Reading
from caesura.agents.faults import Fault

logger = logging.getLogger(__name__)

_REMEDY = "do slow work inside of functions, not while the file is imported"


class Attempt:
    """Nobody can stop a thread. It is a daemon thread, so that code which never ends does not keep the
    process from ending."""

    def __init__(self, path: Path, read: Callable[[Path], Reading]) -> None:
        self._path, self._read = path, read
        #: What may be the cause if the attempt does not end.
        self._sources = (path, *sorted(path.parent.glob("*.py")))
        self._stamp = definition.stamp_of(self._sources)
        self._reading: Reading | None = None
        self._done = threading.Event()
        self._began = time.monotonic()
        #: Whether the fault was told that the attempt takes too long.
        self.told = False
        self._thread = threading.Thread(target=self._run, name="caesura-agent-file", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    @property
    def is_outdated(self) -> bool:
        """Whether a file has changed since, so that another attempt is worth while."""
        return self._stamp != definition.stamp_of(self._sources)

    def wait(self, until: float) -> None:
        """Wait until so many seconds have passed since the beginning, unless it ends before."""
        self._done.wait(max(self._began + until - time.monotonic(), 0))

    def result(self) -> Reading | None:
        """What was read; None while that goes on."""
        return self._reading if self._done.is_set() else None

    def is_late(self, limit: float) -> bool:
        return time.monotonic() - self._began >= limit

    def unfinished(self, limit: float | None = None) -> Reading:
        """A reading that says nothing yet, or the fault that there is none within the limit."""
        faults = () if limit is None else (self._fault(limit),)
        return Reading(self._path, self._stamp, self._sources, None, faults)

    def _run(self) -> None:
        try:
            self._reading = self._read(self._path)
        except BaseException as error:
            # Whatever it is, the other files are read.
            logger.exception("%s could not be read", self._path.name)
            message = f"cannot be read: {type(error).__name__}: {imports.said(error)}"
            fault = Fault(self._path.name, 0, "", message)
            self._reading = Reading(self._path, self._stamp, self._sources, None, (fault,))
        self._done.set()

    def _fault(self, limit: float) -> Fault:
        message = f"the code that {self._path.name} names is still being imported after {limit:g} seconds"
        file, line = self._place()
        return Fault(file, line, "", message, _REMEDY)

    def _place(self) -> tuple[str, int]:
        """The innermost line of the folder's own code that runs now."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        names = {str(source): source.name for source in self._sources[1:]}
        while frame is not None:
            if (name := names.get(frame.f_code.co_filename)) is not None:
                return name, frame.f_lineno
            frame = frame.f_back
        return self._path.name, 0
