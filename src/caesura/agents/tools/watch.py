"""Watching a command while it runs, and ending it when it exceeds its limits.

The kernel has no limit for what all processes of a command write together, nor, without a control group, for
their memory and number. So the watch checks several times a second, and does not see what happens between two
checks.
"""

from __future__ import annotations

import math
import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from caesura.agents.tools.size import Quota, Size, measure

_PAUSE = 0.1
_LONGEST_LOOK = 20.0
#: A command may overwrite its files: it may write this many times the workspace's quota.
_WRITTEN = 4
#: The most that a Unix socket can hold, with the usual kernel settings. The kernel does not report how much
#: it holds.
_SOCKET = 416 * 1024
_KIB = 1024


class Allowed(NamedTuple):
    """The limits of a command. `crowded` is called with the size of the workspace, and returns whether the
    person's workspaces hold too much together; `refuse` then returns the text for the model."""

    memory: int
    processes: int
    quota: Quota
    crowded: Callable[[Size], bool] = lambda size: False
    refuse: Callable[[], str] = str


class Watch:
    """Watches the process tree below one process. `reason` tells the model why the command was ended."""

    def __init__(self, pid: int, workspace: Path, before: Size, allowed: Allowed) -> None:
        self._pid, self._workspace, self._before, self._allowed = pid, workspace, before, allowed
        # If the workspace is already over the quota, a command that frees space may still run. The same goes
        # for a workspace that takes too long to measure: in it no file can grow.
        self._most = Quota(max(allowed.quota.bytes, before.bytes), max(allowed.quota.files, before.files))
        self._handle = os.pidfd_open(pid)  # a process id may be reused before the kill
        self._over = threading.Event()
        self._next_measure = 0.0 if before.whole else math.inf
        self._written, self._cancelled = _Total(), _Total()
        self.reason: str | None = None

    def follow(self) -> None:
        """Check until `stop` is called, or until there is a reason to end the command."""
        try:
            self._follow()
        finally:
            os.close(self._handle)

    def stop(self) -> None:
        self._over.set()

    def _follow(self) -> None:
        while not self._over.wait(_PAUSE):
            if (reason := self._processes() or self._disk()) and not self._over.is_set():
                self.reason = reason
                with suppress(OSError):
                    signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                return

    def _processes(self) -> str | None:
        allowed = self._allowed
        tree = list(_tree(self._pid))
        # The first two processes are bubblewrap's own.
        if sum(_threads(pid) for pid in tree) > allowed.processes + 2:
            return f"it had more than {allowed.processes} processes"
        opened = _opened(tree)
        sockets = _SOCKET * sum(stat.S_ISSOCK(found.st_mode) for found in opened)
        # The quick figure counts a shared page once for each process; the exact figure takes longer.
        most = allowed.memory - sockets
        if sum(map(_held, tree)) > most and sum(map(_share, tree)) > most:
            return f"it used more than {allowed.memory} bytes of memory"
        if sum(map(_kept, opened)) > allowed.quota.bytes:
            return f"it kept more than {allowed.quota.bytes} bytes in deleted files"
        written = self._written.now({pid: _io(pid, "write_bytes:") for pid in tree})
        cancelled = self._cancelled.now({pid: _io(pid, "cancelled_write_bytes:") for pid in tree})
        if written - cancelled > _WRITTEN * allowed.quota.bytes:
            return f"it wrote more than {_WRITTEN * allowed.quota.bytes} bytes to the disk"
        return None

    def _disk(self) -> str | None:
        begun = time.monotonic()
        if begun < self._next_measure:
            return None
        size = measure(self._workspace, _LONGEST_LOOK, self._most)
        self._next_measure = time.monotonic() + 3 * (time.monotonic() - begun)
        crowded = self._allowed.crowded(size)
        if size.exceeds(self._most):
            return (
                f"the workspace held more than {self._allowed.quota.bytes} bytes"
                f" or {self._allowed.quota.files} files"
            )
        # A command that adds nothing to the workspace may be freeing space.
        if crowded and (size.bytes > self._before.bytes or size.files > self._before.files):
            return self._allowed.refuse()
        return None if size.whole else "the size of the workspace could not be measured"


class _Total:
    """The sum of a counter over processes, including those that have ended. The kernel adds the counter of an
    ended process to its parent's, unless the parent ignores the end of its children: then it is kept here."""

    def __init__(self) -> None:
        self._last: dict[int, int] = {}
        self._lost = 0

    def now(self, found: dict[int, int]) -> int:
        ended = passed_on = 0
        for pid, last in self._last.items():
            if (figure := found.get(pid, 0)) < last:
                ended += last
            else:
                passed_on += figure - last
        self._lost += max(0, ended - passed_on)
        self._last = found
        return sum(found.values()) + self._lost


def _tree(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _stat(int(name))):
            children.setdefault(int(fields[1]), []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
        yield pid


def _stat(pid: int) -> list[str]:
    """The fields from the process state on: the name before it may contain anything."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _threads(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[17]) if fields else 0


def _held(pid: int) -> int:
    return _KIB * _sum(f"/proc/{pid}/status", "RssAnon:", "RssShmem:")


def _share(pid: int) -> int:
    return _KIB * _sum(f"/proc/{pid}/smaps_rollup", "Pss_Anon:", "Pss_Shmem:")


def _io(pid: int, name: str) -> int:
    return _sum(f"/proc/{pid}/io", name)


def _opened(tree: Sequence[int]) -> list[os.stat_result]:
    """The open files and sockets of the processes, each once."""
    found: dict[tuple[int, int], os.stat_result] = {}
    for pid in tree:
        with suppress(OSError):  # the process has ended
            for name in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):  # the file was closed
                    item = os.stat(f"/proc/{pid}/fd/{name}")
                    found[item.st_dev, item.st_ino] = item
    return list(found.values())


def _kept(found: os.stat_result) -> int:
    """The disk space of an open file that has been deleted."""
    return 512 * found.st_blocks if stat.S_ISREG(found.st_mode) and not found.st_nlink else 0


def _sum(path: str, *names: str) -> int:
    lines = (line.split() for line in _read(path).splitlines())
    return sum(int(words[1]) for words in lines if words and words[0] in names)


def _read(path: str) -> str:
    """The content of a file in /proc; empty when the process has ended or may not be inspected."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
