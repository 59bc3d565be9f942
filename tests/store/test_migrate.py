"""How a database is migrated to this program's schema, from any state."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from caesura.core import codec
from caesura.core import events as ev
from caesura.core.artifacts import update
from caesura.core.errors import StartupError
from caesura.store import artifacts, events, indexes, migrate, showings, users
from caesura.store.open import open_database
from tests.accounts import accounts
from tests.conformance.rows import turns_of
from tests.servers import Postgres

ROOT = Path(__file__).parents[2]
OPEN = """
import asyncio, sys
from caesura.store.open import open_database
asyncio.run(open_database(sys.argv[1]))
"""
Shape = dict[str, list[str]]
Rows = dict[str, list[dict[str, Any]]]
_ADDED = re.compile(r", (?=\w+ [A-Z])")


def test_migrations_form_one_linear_history() -> None:
    scripts = ScriptDirectory.from_config(migrate._config())
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert sorted(revisions, reverse=True) == revisions
    assert scripts.get_current_head() == revisions[0]


def test_the_migrated_schema_equals_the_declared_one(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection)
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, indexes.complete()) == []


def test_the_migrated_schema_equals_the_declared_one_in_every_detail(bare_url: str) -> None:
    """Includes what the comparison above ignores: defaults, checks, partial indexes, cascades."""
    with _connected(bare_url) as connection:
        migrate.upgrade(connection)
        migrated = _shape(connection)
        connection.execute(text("DROP TABLE alembic_version"))
        indexes.complete().drop_all(connection)
        assert _shape(connection) == {}
        indexes.complete().create_all(connection)
        assert _shape(connection) == {
            name: parts for name, parts in migrated.items() if name != "alembic_version"
        }


def test_migrating_again_changes_nothing(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection)
        before = _shape(connection)
        migrate.upgrade(connection)
        assert _shape(connection) == before


async def test_a_database_of_the_first_schema_opens_and_keeps_its_rows(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection, "0001")
        _fill(connection)
        before = _rows(connection)
    assert {name for name, rows in before.items() if not rows} <= {"checkpoints", "checkpoint_writes"}
    database = await open_database(bare_url)
    after = await database.read(_rows)
    assert _kept(before, after) == {name: rows for name, rows in before.items() if name != "alembic_version"}
    assert set(after) == {"alembic_version", *indexes.complete().tables}
    kept, counted = await database.read(accounts)
    assert kept == counted
    assert kept["conv-1"] > len("hello")
    [turn] = await database.read(turns_of, "conv-1")
    assert (turn.content, turn.grants) == ("hello", ("execute",))
    assert [item.event for item in await database.read(events.read, turn.num, 0, 10)] == [
        ev.TextDelta(1, "hi")
    ]
    # A question that waits now may have been shown already.
    assert not await database.read(showings.unseen, turn.num, ["int-1"], "anybody")
    await database.close()


async def test_versions_from_before_changes_were_stored_are_read(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection, "0001")
        _fill(connection)
        migrate.upgrade(connection, "0008")
        connection.execute(
            text("INSERT INTO artifacts VALUES ('conv-1', 'plan', 'A plan', 'text/markdown', 1, 1, 1)")
        )
        old = "INSERT INTO artifact_versions (conversation_id, artifact_id, version, update_type, changes,"
        connection.execute(
            text(f"{old} content, created_at) VALUES ('conv-1', 'plan', 1, 'create', :none, :content, 1)"),
            {"none": b"[]", "content": "old 中".encode()},
        )
    database = await open_database(bare_url)
    artifact, version = await database.read(artifacts.current, "conv-1", "plan")
    assert (artifact.title, version.content, version.changes) == ("A plan", "old 中", [])
    base = await database.read(artifacts.base, "conv-1", "plan")
    made = artifacts.draft(update(base.content, "old", "new"), base)
    await database.write(artifacts.add, "conv-1", "plan", made)
    assert (await database.read(artifacts.version, "conv-1", "plan", 2)).content == "new 中"
    await database.close()


async def test_killed_after_any_statement_of_a_migration_it_opens_the_next_time(bare_url: str) -> None:
    lines = await asyncio.to_thread(_die_and_open, bare_url)
    assert lines[-1] == "through"
    left_behind = [json.loads(line) for line in lines[:-1]]
    assert len(left_behind) > len(indexes.complete().tables)
    assert left_behind == [[]] * len(left_behind)
    with _connected(bare_url) as connection:
        assert set(inspect(connection).get_table_names()) == {"alembic_version", *indexes.complete().tables}


async def test_killed_while_an_older_database_is_migrated_it_loses_nothing(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection, "0001")
        _fill(connection)
        before = _rows(connection)
    lines = await asyncio.to_thread(_die_and_open, bare_url)
    assert lines[-1] == "through"
    assert len(lines) > 2
    for line in lines[:-1]:
        assert set(json.loads(line)) == set(before)
    with _connected(bare_url) as connection:
        after = _rows(connection)
        kept = _kept(before, after)
        assert (kept["turns"], kept["events"]) == (before["turns"], before["events"])


async def test_a_newer_schema_is_refused_in_one_line_and_left_alone(bare_url: str) -> None:
    with _connected(bare_url) as connection:
        migrate.upgrade(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        before = _shape(connection)
    with pytest.raises(StartupError) as caught:
        await open_database(bare_url)
    message = str(caught.value)
    assert message.endswith(
        " cannot be opened: the database has schema 9999, made by a newer Caesura than this one"
    )
    assert "\n" not in message
    with _connected(bare_url) as connection:
        assert _shape(connection) == before
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{migrate.newest()}'"))
    await (await open_database(bare_url)).close()


async def test_processes_that_open_one_new_database_at_once_all_succeed(
    postgres: Postgres, postgres_url: str
) -> None:
    processes = asyncio.to_thread(_open_in_processes, postgres_url, 2)
    here = asyncio.gather(*(open_database(postgres_url) for _ in range(3)))
    codes, databases = await asyncio.gather(processes, here)
    assert codes == [0, 0]
    for database in databases:
        assert await database.read(users.listing) == []
        await database.close()


def _fill(connection: Connection) -> None:
    """A person, their messages, and what waits for them, in the first schema."""
    body = codec.encode([ev.TextDelta(1, "hi")])
    for statement, values in (
        ("INSERT INTO users VALUES ('alice', 'hash', 1, 5)", {}),
        (
            "INSERT INTO conversations VALUES"
            " ('conv-1', 'alice', 'demo', NULL, 'session', 'turn-1', 1, 5, 5)",
            {},
        ),
        (
            "INSERT INTO turns (id, conversation_id, user_id, ordinal, agent, status, owner, lease_until,"
            " epoch, segment, message_count, content, messages, grants, created_at)"
            " VALUES ('turn-1', 'conv-1', 'alice', 1, 'demo', 'running', 'node-1', 1000, 1, 1, 1,"
            " :content, :messages, :grants, 5)",
            {"content": b"hello", "messages": b"[]", "grants": b'["execute"]'},
        ),
        ("INSERT INTO events VALUES (1, 1, 1, 5, 1, :body)", {"body": body}),
        (
            "INSERT INTO interrupts (id, turn, user_id, graph_id, status, body, created_at)"
            " VALUES ('int-1', 1, 'alice', 'g', 'pending', :body, 5)",
            {"body": b'{"id":"int-1","kind":"approval"}'},
        ),
        (
            "INSERT INTO tool_calls (turn, id, name, args, status, begun_at)"
            " VALUES (1, 'c1', 'execute', :args, 'begun', 5)",
            {"args": b"{}"},
        ),
        ("INSERT INTO keys VALUES ('alice', 'k', 'print', 'conv-1', :given, 5)", {"given": b"{}"}),
    ):
        connection.execute(text(statement), values)


def _kept(before: Rows, after: Rows) -> Rows:
    """The rows after a migration, reduced to the columns that existed before it."""
    return {
        name: [{column: row[column] for column in old} for old, row in zip(rows, after[name], strict=True)]
        for name, rows in before.items()
        if name != "alembic_version"
    }


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def _rows(connection: Connection) -> Rows:
    names = inspect(connection).get_table_names()
    return {
        name: [dict(row) for row in connection.execute(text(f"SELECT * FROM {name}")).mappings()]
        for name in names
    }


def _shape(connection: Connection) -> Shape:
    """The definition of each table, as reported by the database."""
    found: Shape = {}
    rows = _SHAPES[connection.dialect.name]
    for name, part in connection.execute(text(rows)):
        # SQLite keeps the text: a column that was added later is on the line of the one before it.
        lines = sorted(line.strip(" \t,") for line in _ADDED.sub("\n", part).splitlines())
        found.setdefault(name, []).append(" ".join(lines))
    return {name: sorted(parts) for name, parts in found.items()}


_SHAPES = {
    "sqlite": """
        SELECT tbl_name, COALESCE(sql, name) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'
    """,
    "postgresql": """
        SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL
        SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT table_name::text, concat_ws(' ', column_name, data_type, character_maximum_length,
                                           is_nullable, column_default, is_identity)
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
}


def _die_and_open(url: str) -> list[str]:
    command = [sys.executable, "-m", "tests.store.dying", url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _open_in_processes(url: str, count: int) -> list[int]:
    running = [subprocess.Popen([sys.executable, "-c", OPEN, url]) for _ in range(count)]
    return [process.wait() for process in running]


def test_the_highest_number_is_the_newest_schema() -> None:
    assert migrate.newest() == ScriptDirectory.from_config(migrate._config()).get_current_head()
