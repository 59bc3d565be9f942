"""What a tool call shows while it works."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from caesura.core import events as ev
from caesura.core import json_data, shown
from caesura.core.errors import CaesuraError
from caesura.engine.run import Run

#: At most this many characters are shown, and a text for at least this many seconds.
LONGEST = 500
_INTERVAL = 0.5


class Progress:
    """Any thread may tell, as often as it likes: the newest text becomes an event when the one before has
    been shown long enough. Nobody waits for it. After `close`, and in a log that is full, nothing is
    shown."""

    def __init__(self, run: Run, tool_call_id: str) -> None:
        self._run, self._id = run, tool_call_id
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest = self._shown = ""
        self._due = False
        self._closed = False
        self._at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def tell(self, text: str) -> None:
        line = shown.line(json_data.text(" ".join(str(text)[:LONGEST].split())))[:LONGEST]
        with self._lock:
            self._newest = line
            if self._due or self._closed:
                return
            self._due = True
        with suppress(RuntimeError):  # the server has ended meanwhile
            self._loop.call_soon_threadsafe(self._plan)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _plan(self) -> None:
        if not self._closed:
            self._timer = self._loop.call_at(max(self._at + _INTERVAL, self._loop.time()), self._show)

    def _show(self) -> None:
        with self._lock:
            text, self._due = self._newest, False
        if self._closed or text == self._shown or not text or self._run.full(len(text) * 4):
            return
        self._shown, self._at = text, self._loop.time()
        with suppress(CaesuraError):  # the run finds out itself that nothing can be written
            self._run.say(ev.ToolProgress(self._id, text))
