"""The limits of a command, tested with the real sandbox."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import threading
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from caesura.agents.context import RunContext
from caesura.agents.tools import execute, files, size
from caesura.agents.tools.cgroup import Groups, Unusable
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.sandbox import Bounds, Outcome, Sandbox
from caesura.agents.tools.size import Meter, Quota, Size, measure
from caesura.agents.tools.tool import Tool, ToolError
from caesura.agents.tools.watch import _Total
from caesura.agents.tools.workspace import Workspace, WorkspaceError
from tests.programs import needs

BWRAP = needs("bwrap")
NOBODY = 65_534
MIB = 1024 * 1024


def run(command: str, workspace: Path, bounds: Bounds | None = None, quota: Quota | None = None) -> Outcome:
    return asyncio.run(Sandbox(bounds, quota=quota).run(command, workspace))


# --- the whole command


@BWRAP
def test_the_total_memory_of_all_processes_is_limited(tmp_path: Path) -> None:
    """Each process stays below the limit; together they exceed it."""
    hold = "(head -c 40M /dev/zero | tail -n 1 | sleep 60) &"
    outcome = run(
        f"for i in 1 2 3 4 5 6; do {hold} done; wait", tmp_path, Bounds(seconds=50, memory=128 * MIB)
    )
    assert (outcome.code, outcome.reason) == (None, f"it used more than {128 * MIB} bytes of memory")


@BWRAP
def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    program = (
        "import mmap, os, time\n"
        "page = mmap.mmap(-1, 60 << 20)\n"
        "for place in range(0, 60 << 20, 4096): page[place] = 1\n"
        "children = [os.fork() for _ in range(3)]\n"
        "for place in range(0, 60 << 20, 4096): page[place]\n"
        "time.sleep(1.5)\n"
    )
    (tmp_path / "share.py").write_text(program)
    assert run("python3 share.py", tmp_path, Bounds(memory=160 * MIB)).code == 0


@BWRAP
def test_sockets_count_as_memory(tmp_path: Path) -> None:
    """The data in sockets belongs to no process."""
    program = (
        "import os, socket, time\n"
        "for _ in range(3): os.fork()\n"
        "pairs = [socket.socketpair() for _ in range(100)]\n"
        "for one, other in pairs:\n"
        "    one.setblocking(False)\n"
        "    try:\n"
        "        while True: one.send(bytes(100_000))\n"
        "    except BlockingIOError: pass\n"
        "time.sleep(60)\n"
    )
    (tmp_path / "hold.py").write_text(program)
    outcome = run("python3 hold.py", tmp_path, Bounds(seconds=50, memory=256 * MIB))
    assert outcome.reason == f"it used more than {256 * MIB} bytes of memory"


@BWRAP
def test_a_process_has_a_bounded_number_of_descriptors(tmp_path: Path) -> None:
    assert run("ulimit -n", tmp_path, Bounds(descriptors=99)).output == "99\n"


@BWRAP
def test_the_number_of_processes_is_bounded_for_root_too(tmp_path: Path) -> None:
    outcome = run("for i in $(seq 200); do sleep 60 & done; wait", tmp_path, Bounds(seconds=50, processes=40))
    refused = "fork" in outcome.output  # a plain user is refused by the kernel
    assert refused or outcome.reason == "it had more than 40 processes", outcome


# --- the disk


@BWRAP
def test_a_command_that_fills_the_disk_is_ended(tmp_path: Path) -> None:
    fill = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > $i; sleep 0.02; done"
    outcome = run(fill, tmp_path, Bounds(seconds=50), Quota(bytes=8 * MIB))
    assert outcome.code is None
    assert outcome.reason == f"the workspace held more than {8 * MIB} bytes or 50000 files"


@BWRAP
def test_a_command_that_makes_too_many_files_is_ended(tmp_path: Path) -> None:
    outcome = run(
        "i=0; while :; do i=$((i+1)); mkdir -p $i/x; done", tmp_path, Bounds(seconds=50), Quota(files=100)
    )
    assert outcome.reason == f"the workspace held more than {256 * MIB} bytes or 100 files"


@BWRAP
@pytest.mark.parametrize(
    "fill",
    ["os.posix_fallocate(file, 0, 1000000)", "os.fork() or (os.write(file, bytes(1000000)), os._exit(0))"],
    ids=["allocated", "written by children"],
)
def test_files_that_are_deleted_and_kept_open_are_counted(tmp_path: Path, fill: str) -> None:
    """The files are in no folder, and the process that keeps them open has written nothing."""
    keep = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "while True:\n"
        "    file = os.open('x', os.O_RDWR | os.O_CREAT); os.unlink('x')\n"
        f"    {fill}\n"
        "    time.sleep(0.02)\n"
    )
    (tmp_path / "keep.py").write_text(keep)
    outcome = run("python3 keep.py", tmp_path, Bounds(seconds=50), Quota(bytes=4 * MIB))
    assert outcome.reason == f"it kept more than {4 * MIB} bytes in deleted files"


@BWRAP
def test_bytes_written_by_ended_children_count() -> None:
    """Their parent ignores SIGCHLD, so the kernel forgets how much they wrote. It counts only what goes to a
    disk, and the tests' folders may be in memory."""
    write = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "while True:\n"
        "    if os.fork() == 0:\n"
        "        with open(str(os.getpid()), 'wb') as file:\n"
        "            file.write(b'1' * 300_000); file.flush(); os.fsync(file.fileno())\n"
        "        os.unlink(str(os.getpid())); time.sleep(0.3); os._exit(0)\n"
        "    time.sleep(0.1)\n"
    )
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder, "write.py").write_text(write)
        outcome = run("python3 write.py", Path(folder), Bounds(seconds=50), Quota(bytes=MIB))
    assert outcome.reason == f"it wrote more than {4 * MIB} bytes to the disk"


