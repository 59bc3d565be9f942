"""Commands in the real sandbox."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import uvloop

from caesura.agents.tools.child import keep_descriptors
from caesura.agents.tools.sandbox import Bounds, Sandbox
from tests.programs import needs

BWRAP = needs("bwrap")


def run(command: str, workspace: Path, **bounds: float) -> tuple[int | None, str, bool]:
    outcome = asyncio.run(Sandbox(Bounds(**bounds)).run(command, workspace))  # type: ignore[arg-type]
    return outcome.code, outcome.output, outcome.cut


def running(marker: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if marker in (process.info["cmdline"] or [])
    ]


def wait_for(marker: str) -> None:
    """Wait until a process with this argument runs."""
    until = time.monotonic() + 60
    while not running(marker):
        assert time.monotonic() < until
        time.sleep(0.02)


@BWRAP
def test_a_command_runs_in_the_workspace_and_gives_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("hello")
    code, output, cut = run("pwd; cat in.txt; echo out > out.txt; echo bad >&2; exit 7", tmp_path)
    assert (code, output, cut) == (7, "/workspace\nhellobad\n", False)
    assert (tmp_path / "out.txt").read_text() == "out\n"


@pytest.fixture
def inherited(tmp_path: Path) -> Iterator[int]:
    """A descriptor of a folder that the server inherited from its parent process."""
    opened = os.open("/etc", os.O_RDONLY)
    found = fcntl.fcntl(opened, fcntl.F_DUPFD, 100)
    os.close(opened)
    yield found
    os.close(found)


@BWRAP
@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_command_gets_only_the_standard_descriptors(
    tmp_path: Path, inherited: int, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    assert os.get_inheritable(inherited)
    (tmp_path / "try.py").write_text(
        "import os\n"
        "print([fd for fd in range(4096) if os.path.exists(f'/proc/self/fd/{fd}')])\n"
        f"os.open('shadow', os.O_RDONLY, dir_fd={inherited})\n"
    )
    with asyncio.Runner(loop_factory=loop) as runner:
        outcome = runner.run(Sandbox().run("python3 try.py", tmp_path))
    assert outcome.output.startswith("[0, 1, 2]\n")
    assert "Bad file descriptor" in outcome.output


def test_descriptors_that_the_server_inherited_are_not_passed_on(inherited: int) -> None:
    keep_descriptors()
    assert not os.get_inheritable(inherited)
    assert os.get_inheritable(2)


@BWRAP
def test_there_is_no_network(tmp_path: Path) -> None:
    _, output, _ = run("cat /proc/net/route; ls /sys/class/net 2>&1; cat /proc/net/dev", tmp_path)
    assert "eth" not in output
    assert "lo:" in output


@BWRAP
def test_the_system_is_read_only_and_everything_else_is_hidden(tmp_path: Path) -> None:
    tries = "for f in /usr/x /x /etc/x /dev/x; do echo 1 > $f && echo WROTE $f; done 2>/dev/null"
    _, output, _ = run(f"{tries}; ls -d /home /root /etc/shadow {tmp_path.parent} 2>/dev/null", tmp_path)
    assert output == ""


@BWRAP
def test_the_machine_cannot_be_reached_through_proc(tmp_path: Path) -> None:
    writable = "find /proc -writable -not -type l -not -path '/proc/[0-9]*/fd*' 2>/dev/null"
    assert run(writable, tmp_path)[1] == ""
    same = "old=$(cat /proc/sys/kernel/panic); echo $old > /proc/sys/kernel/panic && echo WROTE"
    assert "WROTE" not in run(same, tmp_path)[1]


@BWRAP
def test_the_environment_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    _, output, _ = run("env; cat /proc/*/environ | tr '\\0' '\\n'", tmp_path)
    assert "PATH=" in output
    assert "secret" not in output


@BWRAP
def test_commands_have_no_capabilities_and_cannot_create_namespaces(tmp_path: Path) -> None:
    _, output, _ = run("grep CapEff /proc/self/status; unshare -Ur true && echo MADE", tmp_path)
    assert "0000000000000000" in output
    assert "MADE" not in output


@BWRAP
def test_memory_files_and_scratch_space_are_bounded(tmp_path: Path) -> None:
    mib = 1024 * 1024
    hold = "head -c 600M /dev/zero | tail -n 1 > /dev/null"  # tail keeps a whole line in memory
    assert run(hold, tmp_path, memory=512 * mib)[0] != 0
    assert run(hold, tmp_path, memory=2048 * mib)[0] == 0
    code, _, _ = run("head -c 3000000 /dev/zero > big", tmp_path, file_size=mib)
    assert code != 0
    assert (tmp_path / "big").stat().st_size <= mib
    fill = "for i in 1 2 3 4; do head -c 900000 /dev/zero > {}/$i || exit 9; done"
    for folder in ("/tmp", "/dev/shm"):
        assert run(fill.format(folder), tmp_path, scratch=mib)[0] == 9


@BWRAP
def test_processor_time_is_bounded(tmp_path: Path) -> None:
    code, _, _ = run("while :; do :; done", tmp_path, cpu_seconds=1)
    assert code not in (0, None)


@BWRAP
def test_the_output_is_cut_and_the_command_still_ends(tmp_path: Path) -> None:
    code, output, cut = run(
        "head -c 5000000 /dev/zero | tr '\\0' x; echo end > done.txt", tmp_path, output=1000
    )
    assert (code, output, cut) == (0, "x" * 1000, True)
    assert (tmp_path / "done.txt").exists()


@BWRAP
def test_when_time_is_up_the_whole_tree_is_gone(tmp_path: Path) -> None:
    marker = "7301.5"
    code, output, _ = run(
        f"echo begun; setsid sleep {marker} & (sleep {marker} &); sleep {marker}", tmp_path, seconds=1
    )
    assert (code, output) == (None, "begun\n")
    assert running(marker) == []


@BWRAP
def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    code, output, _ = run("setsid sleep 7302.5 & echo hi", tmp_path)
    assert (code, output) == (0, "hi\n")
    assert running("7302.5") == []


@BWRAP
async def test_a_cancelled_command_leaves_nothing(tmp_path: Path) -> None:
    sandbox = Sandbox()
    task = asyncio.create_task(sandbox.run("setsid sleep 7303.5 & sleep 7303.5", tmp_path))
    await asyncio.to_thread(wait_for, "7303.5")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running("7303.5") == []


@BWRAP
def test_a_killed_server_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys; from caesura.agents.tools.sandbox import Sandbox; "
        "asyncio.run(Sandbox().run('setsid sleep 7304.5 & sleep 7304.5', pathlib.Path(sys.argv[1])))"
    )
    server = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    wait_for("7304.5")
    server.kill()
    server.wait()
    until = time.monotonic() + 60
    while running("7304.5") and time.monotonic() < until:
        time.sleep(0.05)
    assert running("7304.5") == []


@pytest.fixture
def plain_user() -> Iterator[tuple[list[str], Path]]:
    """The command with which an ordinary user starts Python, and a readable copy of the source. Root switches
    to another user."""
    with tempfile.TemporaryDirectory() as folder:
        source = shutil.copytree(Path(__file__).parents[3] / "src", Path(folder) / "src")
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        if os.geteuid() != 0:
            yield [sys.executable], source
        else:
            python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
            assert python is not None, "there is no python3 for all users"
            yield ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python], source


@BWRAP
def test_a_plain_user_can_use_it_and_the_number_of_processes_is_bounded(
    plain_user: tuple[list[str], Path],
) -> None:
    code = (
        "import asyncio, pathlib, tempfile; from caesura.agents.tools.sandbox import Bounds, Sandbox\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    many = 'for i in $(seq 100); do sleep 3 & done; echo ALL'\n"
        "    print(asyncio.run(Sandbox(Bounds(processes=20)).run(many, pathlib.Path(folder))))\n"
    )
    python, source = plain_user
    environment = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    done = subprocess.run([*python, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "Cannot fork" in done.stdout or "fork" in done.stdout, done
    assert "ALL" not in done.stdout


async def test_a_missing_program_is_reported_with_the_remedy() -> None:
    sandbox = Sandbox(program="no-such-bwrap")
    reason = await sandbox.unavailable()
    assert reason == "commands cannot run here: no-such-bwrap is not installed (apt-get install bubblewrap)"
    with pytest.raises(RuntimeError, match="no-such-bwrap is not installed"):
        await sandbox.run("true", Path())


async def test_a_sandbox_that_does_not_work_is_reported_and_tried_once(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\necho tried >> {tmp_path}/log\necho no namespaces >&2\nexit 1\n")
    program.chmod(0o755)
    sandbox = Sandbox(program=str(program))
    for _ in range(2):
        reason = await sandbox.unavailable()
        assert reason == "commands cannot run here: bubblewrap does not work (no namespaces)"
    asked = await asyncio.gather(*(sandbox.unavailable() for _ in range(5)))
    assert set(asked) == {reason}
    # With and without a filter of system calls, each in the form for new and for old versions.
    assert (tmp_path / "log").read_text() == "tried\n" * 4
