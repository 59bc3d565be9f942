"""A copy of the database, made while a server writes."""

import fcntl
import os
import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from caesura.cli import backup
from caesura.cli.files import publish
from tests.api.reading import conversation, send, until
from tests.api.server import SECRET, Served
from tests.cli.conftest import Run

DEPLOY = Path(__file__).parents[2] / "docs/deploy.md"


def counted(path: Path, table: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: tuple[int] = connection.execute(f"select count(*) from {table}").fetchone()
        return found[0]


def test_a_backup_has_what_stands_only_in_the_write_ahead_log(run: Run, tmp_path: Path) -> None:
    with Served(tmp_path / "first") as server, server.client() as client:
        for number in range(3):
            assert client.post("/api/v2/conversations", json={"title": f"c{number}"}).status_code == 201
        ran = run("backup", "copy.db", "--database-url", server.settings.database)
        assert client.post("/api/v2/conversations", json={"title": "later"}).status_code == 201
        source = Path(server.settings.database.removeprefix("sqlite:///"))
        assert os.path.getsize(f"{source}-wal") > 0
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("copy.db: ")
    assert counted(Path("copy.db"), "conversations") == 3
    assert counted(source, "conversations") == 4
    assert os.stat("copy.db").st_mode & 0o777 == 0o600
    assert [name for name in os.listdir() if "copy.db" in name] == ["copy.db"]


def test_a_server_goes_on_from_a_backup(run: Run, tmp_path: Path) -> None:
    with Served(tmp_path / "first") as server, server.client() as client:
        made = client.post("/api/v2/conversations", json={"title": "kept"}).json()["id"]
        assert run("backup", "copy.db", "--database-url", server.settings.database).code == 0
    (tmp_path / "again" / "data").mkdir(parents=True)
    os.rename("copy.db", tmp_path / "again" / "data" / "caesura.db")
    with Served(tmp_path / "again") as server, server.client() as client:
        found = client.get(f"/api/v2/conversations/{made}/snapshot").json()
        assert found["conversation"]["title"] == "kept"


def test_turns_of_a_backup_are_stopped_as_the_documentation_says(run: Run, tmp_path: Path) -> None:
    with Served(tmp_path / "first") as server, server.client() as client:
        turn = send(client, conversation(client), "count to 100000 delay=0.01")["id"]
        until(lambda: client.get(f"/api/v2/turns/{turn}").json()["status"] == "running")
        assert run("backup", "copy.db", "--database-url", server.settings.database).code == 0
    (statement,) = re.findall('"(UPDATE turns .+)"', DEPLOY.read_text())
    with closing(sqlite3.connect("copy.db")) as connection, connection:
        assert connection.execute(statement).rowcount == 1
    (tmp_path / "again" / "data").mkdir(parents=True)
    os.rename("copy.db", tmp_path / "again" / "data" / "caesura.db")
    with Served(tmp_path / "again") as server, server.client() as client:
        until(lambda: client.get(f"/api/v2/turns/{turn}").json()["status"] == "stopped")


@pytest.mark.parametrize("kind", ["file", "link"])
def test_nothing_is_overwritten(run: Run, tmp_path: Path, kind: str) -> None:
    run("user", "add", "alice", stdin="correct horse\n")
    if kind == "file":
        Path("copy.db").write_text("mine")
    else:
        os.symlink("nowhere", "copy.db")
    ran = run("backup", "copy.db")
    assert (ran.code, ran.err) == (1, "caesura: copy.db exists already: nothing is overwritten\n")
    assert Path("copy.db").is_symlink() or Path("copy.db").read_text() == "mine"
    assert len([name for name in os.listdir() if "copy.db" in name]) == 1


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_backup_needs_the_name_of_a_file(run: Run, name: str) -> None:
    run("user", "add", "alice", stdin="correct horse\n")
    ran = run("backup", name)
    assert (ran.code, ran.err) == (2, "caesura: FILE must be the name of a new file\n")


def test_where_files_have_no_second_name_nothing_is_overwritten_either(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(part: Path, target: Path) -> None:
        target.write_text("mine")
        raise PermissionError

    run("user", "add", "alice", stdin="correct horse\n")
    monkeypatch.setattr(os, "link", refuse)
    assert run("backup", "copy.db").err == "caesura: copy.db exists already: nothing is overwritten\n"
    assert Path("copy.db").read_text() == "mine"


def test_backups_into_the_same_file_do_not_disturb_each_other(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("user", "add", "alice", stdin="correct horse\n")

    def interrupted(part: Path, target: Path) -> None:
        monkeypatch.setattr(backup, "publish", publish)
        backup.make(target)  # another backup begins and ends meanwhile
        publish(part, target)

    monkeypatch.setattr(backup, "publish", interrupted)
    assert run("backup", "copy.db").err == "caesura: copy.db exists already: nothing is overwritten\n"
    assert counted(Path("copy.db"), "users") == 1
    assert [name for name in os.listdir() if "copy.db" in name] == ["copy.db"]


def test_a_backup_that_is_ended_or_finds_a_full_disk_leaves_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(part: Path, target: Path) -> None:
        part.with_name(f"{part.name}-journal").write_text("half")
        os.kill(os.getpid(), signal.SIGTERM)

    run("user", "add", "alice", stdin="correct horse\n")
    monkeypatch.setattr(backup, "publish", fail)
    assert run("backup", "copy.db").code == 128 + signal.SIGTERM
    assert not [name for name in os.listdir() if "copy.db" in name]


def test_what_a_killed_backup_has_left_is_removed_by_the_next_and_what_another_uses_is_not(run: Run) -> None:
    run("user", "add", "alice", stdin="correct horse\n")
    for name in ("left", "used", "new", "mine"):
        os.mkdir(f".copy.db.{name}.part")
        Path(f".copy.db.{name}.part/copy.db").write_text("half")
    Path(".copy.db.left.part/copy.db-journal").touch()
    Path(".copy.db.mine.part/notes.txt").write_text("mine")
    for name in ("left", "used", "mine"):
        os.utime(f".copy.db.{name}.part", (0, 0))
    held = os.open(".copy.db.used.part", os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run("backup", "copy.db").code == 0
    finally:
        os.close(held)
    found = sorted(name for name in os.listdir() if "copy.db" in name)
    assert found == [".copy.db.mine.part", ".copy.db.new.part", ".copy.db.used.part", "copy.db"]
    assert Path(".copy.db.mine.part/copy.db").read_text() == "half"


def test_a_missing_database_is_not_created(run: Run) -> None:
    ran = run("backup", "copy.db")
    assert ran.code == 2
    assert "there is no database" in ran.err
    assert os.listdir() == []


def test_a_damaged_database_leaves_no_file(run: Run) -> None:
    run("user", "add", "alice", stdin="correct horse\n")
    damaged = Path("data/caesura.db")
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    ran = run("backup", "copy.db")
    assert ran.code != 0
    assert ran.err.count("\n") == 1
    assert not [name for name in os.listdir() if "copy.db" in name]


def test_postgresql_has_a_program_of_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    ran = run("backup", "copy.db", "--database-url", "postgresql://nobody@127.0.0.1:1/none")
    assert ran.code == 2
    assert "pg_dump" in ran.err