@BWRAP
def test_in_a_full_workspace_a_command_can_free_space_and_no_file_grows(tmp_path: Path) -> None:
    quota = Quota(bytes=2 * MIB)
    (tmp_path / "big").write_bytes(b"x" * 3 * MIB)
    refused = run("echo more > more; sleep 0.5", tmp_path, quota=quota)
    assert refused.code != 0
    assert "[the workspace is full" in execute.report(refused, Sandbox())
    assert not (tmp_path / "more").exists() or (tmp_path / "more").stat().st_size == 0
    assert run("sleep 0.5; rm big && echo removed", tmp_path, quota=quota).output == "removed\n"
    assert run("echo more > more", tmp_path, quota=quota).code == 0


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, meter=Meter(Quota(bytes=100_000, files=3)))
    workspace.write("a", "x" * 50_000)
    with pytest.raises(WorkspaceError, match="the workspace is full: it may hold 100000 bytes and 3 files"):
        workspace.write("b", "x" * 60_000)
    for name in ("c", "d"):
        workspace.write(name, "x")
    with pytest.raises(WorkspaceError, match="the workspace is full"):
        workspace.write("e", "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "c", "d"]


def test_the_size_of_a_workspace_counts_every_file_once(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * MIB)
    root = tmp_path / "root"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file").write_bytes(b"x" * 10_000)
    os.link(root / "a/b/file", root / "linked")
    (root / "link").symlink_to(outside)
    found = measure(root)
    assert found.whole
    assert found.files == 4
    assert 10_000 <= found.bytes < 100_000
    assert measure(tmp_path / "nowhere") == Size()
    assert not measure(root, seconds=0).whole


def test_a_workspace_with_paths_that_are_too_long_is_not_measured_in_full(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert not measure(tmp_path).whole
    with pytest.raises(WorkspaceError, match="the workspace is full"):
        Workspace(tmp_path).write("a", "x")


def test_what_ended_processes_wrote_counts_once() -> None:
    total = _Total()
    assert total.now({1: 0, 2: 10, 3: 5}) == 15
    assert total.now({1: 0, 2: 15}) == 15  # the parent took over what its child wrote
    assert total.now({1: 0, 4: 20}) == 35  # nobody did: a new process has only its own bytes
    assert total.now({1: 20}) == 35


def deep(root: Path, levels: int) -> int:
    """Create this many nested folders; returns a descriptor of the innermost."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    return here


def test_measuring_many_deep_folders_takes_little_memory(tmp_path: Path) -> None:
    """Keeping a path for each folder would take 3,000 folders times 400 names."""
    bottom = deep(tmp_path, 400)
    for n in range(3000):
        os.mkdir(f"{n}", dir_fd=bottom)
    os.close(bottom)
    opened = len(os.listdir("/proc/self/fd"))
    tracemalloc.start()
    try:
        found = measure(tmp_path, seconds=60)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.files, found.whole) == (3400, True)
    assert most < 2 * MIB
    assert len(os.listdir("/proc/self/fd")) == opened
    assert measure(tmp_path, most=Quota(files=500)).files == 501
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # pytest takes long for this


def test_folders_that_are_moved_while_they_are_measured_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("root/a/b/c", "root/a/b/d", "root/e", "root/f"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    count, enter = 0, size._Walk._enter

    def moving(self: size._Walk, here: int, name: str) -> bool:
        nonlocal count
        if name in ("c", "d") and not count:
            count += 1
            (tmp_path / "root/a/b").rename(tmp_path / "elsewhere/b")
            (tmp_path / "root/a").rename(tmp_path / "elsewhere/a")
        return enter(self, here, name)

    monkeypatch.setattr(size._Walk, "_enter", moving)
    found = measure(tmp_path / "root")
    assert count == 1
    assert (found.files, found.whole) == (6, True)


@contextmanager
def plain_user(folder: Path) -> Iterator[None]:
    """Run as an ordinary user who owns this folder: root may read every folder."""
    before = os.geteuid()
    if before == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o100])
def test_files_in_a_folder_without_permissions_are_counted(mode: int) -> None:
    # Not in pytest's folder, which only root may read.
    with tempfile.TemporaryDirectory() as name, plain_user(Path(name)):
        folder = Path(name) / "closed"
        folder.mkdir()
        (folder / "file").write_bytes(b"x" * 10_000)
        folder.chmod(mode)
        found = measure(Path(name))
        assert (found.files, found.whole) == (2, True)
        folder.chmod(0o700)


# --- people who use files at once


async def use(tool: str, person: str, workspace: Path, tools: list[Tool], **arguments: str) -> str:
    made = next(item for item in tools if item.name == tool)
    with RunContext("c", "t", person, "a", "en", workspace).active():
        return (await made.run(dict(arguments))).text


async def test_many_files_of_one_person_do_not_delay_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measuring the first workspace lasts until the other person has got a result. Calls that are cancelled
    meanwhile do not free a thread: their threads still work."""
    measured: list[Path] = []
    go_on = threading.Event()

    def slow(root: Path, *args: object, **kwargs: object) -> Size:
        measured.append(root)
        go_on.wait(60)
        return Size(whole=False)

    monkeypatch.setattr(size, "measure", slow)
    tools, writes = files.tools(), []
    try:
        for n in range(60):
            write = use("write_file", "greedy", tmp_path / "greedy", tools, path=f"{n}", content="")
            writes.append(asyncio.create_task(write))
            await asyncio.sleep(0.002)
            if n % 5:
                writes[-1].cancel()
        async with asyncio.timeout(40):
            assert await use("list_files", "modest", tmp_path / "modest", tools) == "(empty)"
        assert len(measured) == 1
    finally:
        go_on.set()
        await asyncio.wait(writes)


def test_a_workspace_that_takes_long_to_measure_is_not_measured_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, measured = [100.0], []

    def slow(root: Path, *args: object, **kwargs: object) -> Size:
        clock[0] += 5
        measured.append(root)
        return Size(whole=False)

    monkeypatch.setattr(size, "measure", slow)
    monkeypatch.setattr(size, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    meter = Meter()
    for _ in range(60):
        assert "the workspace is full" in (meter.fault(tmp_path, 1) or "")
        clock[0] += 0.1
    assert len(measured) == 1
    clock[0] += 5
    meter.fault(tmp_path, 1)
    assert len(measured) == 2


# --- how many at once


async def test_a_person_has_no_more_places_than_allowed() -> None:
    places, most = Places(3, each=1), Counter[str]()
    now: Counter[str] = Counter()

    async def work(person: str) -> None:
        async with places.one(person, 30):
            now[person] += 1
            most[person] = max(most[person], now[person])
            await asyncio.sleep(0)
            now[person] -= 1

    await asyncio.gather(*(work(person) for person in ["greedy", "modest", "quiet", "last"] * 5))
    assert most == dict.fromkeys(["greedy", "modest", "quiet", "last"], 1)
    async with asyncio.timeout(30), places.one("a", 30), places.one("b", 30), places.one("c", 30):
        pass


@BWRAP
async def test_a_limited_number_of_commands_run_at_once_and_the_others_wait(tmp_path: Path) -> None:
    """Waiting does not count towards a command's time."""
    sandbox = Sandbox(Bounds(seconds=25), at_once=1)
    count = "n=$(ls running* 2>/dev/null | wc -l); touch running$$; sleep 0.3; rm running$$; echo $n"
    done = await asyncio.gather(*(sandbox.run(count, tmp_path, f"person {n}") for n in range(4)))
    assert [outcome.output for outcome in done] == ["0\n"] * 4


async def test_people_take_turns_for_the_next_place() -> None:
    places, order = Places(1), []

    async def work(person: str) -> None:
        async with places.one(person, 30):
            order.append(person)
            await asyncio.sleep(0)

    await asyncio.gather(*(work(person) for person in ["greedy"] * 5 + ["modest", "quiet"]))
    assert order[:4] == ["greedy", "greedy", "modest", "quiet"]
    assert len(order) == 7


async def test_a_caller_that_times_out_or_leaves_takes_no_place() -> None:
    places = Places(1)
    async with places.one("first", 30):
        with pytest.raises(Busy):
            async with places.one("second", 0.01):
                pass
        leaver = asyncio.ensure_future(places.one("third", 30).__aenter__())
        await asyncio.sleep(0)
        leaver.cancel()
        await asyncio.wait([leaver])
    async with asyncio.timeout(30), places.one("fourth", 30):
        pass


async def test_calls_that_are_cancelled_together_lose_no_place() -> None:
    """The one that has the place gives it back before the others have left the queue."""
    places = Places(1)

    async def hold(person: str) -> None:
        async with places.one(person, 30):
            await asyncio.Event().wait()

    calls = [asyncio.ensure_future(hold(person)) for person in ("one", "one", "other", "one")]
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    assert all(call.cancelled() for call in calls)
    async with asyncio.timeout(30), places.one("one", 30):
        pass


@BWRAP
async def test_a_command_that_gets_no_place_is_reported_as_busy(tmp_path: Path) -> None:
    sandbox = Sandbox(Bounds(patience=0.01), at_once=1)
    assert await sandbox.unavailable() is None
    run = RunContext("c", "t", "u", "a", "en", tmp_path)
    async with sandbox._places.one("another", 30):
        with run.active(), pytest.raises(ToolError, match="too many others run now"):
            await execute.tool(sandbox).action.function(command="true")


# --- control groups


def made(folder: Path, controllers: str = "cpu memory pids", enabled: str = "memory pids") -> Path:
    """A folder as the kernel shows a group."""
    folder.mkdir()
    (folder / "cgroup.controllers").write_text(controllers)
    (folder / "cgroup.subtree_control").write_text(enabled)
    return folder


def test_a_group_bounds_memory_and_processes(tmp_path: Path) -> None:
    dead = made(tmp_path / "own") / "caesura-999999999-1"
    dead.mkdir()
    groups = Groups(tmp_path / "own", memory=5 * MIB, processes=7)
    assert not dead.exists()
    group = groups.make()
    (folder,) = (tmp_path / "own").glob("caesura-*")
    values = {name: (folder / name).read_text() for name in os.listdir(folder)}
    assert values == {
        "memory.max": str(5 * MIB),
        "pids.max": "7",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
    }
    assert not group.ran_out_of_memory
    (folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert group.ran_out_of_memory


def test_a_command_begins_in_its_group(tmp_path: Path) -> None:
    made(tmp_path / "own")
    group = Groups(tmp_path / "own", MIB, 7).make()
    said = subprocess.run([*group.command(), "echo", "a b"], capture_output=True, text=True, check=True)
    (folder,) = (tmp_path / "own").glob("caesura-*")
    assert said.stdout == "a b\n"
    assert (folder / "cgroup.procs").read_text() == "0\n"


def test_a_group_without_the_controllers_is_not_used(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="lack memory here"):
        Groups(made(tmp_path / "own", "cpu pids"), MIB, 7)
    with pytest.raises(Unusable, match="cannot be divided"):
        Groups(tmp_path / "nowhere", MIB, 7)


def test_a_server_moves_out_of_its_group_before_it_creates_others(tmp_path: Path) -> None:
    own = made(tmp_path / "own", enabled="")
    Groups(own, MIB, 7)
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"


@BWRAP
async def test_limits_that_the_kernel_cannot_enforce_are_reported() -> None:
    sandbox = Sandbox()
    said = " ".join(await sandbox.weaknesses())
    assert ("several times a second" in said) == (sandbox._groups is None)
    assert ("the server is root" in said) == (os.geteuid() == 0)
