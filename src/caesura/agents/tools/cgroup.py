"""Control groups, version 2: bounds that hold for all processes of a command together.

They can be used where the server may create groups below its own: as root outside of a container, in a
service with `Delegate=yes`, or in a container whose groups are writable.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_NEEDED = {"memory", "pids"}
_NAME = "caesura-"
_SERVER = "caesura-server"
_TRIES = 100


class Unusable(Exception):
    """The text says why groups cannot be used here."""


class Groups:
    """Makes a group for each command, below the group of this process."""

    def __init__(self, folder: Path, memory: int, processes: int) -> None:
        self._folder, self._memory, self._processes = folder, memory, processes
        self._made = 0
        _divide(folder)
        _remove_old(folder)

    @classmethod
    def of_this_process(cls, memory: int, processes: int) -> Groups:
        return cls(_own_folder(), memory, processes)

    def make(self) -> Group:
        self._made += 1
        folder = self._folder / f"{_NAME}{os.getpid()}-{self._made}"
        try:
            folder.mkdir()
            group = Group(folder)
            (folder / "memory.max").write_text(str(self._memory))
            (folder / "pids.max").write_text(str(self._processes))
            for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                with suppress(OSError):  # not in every kernel
                    (folder / name).write_text(value)
        except OSError as error:
            raise Unusable(f"{folder}: {error.strerror}") from error
        return group


class Group:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def command(self) -> list[str]:
        """The prefix of a command that starts it in this group."""
        enter = 'echo 0 > "$0" && exec "$@"'
        return ["/bin/sh", "-c", enter, str(self._folder / "cgroup.procs")]

    @property
    def ran_out_of_memory(self) -> bool:
        try:
            lines = (self._folder / "memory.events").read_text().splitlines()
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in lines)

    def remove(self) -> None:
        """Kill the remaining processes and remove the group. Call this in a thread: the kernel takes a
        moment."""
        with suppress(OSError):
            (self._folder / "cgroup.kill").write_text("1")
        for _ in range(_TRIES):
            try:
                return self._folder.rmdir()
            except FileNotFoundError:
                return None
            except OSError:
                time.sleep(0.02)


def _own_folder() -> Path:
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    except OSError as error:
        raise Unusable("there are no control groups") from error
    own = next((line[3:] for line in groups if line.startswith("0::")), None)
    point = next((item[4] for item in mounts if item[item.index("-") + 1] == "cgroup2"), None)
    if own is None or point is None:
        raise Unusable("there are no control groups of version 2")
    if ".." in Path(own).parts:
        raise Unusable("the server's control group is outside of what is mounted")
    return Path(point + own)


def _divide(folder: Path) -> None:
    """Allow limits for groups below this one. For that the group must have no processes, so this process
    moves into a group below."""
    try:
        offered = set((folder / "cgroup.controllers").read_text().split())
        if missing := _NEEDED - offered:
            raise Unusable(f"control groups of version 2 lack {' and '.join(sorted(missing))} here")
        if set((folder / "cgroup.subtree_control").read_text().split()) >= _NEEDED:
            return
        _enable(folder)
    except OSError as error:
        raise Unusable(f"{folder} cannot be divided: {error.strerror}") from error


def _enable(folder: Path) -> None:
    wanted = " ".join(f"+{name}" for name in sorted(_NEEDED))
    with suppress(OSError):
        (folder / "cgroup.subtree_control").write_text(wanted)
        return
    server = folder / _SERVER
    server.mkdir(exist_ok=True)
    (server / "cgroup.procs").write_text(str(os.getpid()))
    try:
        (folder / "cgroup.subtree_control").write_text(wanted)
    except OSError:
        with suppress(OSError):
            (folder / "cgroup.procs").write_text(str(os.getpid()))
            server.rmdir()
        raise


def _remove_old(folder: Path) -> None:
    """Remove the groups of servers that were killed."""
    for group in folder.glob(f"{_NAME}[0-9]*-*"):
        owner = group.name.removeprefix(_NAME).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            with suppress(OSError):
                group.rmdir()
