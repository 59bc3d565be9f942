"""Deleting a conversation removes all its files, whatever they are, and delays nobody."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.api.reading import until
from tests.api.server import PASSWORD, Served
from tests.api.threads.process import Process
from tests.api.threads.thread import Thread
from tests.programs import needs

BWRAP = needs("bwrap")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if possible: the tests create thousands of files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as name:
        yield Path(name)


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    with Served(folder) as server:
        yield server


def left(workspaces: Path) -> list[str]:
    """All remaining files of workspaces and of the trash."""
    found = [
        os.path.join(here, name) for here, *both in os.walk(workspaces) for names in both for name in names
    ]
    return [path for path in found if os.path.relpath(path, workspaces) not in (".trash", ".database")]


def fill(workspace: Path, count: int) -> None:
    workspace.mkdir(parents=True)
    folder = os.open(workspace, os.O_RDONLY)
    for number in range(count):
        os.close(os.open(f"file-{number}", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=folder))
    os.close(folder)


def delete(client: httpx.Client, thread: Thread) -> None:
    response = client.delete(f"/api/sessions/{thread.id}")
    assert response.status_code == 204, response.text


def test_a_workspace_of_three_thousand_levels_goes_with_its_conversation(served: Served) -> None:
    workspaces = served.settings.data_dir / "workspaces"
    with served.client() as client:
        thread = Thread.new(client)
        (workspaces / thread.id).mkdir(parents=True)
        here = os.open(workspaces / thread.id, os.O_RDONLY)
        for _ in range(3_000):
            os.mkdir("folder", 0o755, dir_fd=here)
            inner = os.open("folder", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(here)
        delete(client, thread)
        assert not (workspaces / thread.id).exists()
    until(lambda: os.listdir(workspaces / ".trash") == [])


def test_a_login_does_not_wait_for_the_removal_of_files(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the disk is blocked, conversations are deleted and people log in."""
    moves = threading.Event()
    unlink = os.unlink

    def stand_still(path: str, *, dir_fd: int | None = None) -> None:
        if path.startswith("file-"):
            moves.wait(60)
        unlink(path, dir_fd=dir_fd)

    workspaces = served.settings.data_dir / "workspaces"
    with served.client() as client:
        threads = [Thread.new(client) for _ in range(20)]
        for thread in threads:
            fill(workspaces / thread.id, 1_000)
        monkeypatch.setattr(os, "unlink", stand_still)
        try:
            for thread in threads:
                delete(client, thread)
            login = client.post("/api/auth/login", json={"username": "alice", "password": PASSWORD})
            assert login.status_code == 200
            assert left(workspaces) != []
        finally:
            moves.set()
    until(lambda: left(workspaces) == [])


@BWRAP
def test_a_running_command_is_ended_and_its_files_are_removed(served: Served) -> None:
    def running() -> bool:
        return any("7306.5" in (item.info["cmdline"] or []) for item in psutil.process_iter(["cmdline"]))

    workspaces = served.settings.data_dir / "workspaces"
    with served.client() as client, served.client() as other:
        thread = Thread.new(client)
        thread.chat("run touch made; chmod 000 made .; sleep 7306.5")
        worker = threading.Thread(target=lambda: thread.resume("continue"))
        worker.start()
        until(running)
        delete(other, thread)
        assert not running()
        assert not (workspaces / thread.id).exists()
        worker.join(30)
    until(lambda: left(workspaces) == [])


def test_the_next_start_finishes_the_removal_of_a_killed_server(folder: Path) -> None:
    workspaces = folder / "workspaces"
    with Process(folder) as server, server.client() as client:
        thread, kept = Thread.new(client), Thread.new(client)
        for name, count in ((thread.id, 20_000), (kept.id, 0), ("local-whose-row-is-gone", 1)):
            fill(workspaces / name / "folder", count)
        delete(client, thread)
        server.kill()
    with Process(folder):
        until(lambda: left(workspaces) == [str(workspaces / kept.id), str(workspaces / kept.id / "folder")])


@BWRAP
def test_the_start_logs_the_protections_of_the_sandbox(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "caesura.resources")
    with Served(tmp_path):
        until(lambda: "commands run in a sandbox" in caplog.text)
        if os.geteuid() == 0:
            until(lambda: "sandbox: the server is root" in caplog.text)
