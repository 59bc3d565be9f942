"""The doctor reports what is wrong, and says what to do."""

import socket
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url

from caesura.agents.tools.sandbox import Sandbox
from tests import agent_files
from tests.api.server import SECRET, Served
from tests.cli.conftest import Run
from tests.login_service import AUDIENCE, ISSUER, ed, key_server, public
from tests.programs import needs
from tests.servers.server import free_port

PASSWORD = "correct horse"


def test_a_healthy_server_has_no_fault(run: Run) -> None:
    ran = run("doctor")
    found = [line.split()[:2] for line in ran.out.splitlines()]
    assert ran.code == 0
    assert list(dict.fromkeys(what for _, what in found)) == [
        *("settings", "address", "secret", "database", "model", "search", "sandbox", "agents"),
    ]
    assert {state for state, _ in found} <= {"ok", "note"}
    assert "demo (no AI)" in ran.out


def test_the_search_engine_is_named_without_its_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no search engine is set" in run("doctor").out
    monkeypatch.setenv("CAESURA_SEARCH_URL", "https://search.example")
    monkeypatch.setenv("CAESURA_SEARCH_KIND", "tavily")
    monkeypatch.setenv("CAESURA_SEARCH_KEY", "tvly-0123456789")
    ran = run("doctor")
    assert "ok     search     tavily at https://search.example, with a key" in ran.out
    assert "0123456789" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--host", "0.0.0.0", "--registration", "open"), True),
        (("--host", "0.0.0.0"), False),
        (("--host", "0.0.0.0", "--registration", "closed"), False),
        (("--registration", "open"), False),
    ],
)
def test_registration_that_is_open_to_others_is_pointed_out(
    run: Run, arguments: tuple[str, ...], told: bool
) -> None:
    ran = run("doctor", "--port", str(free_port()), *arguments)
    assert ran.code == 0
    assert ("note   register   open to whoever reaches the server" in ran.out) is told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--redis-url", "redis://127.0.0.1:9/0"), "correct --redis-url"),
        (("--redis-url", "redis://127.0.0.1:9/0?retry=x"), "--redis-url: the option retry cannot be used"),
        (("--redis-url", "redis://h/0?ssl_password=x"), "--redis-url: the option ssl_password needs rediss:"),
        (("--redis-url", "redis://127.0.0.1:9/0?protocol=9"), "--redis-url: protocol must be"),
        (("--redis-url", "redis://a..b/0"), "--redis-url: must be redis://host:port/number"),
        (("--redis-url", "redis://:ge@heim@127.0.0.1:9/0"), "--redis-url: must be written so that"),
        (("--model", "openai:gpt-4o"), "model openai:gpt-4o needs a key: set OPENAI_API_KEY"),
        (("--model", "openia:gpt-4o"), "unknown model provider: openia"),
        (("--agents-dir", "nowhere"), "the agents folder does not exist"),
        (("--data-dir", "/dev/null/x"), "make it writable, or name another"),
        (("--database-url", "mysql://x"), "--database-url: must be"),
        (("--database-url", "sqlite:///:memory:"), "must be sqlite:///path/to/file"),
        (("--database-url", "sqlite:////dev/null/x.db"), "/dev/null is not a folder"),
        (("--host", "8.8.8.8"), "cannot listen on 8.8.8.8:8000"),
        (("--host", "nowhere.invalid"), "correct --host or CAESURA_PORT"),
    ],
    ids=str,
)
def test_a_fault_is_reported_with_its_remedy(run: Run, arguments: tuple[str, ...], told: str) -> None:
    ran = run("doctor", *arguments)
    assert ran.code == 1
    (fault,) = [line for line in ran.out.splitlines() if line.startswith("fault") and told in line]
    assert fault


def test_the_keys_of_another_service_are_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "keys.json"
    settings = {"ISSUER": ISSUER, "AUDIENCE": AUDIENCE, "JWKS": str(path)}
    for name, value in settings.items():
        monkeypatch.setenv(f"CAESURA_JWT_{name}", value)
    ran = run("doctor")
    assert (ran.code, "fault  tokens" in ran.out, "correct CAESURA_JWT_JWKS" in ran.out) == (1, True, True)
    path.write_bytes(public(ed("one")))
    assert f"ok     tokens     of {ISSUER}, 1 key\n" in run("doctor").out
    monkeypatch.setenv("CAESURA_JWT_ALGORITHMS", "RS256")
    assert "has no key for RS256" in run("doctor").out
    monkeypatch.setenv("CAESURA_JWT_JWKS", f"http://127.0.0.1:{free_port()}/keys")
    assert "cannot be reached: connection refused: correct CAESURA_JWT_JWKS" in run("doctor").out


@pytest.mark.parametrize(("body", "told"), [(b'{"keys": []}', "has no key for"), (None, "cannot be reached")])
def test_the_query_of_the_address_of_keys_is_not_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, body: bytes | None, told: str
) -> None:
    with key_server(body or b"") as theirs:
        url = theirs.url if body is not None else f"http://127.0.0.1:{free_port()}/keys"
        for name, value in {"ISSUER": ISSUER, "AUDIENCE": AUDIENCE, "JWKS": f"{url}?key=hidden"}.items():
            monkeypatch.setenv(f"CAESURA_JWT_{name}", value)
        ran = run("doctor")
    assert told in ran.out
    assert "hidden" not in ran.out + ran.err


def test_an_unreachable_postgresql_is_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_SECRET", "x" * 40)
    ran = run("doctor", "--database-url", "postgresql://alice:geheim@127.0.0.1:9/x?connect_timeout=1")
    assert ran.code == 1
    assert "start it, or correct the URL" in ran.out
    assert "geheim" not in ran.out


