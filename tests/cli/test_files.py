"""Files of a workspace, from the command line."""

from pathlib import Path
from typing import BinaryIO

import pytest

from caesura.cli import workspace
from caesura.client import Client, File
from tests.api.reading import conversation
from tests.api.server import Served
from tests.cli.conftest import Run


@pytest.fixture
def place(server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("CAESURA_URL", server.url)
    monkeypatch.setenv("CAESURA_TOKEN", server.token("filer"))
    monkeypatch.chdir(tmp_path)
    with server.client("filer") as client:
        return conversation(client)


def test_files_are_put_listed_saved_and_removed(run: Run, place: str, tmp_path: Path) -> None:
    assert run("files", "list", place) == (0, "", "there are no files here\n")
    (tmp_path / "a.txt").write_bytes(b"one\n")
    assert run("files", "put", place, "a.txt").out.split()[0] == "4"
    assert run("files", "put", place, "a.txt", "inner/b.txt").code == 0
    assert [line.split()[-1] for line in run("files", "list", place).out.splitlines()] == ["a.txt", "inner/"]
    assert run("files", "list", place, "inner").out.split()[-1] == "b.txt"
    assert run("files", "get", place, "inner/b.txt").code == 0
    assert (tmp_path / "b.txt").read_bytes() == b"one\n"
    told = run("files", "get", place, "inner/b.txt")
    assert (told.code, told.err) == (1, "caesura: b.txt exists: name another file with --to\n")
    assert run("files", "get", place, "a.txt", "--to", "c.txt").code == 0
    assert (tmp_path / "c.txt").read_bytes() == b"one\n"
    assert run("files", "remove", place, "inner").out == "inner was removed\n"
    gone = run("files", "get", place, "inner/b.txt", "--to", "d")
    assert gone.err == "caesura: inner/b.txt does not exist\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_a_file_is_put_into_a_folder_under_its_own_name(run: Run, place: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/a.txt").write_bytes(b"one\n")
    for path, made in (("sub/", "sub/a.txt"), ("sub/inner/", "sub/inner/a.txt"), ("sub/b.txt", "sub/b.txt")):
        told = run("files", "put", place, "mine/a.txt", path)
        assert (told.code, told.out.split()[-1]) == (0, made)
    listed = run("files", "list", place, "sub").out.splitlines()
    assert [line.split()[-1] for line in listed] == ["a.txt", "b.txt", "inner/"]
    for arguments in (("-", "sub/"), ("-",)):
        told = run("files", "put", place, *arguments)
        assert (told.code, told.err) == (
            1,
            "caesura: standard input has no name: give a PATH that ends in one\n",
        )


@pytest.mark.parametrize("to", [(), ("--to", "")])
def test_a_file_that_gets_this_name_during_the_download_is_not_overwritten(
    run: Run, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: tuple[str, ...]
) -> None:
    (tmp_path / "sent.txt").write_bytes(b"theirs")
    assert run("files", "put", place, "sent.txt", "doc.txt").code == 0
    copy = workspace._copy

    async def meanwhile(client: Client, conversation: str, path: str, file: BinaryIO) -> None:
        await copy(client, conversation, path, file)
        (tmp_path / "doc.txt").write_bytes(b"mine")

    monkeypatch.setattr(workspace, "_copy", meanwhile)
    told = run("files", "get", place, "doc.txt", *to)
    assert (told.code, told.err) == (1, "caesura: doc.txt exists already: nothing is overwritten\n")
    assert (tmp_path / "doc.txt").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["doc.txt", "sent.txt"]
    assert run("files", "get", place, "doc.txt", "--to", "doc.txt").code == 0
    assert (tmp_path / "doc.txt").read_bytes() == b"theirs"


def test_a_name_that_moves_the_cursor_is_shown_escaped(run: Run, place: str, server: Served) -> None:
    folder = server.settings.data_dir / "workspaces" / place
    folder.mkdir(parents=True)
    (folder / "a\x1b[2Jb").touch()
    assert run("files", "list", place).out.endswith("a\\x1b[2Jb\n")


@pytest.mark.parametrize("time", [10**15, -(10**15), 10**30])
def test_a_file_with_any_time_is_listed(time: int) -> None:
    shown = workspace.line(File("a.txt", "a.txt", "file", 4, time))
    assert shown == f"{4:>12}  {'-':>16}  a.txt"
