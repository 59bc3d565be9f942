"""Where commands run: a bubblewrap sandbox with no network, a read-only system and bounds on everything.

A server that runs as root cannot bound the number of processes: the kernel exempts root from that limit.
Time, memory per process and the death of the whole tree at the end hold there too.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HOME = "/workspace"
_PROBE_SECONDS = 10
_MIB = 1024 * 1024
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
)
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """`seconds` is by the clock; sizes are in bytes; `memory` and `cpu_seconds` are for each process."""

    seconds: float = 30
    cpu_seconds: int = 30
    memory: int = 1024 * _MIB
    file_size: int = 64 * _MIB
    scratch: int = 64 * _MIB
    processes: int = 128
    output: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is None for a command that was ended because its time was up."""

    code: int | None
    output: str
    cut: bool


class Sandbox:
    """Whether it works here is found out once, by running `true` in it."""

    def __init__(self, bounds: Bounds | None = None, program: str = "bwrap") -> None:
        self.bounds = bounds or Bounds()
        self._program = program
        self._profile: Sequence[str] | None = None
        self._reason: str | None = None

    async def unavailable(self) -> str | None:
        """Why commands cannot run here; None when they can."""
        if self._profile is None and self._reason is None:
            self._reason = await self._probe()
        return self._reason

    async def run(self, command: str, workspace: Path) -> Outcome:
        """Run a shell command. Nothing of it is left running, however this ends."""
        if reason := await self.unavailable():
            raise RuntimeError(reason)
        return await self._run(self._profile or (), command, workspace, self.bounds.seconds)

    async def _probe(self) -> str | None:
        for name, package in ((self._program, "bubblewrap"), ("prlimit", "util-linux")):
            if shutil.which(name) is None:
                return f"commands cannot run here: {name} is not installed (apt-get install {package})"
        outcome = Outcome(None, "", cut=False)
        for profile in (_hardened(self.bounds), _plain()):
            with tempfile.TemporaryDirectory(prefix="caesura-probe-") as folder:
                outcome = await self._run(profile, "true", Path(folder), _PROBE_SECONDS)
            if outcome.code == 0:
                self._profile = profile
                return None
        return f"commands cannot run here: bubblewrap does not work ({outcome.output.strip() or 'no answer'})"

    async def _run(self, profile: Sequence[str], command: str, workspace: Path, seconds: float) -> Outcome:
        arguments = [*self._arguments(profile, workspace), *self._limits(), "/bin/sh", "-c", command]
        process = await asyncio.create_subprocess_exec(
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            env={},
        )
        output = _Output(self.bounds.output)
        code: int | None = None
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await output.drain(process)
                    code = await process.wait()
        finally:
            await _end(process, output)
        return Outcome(code, output.text, output.cut)

    def _arguments(self, profile: Sequence[str], workspace: Path) -> list[str]:
        program = shutil.which(self._program) or self._program
        variables = [item for name, value in _ENVIRONMENT.items() for item in ("--setenv", name, value)]
        return [
            *(program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", *variables),
            *("--cap-drop", "ALL", "--hostname", "sandbox", "--ro-bind", "/usr", "/usr", *_system()),
            *("--proc", "/proc", "--dev", "/dev", *profile),
            *("--bind", str(workspace.resolve()), HOME, "--chdir", HOME),
            # A server that is root could otherwise write through /proc to the settings of the machine.
            *("--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--"),
        ]

    def _limits(self) -> list[str]:
        # Inside, so that the processes of the sandbox alone are counted, not all of the server's user.
        bounds = self.bounds
        return [
            shutil.which("prlimit") or "prlimit",
            *(f"--cpu={bounds.cpu_seconds}", f"--as={bounds.memory}", f"--fsize={bounds.file_size}"),
            *(f"--nproc={bounds.processes}", "--core=0", "--"),
        ]


class _Output:
    """What a command says, up to a limit; the rest is read and forgotten, so that the command can go on."""

    def __init__(self, limit: int) -> None:
        self._limit, self._data, self.cut = limit, bytearray(), False

    async def drain(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        while part := await process.stdout.read(65_536):
            room = self._limit - len(self._data)
            self._data += part[:room]
            self.cut = self.cut or len(part) > room

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process, output: _Output) -> None:
    """Kill what still runs. bwrap takes its whole tree along; the pipe closes when the last of it is gone."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PROBE_SECONDS):
                await output.drain(process)
        await process.wait()


def _hardened(bounds: Bounds) -> list[str]:
    """What newer versions can do: be no one in particular, forbid namespaces, bound the scratch space."""
    user = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"]
    size = str(bounds.scratch)
    return [*user, "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/dev/shm"]  # noqa: S108


def _plain() -> list[str]:
    return ["--tmpfs", "/tmp"]  # noqa: S108


def _system() -> list[str]:
    """The system's folders as they are here: links into /usr, or folders of their own."""
    arguments: list[str] = []
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    for name in _SETTINGS:
        arguments += ["--ro-bind-try", name, name]
    return arguments