@pytest.mark.parametrize("place", ["a..b/x", "127.0.0.1/x?host=a..b", "127.0.0.1/x?host=a&host=b:c"])
def test_a_postgresql_without_a_valid_host_is_a_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("CAESURA_SECRET", "x" * 40)
    monkeypatch.setenv("CAESURA_DATABASE_URL", f"postgresql://alice:geheim@{place}")
    ran = run("doctor")
    (fault,) = [line for line in ran.out.splitlines() if line.startswith("fault")]
    assert "cannot be opened" in fault
    assert "geheim" not in ran.out
    served = run("serve", "--port", "0")
    assert served.code == 2
    assert "cannot be" in served.err
    assert "geheim" not in served.err
    assert "Traceback" not in served.err


def test_a_redis_that_answers_is_ok(run: Run, redis_url: str) -> None:
    assert "ok     redis      answers\n" in run("doctor", "--redis-url", redis_url).out


def test_an_agent_that_uses_redis_is_pointed_out(run: Run, redis_url: str, tmp_path: Path) -> None:
    agent_files.put(tmp_path / "agents", "keeper", "interrupt: {checkpoint_backend: redis}")
    ran = run("doctor", "--agents-dir", tmp_path / "agents")
    assert ran.code == 0
    assert "agent keeper: its questions are not shown in Redis" in ran.out
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--redis-url", redis_url)
    assert "ok     redis      answers, and shows the questions of keeper\n" in ran.out


def test_what_may_be_wrong_with_an_agent_is_a_note(run: Run, tmp_path: Path) -> None:
    agent_files.put(tmp_path / "agents", "twice", "tools: [read_file, read_file]")
    ran = run("doctor", "--agents-dir", tmp_path / "agents")
    assert ran.code == 0
    assert (
        "note   agents     agent twice: read_file is listed 2 times in spec.tools (once is enough)" in ran.out
    )


def test_a_missing_sandbox_is_not_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run("doctor")
    assert ran.code == 0
    assert "apt-get install bubblewrap" in ran.out


@needs("bwrap")
def test_each_weakness_of_the_sandbox_has_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def weaknesses(self: Sandbox) -> list[str]:
        return ["the first", "the second"]

    monkeypatch.setattr(Sandbox, "weaknesses", weaknesses)
    lines = [line for line in run("doctor").out.splitlines() if line.split()[1] == "sandbox"]
    assert [line.split(maxsplit=2)[0::2] for line in lines] == [
        ["ok", "bubblewrap works: agents may run commands"],
        ["note", "the first"],
        ["note", "the second"],
    ]


# --- it changes nothing


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def test_files_that_serve_would_create_are_reported_and_not_created(run: Run, tmp_path: Path) -> None:
    ran = run("doctor")
    assert ran.code == 0
    assert "ok     secret     data/secret would be made, and its folder" in ran.out
    assert f"SQLite, {tmp_path}/data/caesura.db would be made, and its folder" in ran.out
    assert contents(tmp_path) == {}


def test_existing_files_are_read_and_not_changed(run: Run, tmp_path: Path) -> None:
    run("user", "add", "alice", stdin=PASSWORD)
    run("token", "alice")
    before = contents(tmp_path)
    ran = run("doctor")
    assert "ok     secret     from data/secret" in ran.out
    assert "ok     database   SQLite, 1 people" in ran.out
    assert contents(tmp_path) == before


def test_a_schema_of_another_version_is_reported_and_not_changed(run: Run, tmp_path: Path) -> None:
    run("user", "add", "alice", stdin=PASSWORD)
    path = tmp_path / "data/caesura.db"
    for schema, code, told in (
        ("0000", 0, "schema 0000: it would be brought to"),
        ("9999", 1, "newer Caesura"),
    ):
        connection = sqlite3.connect(path)
        connection.execute("UPDATE alembic_version SET version_num = ?", (schema,))
        connection.commit()
        connection.close()
        before = contents(tmp_path)
        ran = run("doctor")
        assert ran.code == code
        assert told in ran.out
        assert contents(tmp_path) == before


def test_a_file_that_is_not_a_database_is_a_fault(run: Run, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/caesura.db").write_bytes(b"not a database at all" * 100)
    assert "fault  database" in run("doctor").out


def test_no_tables_are_created_in_an_empty_postgresql(
    run: Run, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    empty = run("doctor", "--database-url", postgres_url)
    assert "ok     database   PostgreSQL, empty: its tables would be made" in empty.out
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    assert inspect(engine).get_table_names() == []
    engine.dispose()
    assert run("user", "add", "alice", "--database-url", postgres_url, stdin=PASSWORD).code == 0
    ran = run("doctor", "--database-url", postgres_url)
    assert "ok     database   PostgreSQL, 1 people" in ran.out


# --- what already listens


def test_a_port_in_use_is_reported(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        taken.settimeout(0)
        ran = run("doctor", "--port", port)
    assert ran.code == 0
    assert f"note   address    something listens at 127.0.0.1:{port} already" in ran.out


def test_a_running_server_is_reported(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_SECRET", SECRET)
    with Served(tmp_path) as server:
        server.token("alice")
        ran = run("doctor", "--port", server.port)
    assert ran.code == 0
    assert "note   address    a server that answers /health, perhaps Caesura itself, listens at" in ran.out
    assert "ok     database   SQLite, 1 people" in ran.out


def test_a_free_port_is_reported(run: Run) -> None:
    port = free_port()
    assert f"ok     address    127.0.0.1:{port} is free" in run("doctor", "--port", port).out
    assert "ok     address    any port that is free" in run("doctor", "--port", 0).out
