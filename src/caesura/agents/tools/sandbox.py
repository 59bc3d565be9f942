"""The sandbox for commands: bubblewrap with no network, a read-only system and limits on everything.

Which limits can be enforced depends on the machine. That is determined once; `weaknesses` lists the others.
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
from caesura.agents.tools.child import Child, unnamed_file
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
    """The limits of a command. `seconds` is wall-clock time; sizes are in bytes; `cpu_seconds` and
    `descriptors` are for each process. A command waits up to `patience` seconds while too many others run;
    that time does not count towards `seconds`."""

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
    """The result of a command. `code` is None for a command that the sandbox ended: because of `reason`, or
    because its time was up. `full`: no file could grow, because the workspace was already over its quota.
    `crowded`: the same, because of all workspaces of the person together."""

    code: int | None
    output: str
    cut: bool
    reason: str | None = None
    full: bool = False
    crowded: str = ""


class _Profile(NamedTuple):
    """How to call bubblewrap on this machine. Old versions lack some options, and not every kernel accepts a
    filter."""

    hardened: bool
    filter: bytes | None


class _Prepared(NamedTuple):
    """`left` is how many bytes the person's workspaces may still grow together."""

    options: list[str]
    size: Size
    left: int


class Sandbox:
    """Runs commands. Whether that works on this machine is determined once, by running `true`."""

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
        """The protections that this machine lacks, for a sandbox that works."""
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
        """Run a shell command. None of its processes is left running, however this ends. `Busy` when too many
        other commands run; people take turns for the next place."""
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
            if self.share.knows(person):  # before the result: freed space can be used at once
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
            return None  # the process has already ended
        self._threads.submit(watch.follow)
        return watch

    def _prepare(self, profile: _Profile, workspace: Path, person: str) -> _Prepared:
        """Collect what must be read from files. Call this in a thread."""
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
            # Otherwise a command of a server that runs as root could change the machine's settings through
            # /proc.
            *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"),
        ]

    def _room(self, size: Size) -> int:
        return max(0, self.quota.bytes - size.bytes) if size.whole else 0

    def _limits(self, prepared: _Prepared) -> list[str]:
        # The limits are set inside the sandbox, so that only its processes count, not all of the server's
        # user.
        bounds = self.bounds
        room = min(bounds.file_size, self._room(prepared.size), prepared.left)
        return [
            shutil.which("prlimit") or "prlimit",
            *(f"--cpu={bounds.cpu_seconds}", f"--as={bounds.memory}", f"--fsize={room}"),
            *(f"--nproc={bounds.processes}", f"--nofile={bounds.descriptors}", "--core=0", "--"),
        ]


class _Output:
    """The output of a command, up to a limit; the rest is read and dropped, so that the command can
    continue."""

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
    """Kill the remaining processes. When bwrap is killed its whole tree ends; the pipe closes when the last
    process is gone."""
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
    """The profiles to try, best first."""
    for program in dict.fromkeys((seccomp.program(), None)):
        for hardened in (True, False):
            yield _Profile(hardened, program)


@contextmanager
def _handed_over(options: Sequence[str], program: bytes | None) -> Iterator[tuple[list[str], list[int]]]:
    """Pass the options and the filter through unnamed files: a command can read bubblewrap's arguments, and
    the options contain paths of the machine."""
    descriptors: list[int] = []
    try:
        passed = list(options)
        if program is not None:
            descriptors.append(unnamed_file(program))
            passed += ["--seccomp", str(descriptors[-1])]
        descriptors.append(unnamed_file(b"".join(os.fsencode(option) + b"\0" for option in passed)))
        yield ["--args", str(descriptors[-1])], descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
