"""SQLite: one writer, one owner, and storage that fails."""

import asyncio
import errno
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import BadInput, CaesuraError, StartupError, Unavailable
from caesura.settings import Settings
from caesura.store import sqlite, sqlite_file, users
from caesura.store.database import brief
from caesura.store.disk import Callback
from caesura.store.open import open_database
from caesura.store.sqlite import Sqlite

OPEN = """
import asyncio, sys
from functools import partial
from pathlib import Path
from caesura.core.errors import CaesuraError
from caesura.store import users
from caesura.store.sqlite import Sqlite
try:
    database = Sqlite(Path(sys.argv[1]))
except CaesuraError as error:
    sys.exit(f"{type(error).__name__}: {error}")
asyncio.run(database.write(users.create, "theirs", "hash"))
print("open", flush=True)
sys.stdin.read()
"""

LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print(flush=True)
sys.stdin.read()
"""


#: Seconds after which the event loop may write again.
_REST = 0.02


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Sqlite]:
    database = Sqlite(tmp_path / "caesura.db", busy_timeout=0.1)
    yield database
    await database.close()


async def test_deleted_text_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "caesura.db"
    database = Sqlite(path)
    for engine in database.engines:
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA secure_delete").scalar() == 1
    await database.write(users.create, "alice", "deleted text")
    assert b"deleted text" in path.with_name("caesura.db-wal").read_bytes()
    await database.write(lambda c: c.exec_driver_sql("DELETE FROM users"))
    await database.close()
    assert b"deleted text" not in path.read_bytes()
    assert not path.with_name("caesura.db-wal").exists()


@pytest.mark.parametrize("folder", ["a?b", "a%41b", "a#b", "a b", "ä"])
async def test_the_file_is_at_its_path_and_readable_for_its_owner_alone(tmp_path: Path, folder: str) -> None:
    settings = Settings.load(data_dir=tmp_path / folder)
    database = await open_database(settings.database)
    try:
        await database.write(users.create, "alice", "hash")
        made = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / folder).iterdir()}
    finally:
        await database.close()
    assert os.listdir(tmp_path) == [folder]
    assert made.keys() >= {"caesura.db", "caesura.db-wal"}
    assert set(made.values()) == {0o600}
    assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700


async def test_a_database_locked_by_another_process_is_unavailable_until_it_is_free(
    database: Sqlite, tmp_path: Path
) -> None:
    await database.write(users.create, "before", "hash")
    with _locked(tmp_path / "caesura.db"):
        tries = (database.write(users.create, f"during-{number}", "hash") for number in range(5))
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {Unavailable}
        assert await _names(database) == ["before"]
    await database.write(users.create, "after", "hash")
    assert await _names(database) == ["after", "before"]


async def test_a_full_disk_is_unavailable_until_there_is_room(database: Sqlite) -> None:
    def write_much(connection: Connection) -> None:
        users.create(connection, "small", "hash")
        users.create(connection, "large", "x" * 1_000_000)

    await database.write(users.create, "before", "hash")
    await database.write(_limit_pages, 0)
    with pytest.raises(Unavailable):
        await database.write(write_much)
    assert await _names(database) == ["before"]
    await database.write(_limit_pages, 100_000)
    await database.write(write_much)
    assert await _names(database) == ["before", "large", "small"]


async def test_a_disk_that_fills_up_within_a_group_leaves_nothing_half_written(database: Sqlite) -> None:
    def write_two(connection: Connection, number: int) -> None:
        users.create(connection, f"a-{number}", "hash")
        users.create(connection, f"b-{number}", "x" * 20_000)

    await database.write(_limit_pages, 20)
    with _held(database):
        tries = [asyncio.create_task(database.write(write_two, number)) for number in range(10)]
        await asyncio.sleep(0.05)
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert any(isinstance(outcome, Unavailable) for outcome in outcomes)
    written = {number for number, outcome in enumerate(outcomes) if outcome is None}
    assert set(await _names(database)) == {f"{side}-{number}" for number in written for side in "ab"}
    await database.write(_limit_pages, 100_000)
    for number in set(range(10)) - written:
        await database.write(write_two, number)
    assert len(await _names(database)) == 20


async def test_waiting_units_are_committed_together_and_a_failing_one_fails_alone(tmp_path: Path) -> None:
    commits: list[int] = []
    database = Sqlite(tmp_path / "caesura.db", after_commit=lambda: commits.append(1))

    def fail(connection: Connection) -> None:
        users.create(connection, "failed", "hash")
        users.create(connection, "user-3", "hash")
        raise BadInput("no")

    with _held(database):
        tries = [asyncio.create_task(database.write(users.create, f"user-{n}", "hash")) for n in range(10)]
        failing = asyncio.create_task(database.write(fail))
        taken = asyncio.create_task(database.write(users.create, "user-5", "hash"))
        await asyncio.sleep(0.05)
        commits.clear()
    outcomes = await asyncio.gather(*tries, failing, taken, return_exceptions=True)
    assert outcomes[:10] == [None] * 10
    assert [type(outcome).__name__ for outcome in outcomes[10:]] == ["UsernameTaken", "UsernameTaken"]
    assert await _names(database) == sorted(f"user-{number}" for number in range(10))
    assert len(commits) == 2  # one for the unit that held it up, one for all that waited
    await database.close()


async def test_brief_work_runs_in_the_event_loops_own_thread(database: Sqlite) -> None:
    await database.write(users.create, "alice", "hash")
    for run in (database.read, database.write, database.write_lightly, database.write_statement):
        assert await _once_in_the_loop(run)
        assert await run(_thread) != threading.get_ident()


async def test_brief_work_comes_after_what_was_written_before(database: Sqlite) -> None:
    with _held(database):
        first = asyncio.create_task(database.write(users.create, "first", "hash"))
        await asyncio.sleep(0)
        second = asyncio.create_task(database.write(brief(partial(_names_now))))
        await asyncio.sleep(0.05)
    assert await second == ["first"]
    await first


async def test_the_event_loop_does_not_wait_for_another_process(database: Sqlite, tmp_path: Path) -> None:
    with _locked(tmp_path / "caesura.db"):
        written = asyncio.create_task(database.write(brief(partial(_thread))))
        await asyncio.sleep(0)
        assert not written.done()
    assert await written != threading.get_ident()


async def test_the_event_loop_writes_no_more_for_a_while_after_a_slow_commit(database: Sqlite) -> None:
    await database.write(users.create, "alice", "hash")

    def slow(connection: Connection) -> int:
        time.sleep(sqlite._LONG * 2)
        return threading.get_ident()

    assert await _once_in_the_loop(database.write_lightly, slow)
    assert await database.write_lightly(brief(partial(_thread))) != threading.get_ident()


async def test_the_first_commit_after_the_log_was_copied_is_not_made_in_the_event_loop(
    database: Sqlite, tmp_path: Path
) -> None:
    await database.write(users.create, "alice", "hash")
    assert sqlite_file.checkpoint(tmp_path / "caesura.db", 1)
    await database.write_lightly(lambda connection: None)  # writes nothing, so the log does not begin again
    await asyncio.sleep(_REST)
    assert await database.write_lightly(brief(partial(_create))) != threading.get_ident()
    assert await _once_in_the_loop(database.write_lightly)


async def test_the_writers_thread_copies_the_log_while_the_event_loop_writes(database: Sqlite) -> None:
    await database.write(users.create, "alice", "hash")
    threads = set()
    for _ in range(2 * sqlite._IN_A_ROW):
        threads.add(await database.write_lightly(brief(partial(_thread))))
        await asyncio.sleep(_REST / 10)
    assert len(threads) == 2


async def test_after_commit_is_called_before_any_caller_is_notified(tmp_path: Path) -> None:
    told: list[str] = []
    database = Sqlite(tmp_path / "caesura.db", after_commit=lambda: told.append("committed"))
    await database.write(users.create, "a", "hash")
    told.append("told")
    with pytest.raises(CaesuraError):
        await database.write(users.create, "a", "hash")
    await database.close()
    assert told == ["committed", "told"]


async def test_a_message_survives_power_loss_and_an_event_need_not(
    database: Sqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fdatasync

    def counted(handle: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{handle}")))
        sync(handle)

    monkeypatch.setattr(os, "fdatasync", counted)
    await database.write_lightly(users.create, "a", "hash")
    assert synced == []
    await database.write(users.create, "b", "hash")
    assert synced == ["caesura.db-wal"]
    await database.write_lightly(users.create, "c", "hash")
    await database.harden()
    assert synced == ["caesura.db-wal"] * 2


async def test_a_caller_hears_of_the_commit_before_it_hears_of_the_disk(
    database: Sqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, heard = database._disk.settle, []

    def slowly(callback: Callback) -> None:
        settle(callback)
        time.sleep(0.1)  # the disk is done long before the writer goes on

    monkeypatch.setattr(database._disk, "settle", slowly)
    work = partial(users.create, user_id="ada", password_hash="hash")
    await database.write_ahead(work, lambda result: heard.append("committed"))
    heard.append("on disk")
    assert heard == ["committed", "on disk"]


async def test_a_disk_that_refuses_to_sync_is_reported(
    database: Sqlite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", broken)
        with pytest.raises(Unavailable):
            await database.write(users.create, "a", "hash")
        with pytest.raises(Unavailable):
            await database.harden()
    await database.write(users.create, "b", "hash")


async def test_after_a_failed_sync_nothing_is_acknowledged_before_a_whole_checkpoint(
    database: Sqlite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "broken")

    log = tmp_path / "caesura.db-wal"
    with closing(sqlite3.connect(tmp_path / "caesura.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM users").fetchone()  # a snapshot that no checkpoint can pass
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", broken)
            with pytest.raises(Unavailable):
                await database.write(users.create, "a", "hash")
        with pytest.raises(Unavailable):
            await database.write(users.create, "b", "hash")
        with pytest.raises(Unavailable):
            await database.harden()
    await database.harden()
    assert log.stat().st_size == 0  # all of the log is in the database file
    await database.write(users.create, "c", "hash")
    assert log.stat().st_size > 0


async def test_a_database_behind_a_link_is_synced_and_has_one_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "disk" / "real.db")
    synced: list[str] = []
    sync = os.fdatasync

    def counted(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        sync(handle)

    monkeypatch.setattr(os, "fdatasync", counted)
    database = Sqlite(tmp_path / "link.db")
    await database.write(users.create, "a", "hash")
    assert synced == [str(tmp_path / "disk" / "real.db-wal")]
    with pytest.raises(StartupError, match="in use by another"):
        Sqlite(tmp_path / "disk" / "real.db")
    await database.close()


def test_a_link_that_leads_to_itself_stops_the_start_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "caesura.db").symlink_to(tmp_path / "caesura.db")
    with pytest.raises(StartupError, match="a link that leads to itself"):
        Sqlite(tmp_path / "caesura.db")


async def test_a_second_process_is_refused_in_one_line_and_the_first_continues(
    database: Sqlite, tmp_path: Path
) -> None:
    path = tmp_path / "caesura.db"
    second = await asyncio.to_thread(_run, path)
    assert second.returncode == 1
    assert second.stdout == ""
    assert second.stderr == f"StartupError: {path} is in use by another Caesura process\n"
    with pytest.raises(StartupError, match="is in use by another Caesura process"):
        await open_database(f"sqlite:///{path}")
    await database.write(users.create, "mine", "hash")
    assert await _names(database) == ["mine"]


async def test_an_owner_killed_without_warning_frees_the_file_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "caesura.db"
    await asyncio.to_thread(_open_and_die, path)
    database = Sqlite(path)
    assert await _names(database) == ["theirs"]
    await database.close()


async def test_a_closed_database_can_be_opened_again(tmp_path: Path) -> None:
    for number in range(3):
        database = Sqlite(tmp_path / "caesura.db")
        await database.write(users.create, f"user-{number}", "hash")
        await database.close()
        await database.close()
    database = Sqlite(tmp_path / "caesura.db")
    assert len(await _names(database)) == 3
    await database.close()


async def test_closing_waits_for_queued_work_and_refuses_later_work(database: Sqlite) -> None:
    with _held(database):
        begun = asyncio.create_task(database.write(users.create, "begun", "hash"))
        await asyncio.sleep(0.05)
        closing = asyncio.create_task(database.close())
        await asyncio.sleep(0.05)
        late = asyncio.create_task(database.write(users.create, "late", "hash"))
        with pytest.raises(Unavailable, match="the database is closed"):
            await asyncio.wait_for(late, 60)
    await asyncio.gather(begun, closing)
    for work in (database.write, database.write_lightly, database.read):
        with pytest.raises(Unavailable, match="the database is closed"):
            await work(users.listing)


@pytest.mark.parametrize("kind", ["folder", "text", "inside a file"])
async def test_a_file_that_is_no_database_stops_the_start_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_text("this is no database" * 100)
    if kind == "inside a file":
        path = path / "caesura.db"
    with pytest.raises(StartupError) as caught:
        await open_database(f"sqlite:///{path}")
    assert str(caught.value).startswith(f"{path} cannot be opened: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "://alice:secret@host",
        "postgresql://alice:secret@host:port/x",
        "mysql://alice:secret@host/x",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
async def test_a_url_of_no_known_database_stops_the_start_without_the_password(url: str) -> None:
    with pytest.raises(StartupError, match="sqlite:///path/to/file") as caught:
        await open_database(url)
    assert "secret" not in str(caught.value)


async def test_the_folder_is_made_and_the_lock_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "caesura.db"
    database = await open_database(f"sqlite:///{path}")
    assert not database.shared
    assert os.stat(f"{path}.lock").st_mode & 0o777 == 0o600
    await database.close()


async def _names(database: Sqlite) -> list[str]:
    return [user.id for user in await database.read(users.listing)]


def _limit_pages(connection: Connection, more: int) -> None:
    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + more}")


def _run(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", OPEN, str(path)]
    return subprocess.run(command, input="", capture_output=True, text=True, check=False)


def _open_and_die(path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "open\n"
        owner.send_signal(signal.SIGKILL)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Another process is in the middle of a write to the file."""
    command = [sys.executable, "-c", LOCK, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            sqlite3.connect(path, timeout=0).execute("BEGIN IMMEDIATE")
        yield
        other.kill()


@contextmanager
def _held(database: Sqlite) -> Iterator[None]:
    """The writer is busy: all later units wait."""
    begun, go = threading.Event(), threading.Event()

    def hold(connection: Connection) -> None:
        begun.set()
        go.wait(60)

    thread = threading.Thread(target=database.write_now, args=(hold,))
    thread.start()
    begun.wait(60)
    try:
        yield
    finally:
        go.set()
        thread.join()


async def test_a_slow_reader_stops_neither_the_writer_nor_a_checkpoint(
    database: Sqlite, tmp_path: Path
) -> None:
    begun, over = threading.Event(), threading.Event()

    def dawdle(connection: Connection) -> int:
        count = len(users.listing(connection))
        begun.set()
        assert over.wait(60)
        assert len(users.listing(connection)) == count
        return count

    reading = asyncio.ensure_future(database.read(dawdle))
    await asyncio.to_thread(begun.wait, 60)
    for number in range(20):
        await database.write(users.create, f"person-{number}", "x" * 20_000)
    busy, pages, moved = await database.read(_checkpoint)
    assert (busy, moved <= pages) == (0, True)
    over.set()
    assert await reading == 0
    assert (await database.read(_checkpoint))[1:] == (pages, pages)


def _checkpoint(connection: Connection) -> tuple[int, int, int]:
    with sqlite3.connect(connection.engine.url.database or "") as own:
        found: tuple[int, int, int] = own.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return found


async def test_readers_that_never_pause_do_not_let_the_log_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 2 * 1024 * 1024
    monkeypatch.setattr(sqlite_file, "LOG_LIMIT", limit)
    monkeypatch.setattr(sqlite, "_LOOK", 1)
    monkeypatch.setattr(sqlite, "_PAUSE", 30.0)  # a busy machine may take long to end the readers
    database = Sqlite(tmp_path / "caesura.db")
    over = threading.Event()
    sizes: list[int] = []

    async def read() -> None:
        while not over.is_set():
            await database.read(_dawdle, 0.01)

    reading = [asyncio.create_task(read()) for _ in range(8)]
    for number in range(160):
        await database.write_lightly(users.create, f"person-{number}", "x" * 200_000)
        sizes.append((tmp_path / "caesura.db-wal").stat().st_size)
    over.set()
    await asyncio.gather(*reading)
    assert max(sizes) < 3 * limit
    assert len(await _names(database)) == 160
    await database.close()


async def test_every_connection_limits_the_size_of_the_log(database: Sqlite) -> None:
    def limit(connection: Connection) -> int:
        return int(connection.exec_driver_sql("PRAGMA journal_size_limit").scalar_one())

    assert await database.write(limit) == await database.read(limit) == sqlite_file.LOG_LIMIT


async def test_a_reader_that_does_not_end_does_not_block_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "LOG_LIMIT", 1024)
    monkeypatch.setattr(sqlite, "_LOOK", 1)
    monkeypatch.setattr(sqlite, "_PAUSE", 0.01)
    monkeypatch.setattr(sqlite, "_AGAIN", 0.0)
    database = Sqlite(tmp_path / "caesura.db")
    begun, over = threading.Event(), threading.Event()

    def stay(connection: Connection) -> int:
        count = len(users.listing(connection))
        begun.set()
        assert over.wait(60)
        return count

    reading = asyncio.ensure_future(database.read(stay))
    await asyncio.to_thread(begun.wait, 60)
    for number in range(10):
        await database.write(users.create, f"person-{number}", "x")
        assert len(await _names(database)) == number + 1
    over.set()
    assert await reading == 0
    await database.write(users.create, "last", "x")
    await database.write_lightly(lambda connection: None)  # waits for what the writer did after that
    assert (tmp_path / "caesura.db-wal").stat().st_size == 0
    await database.close()


def _dawdle(connection: Connection, seconds: float) -> None:
    connection.exec_driver_sql("SELECT count(*) FROM users").scalar_one()
    time.sleep(seconds)


def _create(connection: Connection) -> int:
    users.create(connection, "bob", "hash")
    return threading.get_ident()


def _thread(connection: Connection) -> int:
    return threading.get_ident()


async def _once_in_the_loop(
    run: Callable[..., Awaitable[int]], work: Callable[[Connection], int] = _thread
) -> bool:
    """Whether the event loop does this itself before long: it may just have been too slow."""
    for _ in range(100):
        if await run(brief(partial(work))) == threading.get_ident():
            return True
        await asyncio.sleep(_REST)
    return False


def _names_now(connection: Connection) -> list[str]:
    return [user.id for user in users.listing(connection)]
