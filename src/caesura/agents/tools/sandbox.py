"""Where commands run: a bubblewrap sandbox with no network, a read-only system and bounds on everything.

Which bounds hold depends on the machine. That is found out once, and `weaknesses` says what does not hold.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from caesura.agents.tools import hiding, seccomp
from caesura.agents.tools.cgroup import Group, Groups, Unusable
from caesura.agents.tools.child import Child
from caesura.agents.tools.hiding import Hidden
from caesura.agents.tools.places import Places
from caesura.agents.tools.share import DiskShare
from caesura.agents.tools.size import Quota, Size, measure
from caesura.agents.tools.watch import Allowed, Watch

HOME = "/workspace"
_PROBE_SECONDS = 10
_MIB = 1024 * 1024
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """`seconds` is by the clock; sizes are in bytes; `cpu_seconds` and `descriptors` are for each process. A
    command waits for `patience` seconds while too many others run; they do not count as its own."""

    seconds: float = 30
    cpu_seconds: int = 30
    memory: int = 1024 * _MIB
    file_size: int = 64 * _MIB
    scratch: int = 64 * _MIB
    processes: int = 128
    descriptors: int = 256
    output: int = 256 * 1024
    patience: float = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is None for a command that was ended: because of `reason`, or because its time was up. `full`
    means that no file could grow: the workspace was over its bounds before. `crowded` says that of all
    workspaces of the person together."""

    code: int | None
    output: str
    cut: bool
    reason: str | None = None
    full: bool = False
    crowded: str = ""


class _Profile(NamedTuple):
    """How bubblewrap is called here. Old versions cannot be hardened; not every kernel takes a filter."""

    hardened: bool
    filter: bytes | None


class _Prepared(NamedTuple):
    """`left` is what the person's workspaces may still grow by, all together."""

    options: list[str]
    size: Size
    left: int


