"""Measures the server from inside its process, and reports on SIGUSR1: pauses of the loop, tasks, memory."""

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.pauses import Pauses

_LOOK = 0.01
_LONG = 0.05


class Gauge:
    """Runs in the loop that it measures. Each report begins a new measurement of pauses."""

    def __init__(self, told: Path) -> None:
        self._told = told
        self._pauses = Pauses()
        self._worst, self._stack = 0.0, ""

    def begin(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._tell)
        self._pauses.begin()
        clock = time.pthread_getcpuclockid(threading.get_ident())
        threading.Thread(target=self._watch, args=(threading.get_ident(), clock), daemon=True).start()

    def _tell(self) -> None:
        self._pauses.end()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        figures = {
            "pause": self._pauses.longest,
            "stack": self._stack,
            "tasks": Counter(_name(task) for task in asyncio.all_tasks()),
            "memory": _memory(),
            "objects": len(gc.get_objects()),
        }
        unfinished = self._told.with_suffix(".new")
        unfinished.write_text(json.dumps(figures))
        unfinished.rename(self._told)
        self._worst, self._stack = 0.0, ""
        self._pauses.begin()

    def _watch(self, thread: int, clock: int) -> None:
        """Keep the stack of the longest pause: its length alone does not say where to look."""
        while True:
            time.sleep(_LOOK)
            busy = time.clock_gettime(clock) - self._pauses._last
            if busy > max(self._worst, _LONG):
                found = "".join(traceback.format_stack(sys._current_frames()[thread]))
                self._worst, self._stack = busy, found


def _name(task: asyncio.Task[object]) -> str:
    return getattr(task.get_coro(), "__qualname__", task.get_name())


def _memory() -> int:
    """The resident memory of the process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
