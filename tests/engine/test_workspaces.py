"""Workspaces are removed whatever is in them, and the sweep removes what a crash left."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from caesura.agents.tools.unfinished import UNFINISHED, Unfinished
from caesura.engine.workspaces import Workspaces


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if possible: some tests create thousands of folders."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        path = Path(folder) / "workspaces"
        path.mkdir()
        yield path


def fill(workspace: Path) -> None:
    (workspace / "folder").mkdir(parents=True)
    (workspace / "folder/file").write_text("x")


async def discard(root: Path, *names: str) -> None:
    workspaces = Workspaces(root)
    for name in names:
        await workspaces.discard(name)
    await workspaces._in_thread(lambda: None)  # after the work that was begun
    await asyncio.to_thread(workspaces.close)


async def sweep(root: Path, known: set[str], origin: str = "") -> None:
    async def exist(names: Sequence[str]) -> set[str]:
        return known & set(names)

    workspaces = Workspaces(root, origin)
    await workspaces.sweep(exist)
    await asyncio.to_thread(workspaces.close)


def left(root: Path) -> list[str]:
    trash = root / ".trash"
    inside = [f".trash/{name}" for name in os.listdir(trash)] if trash.exists() else []
    return sorted([name for name in os.listdir(root) if not name.startswith(".")] + inside)


async def test_a_workspace_of_three_thousand_levels_is_removed(root: Path) -> None:
    (root / "deep").mkdir()
    here = os.open(root / "deep", os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("folder", dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        inner = os.open("folder", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    fill(root / "kept")
    await discard(root, "deep")
    assert left(root) == ["kept"]


async def test_links_are_removed_and_not_followed(root: Path, tmp_path: Path) -> None:
    fill(tmp_path / "outside")
    fill(root / "a")
    (root / "a/out").symlink_to(tmp_path / "outside")
    (root / "a/folder/up").symlink_to("..")
    os.mkfifo(root / "a/pipe")
    (root / "b").symlink_to(tmp_path / "outside")
    await discard(root, "a", "b", "missing")
    assert left(root) == []
    assert (tmp_path / "outside/folder/file").read_text() == "x"


@pytest.mark.parametrize("name", ["..", ".", "", "../outside", "a/../../outside", "/etc", ".trash", "a\0b"])
async def test_an_id_that_is_a_path_removes_nothing(root: Path, tmp_path: Path, name: str) -> None:
    fill(tmp_path / "outside")
    fill(root / "a")
    await discard(root, name)
    assert left(root) == ["a"]
    assert (tmp_path / "outside/folder/file").exists()


@contextmanager
def writing(workspace: Path, most: int) -> Iterator[None]:
    """Create files in the workspace from another thread, like a command that still runs."""
    stop = threading.Event()
    folder = os.open(workspace, os.O_RDONLY)

    def write() -> None:
        for number in range(most):
            if stop.is_set():
                return
            try:
                os.close(os.open(f"{number}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
            except FileNotFoundError:
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()
        os.close(folder)


async def test_files_that_appear_meanwhile_are_removed_too(root: Path) -> None:
    fill(root / "a")
    with writing(root / "a", most=20_000):
        await discard(root, "a")
    await sweep(root, set())
    assert left(root) == []


async def test_files_that_appear_without_end_do_not_hold_up_other_workspaces(root: Path) -> None:
    fill(root / "a")
    fill(root / "b")
    workspaces = Workspaces(root, emptying_seconds=0.1)
    with writing(root / "a", most=sys.maxsize):
        await workspaces.discard("a")
        await workspaces.discard("b")
        await workspaces._in_thread(lambda: None)  # after the work that was begun
        assert len(left(root)) <= 1
    await asyncio.to_thread(workspaces.close)
    await sweep(root, set())
    assert left(root) == []


def as_plain_user(work: Callable[[], None]) -> int:
    """The exit code of a process that does this work. If the tests run as root, it runs as another user."""
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work()
        except BaseException:  # noqa: BLE001 - told by the exit code
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_folders_without_permissions_are_removed_by_an_ordinary_user() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "workspaces"
        path.mkdir()
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)

        def work() -> None:
            (path / "a/b/c").mkdir(parents=True)
            (path / "a/b/c/file").write_text("x")
            for name in ("a/b/c/file", "a/b/c", "a/b", "a"):
                (path / name).chmod(0)
            with pytest.raises(PermissionError):
                os.listdir(path / "a")
            asyncio.run(discard(path, "a"))

        assert as_plain_user(work) == 0
        assert left(path) == []


async def test_the_next_start_continues_removing_files(root: Path) -> None:
    for name in ("a", "b"):
        fill(root / name)
    stopped = Workspaces(root)
    stopped._closing.set()
    for name in ("a", "b"):
        await stopped.discard(name)
    assert [name.partition("/")[0] for name in left(root)] == [".trash", ".trash"]
    await sweep(root, set())
    assert left(root) == []


async def test_a_workspace_without_a_conversation_is_swept_up(root: Path) -> None:
    for number in range(1_100):
        (root / f"conv-{number}").mkdir()
    (root / "notes.txt").write_text("an operator's own")
    known = {f"conv-{number}" for number in range(0, 1_100, 2)}
    await sweep(root, known)
    assert set(left(root)) == known | {"notes.txt"}


async def test_a_conversation_that_is_made_during_a_sweep_keeps_its_workspace(root: Path) -> None:
    """The row is created before the workspace, and the rows are read after the folder."""
    fill(root / "a")
    rows = {"a"}
    workspaces = Workspaces(root)

    async def exist(names: Sequence[str]) -> set[str]:
        found = rows & set(names)
        name = f"b{len(rows)}"
        if len(rows) < 5:
            rows.add(name)
            fill(root / name)
        return found

    await workspaces.sweep(exist)
    workspaces.close()
    assert set(left(root)) == rows


async def test_another_database_leaves_the_workspaces_alone(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(root / "a")
    await sweep(root, {"a"}, origin="one")
    await sweep(root, set(), origin="another")
    assert left(root) == ["a"]
    assert "belongs to another database" in caplog.text
    await sweep(root, set(), origin="one")
    assert left(root) == []


async def test_unfinished_files_that_nobody_writes_are_swept_up(root: Path) -> None:
    fill(root / "a")
    (root / "a" / f"{UNFINISHED}1").write_text("its writer is gone")
    folder = os.open(root / "a", os.O_RDONLY)
    written = Unfinished(folder)
    await sweep(root, {"a"})
    assert len(os.listdir(root / "a")) == 2
    (name,) = (root / "a").glob(f"{UNFINISHED}*")
    os.utime(name, (0, 0))
    await sweep(root, {"a"})
    assert os.listdir(root / "a") == ["folder"], "it is much too old"
    written.close()
    os.close(folder)


async def test_an_entry_that_cannot_be_removed_does_not_stop_the_others(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (root / f"a/{number}").mkdir(parents=True)
        (root / f"a/{number}/stuck").write_text("x")
        (root / f"a/{number}/loose").write_text("x")
    unlink = os.unlink

    def refuse(path: str, *, dir_fd: int | None = None) -> None:
        if path == "stuck":
            raise PermissionError(1, "not permitted")
        unlink(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse)
    await discard(root, "a")
    assert not any("loose" in names for _, _, names in os.walk(root))
    monkeypatch.undo()
    await sweep(root, set())
    assert left(root) == []
