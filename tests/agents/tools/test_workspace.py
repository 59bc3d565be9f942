"""The workspace, with each way of opening files."""

from __future__ import annotations

import os
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caesura.agents.tools import opener
from caesura.agents.tools.workspace import READ_LIMIT, WRITE_LIMIT, Workspace, WorkspaceError, parts_of

OPENERS = {"by kernel": opener.by_kernel, "walking": opener.walking}


@pytest.fixture(params=OPENERS)
def workspace(tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    if request.param == "by kernel" and opener.best() is not opener.by_kernel:
        pytest.skip("the kernel has no openat2")
    return Workspace(tmp_path / "root", OPENERS[request.param])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


def refused(workspace: Workspace, path: str) -> str:
    """Why a path is refused, for reading and for writing."""
    with pytest.raises(WorkspaceError) as reading:
        workspace.read(path)
    with pytest.raises(WorkspaceError):
        workspace.write(path, "x")
    return str(reading.value)


def test_a_written_file_is_read_and_listed(workspace: Workspace) -> None:
    assert workspace.write("src/deep/main.py", "print('ü')\n") == 12
    assert workspace.read("./src//deep/main.py") == "print('ü')\n"
    assert [(e.name, e.size) for e in workspace.entries()[0]] == [("src", None)]
    assert [(e.name, e.size) for e in workspace.entries("src/deep")[0]] == [("main.py", 12)]


@pytest.mark.parametrize("path", ["/etc/passwd", "//etc/passwd", "/", "/workspace/a"])
def test_an_absolute_path_is_refused(workspace: Workspace, path: str) -> None:
    assert "absolute path" in refused(workspace, path)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "a/..", "..", "./../x", "a/b/../../../x"])
def test_a_path_with_dots_is_refused(workspace: Workspace, path: str) -> None:
    assert "leaves the workspace" in refused(workspace, path)


@pytest.mark.parametrize("path", ["", ".", "a/", "./", "a/."])
def test_a_path_that_names_no_file_is_refused(workspace: Workspace, path: str) -> None:
    assert "does not name a file" in refused(workspace, path)


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "\x1b[31m", "a\x7f"])
def test_control_characters_in_a_path_are_refused(workspace: Workspace, path: str) -> None:
    assert "control characters" in refused(workspace, path)


@pytest.mark.parametrize("path", ["x" * 256, "ü" * 128, "a/" * 600 + "b", "\ud800", ".caesura-unfinished-x"])
def test_impossible_names_are_refused(workspace: Workspace, path: str) -> None:
    refused(workspace, path)