class Sandbox:
    """Whether it works here is found out once, by running `true` in it."""

    def __init__(
        self,
        bounds: Bounds | None = None,
        program: str = "bwrap",
        *,
        quota: Quota | None = None,
        hide: Hidden | None = None,
        at_once: int | None = None,
        share: DiskShare | None = None,
    ) -> None:
        self.bounds, self.quota, self.share = bounds or Bounds(), quota or Quota(), share or DiskShare()
        self._program = program
        self._hide = hiding.hidden() if hide is None else hide
        count = at_once or max(2, os.cpu_count() or 1)
        self._places = Places(count, each=max(count // 2, 1))
        # One thread to watch each command, and some to prepare and to clean up.
        self._threads = ThreadPoolExecutor(count + 2, "caesura-sandbox")
        self._probing = asyncio.Lock()
        self._profile: _Profile | None = None
        self._reason: str | None = None
        self._groups: Groups | None = None
        self._no_groups = ""

    async def unavailable(self) -> str | None:
        """Why commands cannot run here; None when they can."""
        async with self._probing:
            if self._profile is None and self._reason is None:
                self._reason = await self._probe()
        return self._reason

    async def weaknesses(self) -> list[str]:
        """What does not hold here, for a sandbox that works."""
        if await self.unavailable() or self._profile is None:
            return []
        found: list[str] = []
        if self._groups is None:
            found.append(
                "the kernel bounds memory for each process only; the memory and the number of processes of a"
                f" whole command are looked at several times a second ({self._no_groups})"
            )
        if self._profile.filter is None:
            found.append(
                "system calls are not filtered: the kernel refuses the filter, or there is none for it"
            )
        if not self._profile.hardened:
            found.append("bubblewrap is too old to bound /tmp and to forbid namespaces")
        if os.geteuid() == 0:
            found.append(
                "the server is root: commands can read what only root may read in the system's folders, their"
                " files are root's, and the kernel does not bound root's processes; start it as a plain user"
            )
        return found

    async def run(self, command: str, workspace: Path, person: str = "") -> Outcome:
        """Run a shell command. Nothing of it is left running, however this ends. `Busy` when too many others
        run; the next place is given to each person in turn."""
        if reason := await self.unavailable():
            raise RuntimeError(reason)
        assert self._profile is not None  # noqa: S101 - for the type checker
        await self.share.know(person)
        async with self._places.one(person, self.bounds.patience):
            return await self._run(self._profile, command, workspace, self.bounds.seconds, person)

    async def _probe(self) -> str | None:
        for name, package in ((self._program, "bubblewrap"), ("prlimit", "util-linux")):
            if shutil.which(name) is None:
                return f"commands cannot run here: {name} is not installed (apt-get install {package})"
        try:
            self._groups = Groups.of_this_process(self.bounds.memory, self.bounds.processes)
        except Unusable as error:
            self._without_groups(error)
        outcome = Outcome(None, "", cut=False)
        for profile in _profiles():
            with tempfile.TemporaryDirectory(prefix="caesura-probe-") as folder:
                outcome = await self._run(profile, "true", Path(folder), _PROBE_SECONDS)
            if outcome.code == 0:
                self._profile = profile
                return None
        return f"commands cannot run here: bubblewrap does not work ({outcome.output.strip() or 'no answer'})"

    async def _run(
        self, profile: _Profile, command: str, workspace: Path, seconds: float, person: str = ""
    ) -> Outcome:
        loop = asyncio.get_running_loop()
        prepared = await loop.run_in_executor(self._threads, self._prepare, profile, workspace, person)
        group = self._group()
        try:
            with _handed_over(prepared.options, profile.filter) as (options, descriptors):
                command_line = [
                    *(group.command() if group else ()),
                    *(shutil.which(self._program) or self._program, *options, "--"),
                    *(*self._limits(prepared), "/bin/sh", "-c", command),
                ]
                process = await Child.start(command_line, descriptors)
            watch = self._watch(process.pid, workspace, prepared.size, person)
            outcome = await self._follow(process, watch, seconds)
            if group is not None and group.ran_out_of_memory:
                reason = f"it used more than {self.bounds.memory} bytes of memory"
                outcome = replace(outcome, code=None, reason=reason)
            crowded = "" if prepared.left else self.share.refuse()
            return replace(outcome, full=self._room(prepared.size) == 0, crowded=crowded)
        finally:
            if group is not None:
                self._threads.submit(group.remove)
            if self.share.knows(person):  # before the answer: what was removed can be used at once
                await loop.run_in_executor(self._threads, self._note, workspace, person)

    async def _follow(self, process: Child, watch: Watch | None, seconds: float) -> Outcome:
        output = _Output(self.bounds.output)
        code: int | None = None
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await output.drain(process)
                    code = await process.wait()
        finally:
            if watch is not None:
                watch.stop()
            await _end(process, output)
        reason = watch.reason if watch is not None else None
        return Outcome(None if reason else code, output.text, output.cut, reason)

    def _watch(self, pid: int, workspace: Path, before: Size, person: str) -> Watch | None:
        def crowded(size: Size) -> bool:
            return self.share.note(person, workspace, size)

        bounds, share = self.bounds, self.share
        allowed = Allowed(bounds.memory, bounds.processes, self.quota, crowded, share.refuse)
        try:
            watch = Watch(pid, workspace, before, allowed)
        except ProcessLookupError:
            return None  # it has ended already
        self._threads.submit(watch.follow)
        return watch

    def _prepare(self, profile: _Profile, workspace: Path, person: str) -> _Prepared:
        """What takes files to find out. In a thread."""
        workspace.mkdir(0o700, parents=True, exist_ok=True)
        size = self._note(workspace, person)
        return _Prepared(self._options(profile, workspace), size, self.share.left(person))

    def _note(self, workspace: Path, person: str) -> Size:
        size = measure(workspace)
        self.share.note(person, workspace, size)
        return size

    def _group(self) -> Group | None:
        try:
            return None if self._groups is None else self._groups.make()
        except Unusable as error:
            self._without_groups(error)
            return None

    def _without_groups(self, error: Unusable) -> None:
        self._groups, self._no_groups = None, str(error)

    def _options(self, profile: _Profile, workspace: Path) -> list[str]:
        variables = [item for name, value in _ENVIRONMENT.items() for item in ("--setenv", name, value)]
        size = str(self.bounds.scratch)
        scratch = ["--tmpfs", "/tmp"]  # noqa: S108
        hard = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"]
        hard += ["--size", size, *scratch, "--size", size, "--tmpfs", "/dev/shm"]  # noqa: S108
        return [
            *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv", *variables),
            *("--cap-drop", "ALL", "--hostname", "sandbox", *hiding.arguments(self._hide)),
            *("--proc", "/proc", "--dev", "/dev", *(hard if profile.hardened else scratch)),
            *("--bind", str(workspace.resolve()), HOME, "--chdir", HOME),
            # A server that is root could otherwise write through /proc to the settings of the machine.
            *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        ]

    def _room(self, size: Size) -> int:
        return max(0, self.quota.bytes - size.bytes) if size.whole else 0

    def _limits(self, prepared: _Prepared) -> list[str]:
        # Inside, so that the processes of the sandbox alone are counted, not all of the server's user.
        bounds = self.bounds
        room = min(bounds.file_size, self._room(prepared.size), prepared.left)
        return [
            shutil.which("prlimit") or "prlimit",
            *(f"--cpu={bounds.cpu_seconds}", f"--as={bounds.memory}", f"--fsize={room}"),
            *(f"--nproc={bounds.processes}", f"--nofile={bounds.descriptors}", "--core=0", "--"),
        ]


class _Output:
    """What a command says, up to a limit; the rest is read and forgotten, so that the command can go on."""

    def __init__(self, limit: int) -> None:
        self._limit, self._data, self.cut = limit, bytearray(), False

    async def drain(self, process: Child) -> None:
        while part := await process.output.read(65_536):
            room = self._limit - len(self._data)
            self._data += part[:room]
            self.cut = self.cut or len(part) > room

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")


async def _end(process: Child, output: _Output) -> None:
    """Kill what still runs. bwrap takes its whole tree along; the pipe closes when the last of it is gone."""
    try:
        if process.code is None:
            process.kill()
            with suppress(TimeoutError):
                async with asyncio.timeout(_PROBE_SECONDS):
                    await output.drain(process)
            await process.wait()
    finally:
        process.close()


def _profiles() -> Iterator[_Profile]:
    """The best first."""
    for program in dict.fromkeys((seccomp.program(), None)):
        for hardened in (True, False):
            yield _Profile(hardened, program)


@contextmanager
def _handed_over(options: Sequence[str], program: bytes | None) -> Iterator[tuple[list[str], list[int]]]:
    """Through files without a name: a command can read bubblewrap's arguments, and paths of the machine are
    among them."""
    descriptors: list[int] = []
    try:
        told = list(options)
        if program is not None:
            descriptors.append(_file(program))
            told += ["--seccomp", str(descriptors[-1])]
        descriptors.append(_file(b"".join(os.fsencode(option) + b"\0" for option in told)))
        yield ["--args", str(descriptors[-1])], descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _file(data: bytes) -> int:
    descriptor = os.memfd_create("caesura", os.MFD_CLOEXEC)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