def test_a_symlink_out_of_the_workspace_is_refused(workspace: Workspace, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (root / "file").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    assert "links are not followed" in refused(workspace, "file")
    refused(workspace, "folder/secret")
    refused(workspace, "folder/new")
    with pytest.raises(WorkspaceError):
        workspace.entries("folder")
    assert (tmp_path / "secret").read_text() == "secret"
    assert not (tmp_path / "new").exists()


def test_a_symlink_inside_the_workspace_is_refused_too(workspace: Workspace, root: Path) -> None:
    (root / "real").write_text("x")
    (root / "link").symlink_to("real")
    (root / "dangling").symlink_to("nothing")
    refused(workspace, "link")
    refused(workspace, "dangling")
    assert not (root / "nothing").exists()


def test_magic_links_are_refused(workspace: Workspace, root: Path) -> None:
    (root / "proc").symlink_to("/proc/self/root")
    refused(workspace, "proc/etc/passwd")


def test_an_irregular_file_is_refused_and_never_blocks(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(root, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)
    assert refused(workspace, "pipe") == "pipe is not a regular file"
    assert refused(workspace, "folder") == "folder is a folder"
    refused(workspace, "socket")
    refused(workspace, "pipe/below")


def test_a_missing_file_is_reported(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match=r"a\.txt does not exist"):
        workspace.read("a.txt")
    with pytest.raises(WorkspaceError, match="nowhere does not exist"):
        workspace.entries("nowhere")


def test_a_file_in_place_of_a_folder_is_reported(workspace: Workspace) -> None:
    workspace.write("a", "x")
    for attempt in (lambda: workspace.write("a/b", "x"), lambda: workspace.entries("a")):
        with pytest.raises(WorkspaceError):
            attempt()
    assert workspace.read("a") == "x"


def test_a_write_is_limited(workspace: Workspace) -> None:
    workspace.write("a", "x" * WRITE_LIMIT)
    with pytest.raises(WorkspaceError, match="the limit is 1048576"):
        workspace.write("a", "ü" * (WRITE_LIMIT // 2 + 1))
    assert workspace.entries()[0][0].size == WRITE_LIMIT


def test_a_long_file_is_cut_with_a_note(workspace: Workspace) -> None:
    workspace.write("a", "x" * (READ_LIMIT + 5))
    read = workspace.read("a")
    assert read.startswith("x" * READ_LIMIT)
    assert read.endswith("[cut: only the first 262144 of 262149 bytes are shown]")


def test_a_binary_file_is_reported_as_binary(workspace: Workspace, root: Path) -> None:
    (root / "a").write_bytes(b"\x00\x01\x02")
    with pytest.raises(WorkspaceError, match="a is not a text file"):
        workspace.read("a")
    (root / "b").write_bytes(b"caf\xe9")
    assert workspace.read("b") == "caf\ufffd"


def test_a_list_is_sorted_and_bounded(workspace: Workspace, root: Path) -> None:
    for number in range(1200):
        (root / f"{number:04}").touch()
    entries, more = workspace.entries()
    assert [entry.name for entry in entries] == [f"{number:04}" for number in range(1000)]
    assert more


def test_a_replaced_file_keeps_its_permissions_and_links_to_it_their_content(
    workspace: Workspace, root: Path
) -> None:
    workspace.write("run.sh", "old")
    os.chmod(root / "run.sh", 0o755)
    os.link(root / "run.sh", root / "other")
    workspace.write("run.sh", "new")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o755
    assert workspace.read("other") == "old"


def test_each_folder_is_synced_after_its_entry_was_created(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise power loss could remove a file or folder that was already reported to the model."""
    genuine = os.fsync
    synced: list[tuple[int, list[str]]] = []

    def sync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            synced.append((found.st_ino, os.listdir(descriptor)))
        genuine(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    workspace.write("src/deep/main.py", "old")
    steps = [("", "root"), ("root", "src"), ("root/src", "deep"), ("root/src/deep", "main.py")]
    made = [((tmp_path / folder).stat().st_ino, [name]) for folder, name in steps]
    assert synced == made
    workspace.write("src/deep/main.py", "new")
    assert synced == [*made, made[-1]]


def test_a_reader_sees_the_old_or_the_new_file_and_nothing_between(workspace: Workspace) -> None:
    texts = {letter * 50_000 for letter in "ab"}
    workspace.write("f", "a" * 50_000)
    seen: set[str] = set()
    done = threading.Event()

    def reading() -> None:
        while not done.is_set():
            seen.add(workspace.read("f"))

    reader = threading.Thread(target=reading)
    reader.start()
    for number in range(40):
        workspace.write("f", "ab"[number % 2] * 50_000)
    done.set()
    reader.join()
    assert seen <= texts
    assert [entry.name for entry in workspace.entries()[0]] == ["f"]


def test_a_folder_replaced_by_a_link_does_not_lead_out(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "d").mkdir()
    done = threading.Event()

    def swapping() -> None:
        number = 0
        while not done.is_set():
            number += 1
            with suppress(OSError):  # the workspace may have created the folder again meanwhile
                os.rename(root / "d", root / f"kept-{number}")
                os.symlink(outside, root / "d")
                os.unlink(root / "d")
            with suppress(OSError):
                os.mkdir(root / "d")

    swapper = threading.Thread(target=swapping)
    swapper.start()
    for number in range(300):
        try:
            workspace.write(f"d/{number}", "x")
        except WorkspaceError:
            continue
    done.set()
    swapper.join()
    assert list(outside.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.sampled_from(["..", ".", "", "a", "link", "/", "etc", "passwd", "~", "\\", "é"])
        | st.text(max_size=5)
    )
)
def test_no_path_leaves_the_workspace(workspace: Workspace, tmp_path: Path, parts: list[str]) -> None:
    link = tmp_path / "root" / "link"
    if not link.is_symlink():
        link.parent.mkdir(exist_ok=True)
        link.symlink_to("..")
    path = "/".join(parts)
    try:
        workspace.write(path, "x")
        assert workspace.read(path) == "x"
    except WorkspaceError:
        pass
    assert [item.name for item in tmp_path.iterdir()] == ["root"]


@given(st.text(max_size=60))
def test_the_parts_of_a_path_are_plain_names(path: str) -> None:
    try:
        parts = parts_of(path)
    except WorkspaceError:
        return
    assert all(part not in ("", ".", "..") and "/" not in part and "\0" not in part for part in parts)
