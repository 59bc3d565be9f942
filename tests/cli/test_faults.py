"""Wrong settings are reported in one clear line, with exit code 2."""

import socket
from pathlib import Path

import pytest

from tests import programs
from tests.api.server import Served
from tests.cli.conftest import Ran, Run
from tests.models.authority import Authority
from tests.relay import Relay


def one_line(ran: Ran, code: int = 2) -> str:
    assert ran.code == code
    # A server that a test runs in this process may log there, too.
    lines = [line for line in ran.err.splitlines() if not line.startswith('{"at":')]
    assert len(lines) == 1
    assert lines[0].startswith("caesura: ")
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serve", "--port", "x"), ": --port: "),
        (("serve", "--auth", "none", "--host", "0.0.0.0"), "--auth none needs a loopback --host such as"),
        (("serve", "--database-url", "mysql://x"), ": --database-url: must be"),
        (
            ("serve", "--database-url", "postgresql://x/y"),
            "CAESURA_SECRET is required with a --database-url that is not SQLite",
        ),
        (("serve", "--agents-dir", "nowhere", "--port", "0"), "--agents-dir: there is no folder nowhere"),
        (("serve", "--default-agent", "nobody", "--port", "0"), "--default-agent: agent not found: nobody"),
        (("serve", "--model", "foo:bar", "--port", "0"), "--model: unknown model provider: foo"),
        (("serve", "--data-dir", "/dev/null/x", "--port", "0"), "/dev/null/x"),
        (
            ("serve", "--redis-url", "redis://u:secret@127.0.0.1:1/0?socket_timeout=secret"),
            "--redis-url: the option socket_timeout cannot be used",
        ),
        (
            ("serve", "--redis-url", "redis://127.0.0.1:1/0?timeout=1"),
            "--redis-url: the option timeout cannot be used",
        ),
        (("serve", "--redis-url", "redis://127.0.0.1:1/0?protocol=9"), "protocol must be"),
        (("serve", "--redis-url", "redis://127.0.0.1:1/0?db=secret"), "--redis-url: Invalid value for 'db'"),
        (
            ("serve", "--database-url", "postgresql://u:p@ss@127.0.0.1/x"),
            "--database-url: must be written so",
        ),
        (("user", "list", "--database-url", "postgresql://u:p@ss@127.0.0.1/x"), "write %40 for @, %2F for /"),
        (("serve", "--host", "192.0.2.1"), "cannot listen on 192.0.2.1:8000"),
        (("user", "list", "--data-dir", "/dev/null/x"), "/dev/null/x"),
        (("token", "alice", "--database-url", "x"), "--database-url"),
        (("agents", "list", "--agents-dir", ""), ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_setting_is_reported_in_one_line(run: Run, arguments: tuple[str, ...], told: str) -> None:
    if told:
        assert told in one_line(run(*arguments))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("serve", "--prot", "1"), "No such option: --prot"),
        (("events",), "Missing argument 'TURN': see `caesura events --help`"),
        (("events", "x", "--after", "-1"), "Invalid value for '--after'"),
        (("nonsense",), "No such command 'nonsense': see `caesura --help`"),
        (("chat", "a", "b"), "see `caesura chat --help`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_is_reported_in_one_line(run: Run, arguments: tuple[str, ...], told: str) -> None:
    assert told in one_line(run(*arguments))


def test_a_wrong_variable_is_reported_in_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_RATE_RUNS", "often")
    assert "CAESURA_RATE_RUNS: must be such as 60/minute" in one_line(run("serve"))


def test_an_address_that_is_none_is_told_by_its_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "nowhere at all")
    told = one_line(run("serve", "--port", "0"))
    assert told == "caesura: OPENAI_BASE_URL is no address of an HTTP server (or CAESURA_MODEL=demo)"


def test_a_port_in_use_is_reported_in_one_line(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = one_line(run("serve", "--port", port))
        assert f"cannot listen on 127.0.0.1:{port}" in told
        assert told.endswith(": choose another --port")


def test_a_database_in_use_is_reported_in_one_line(run: Run, server: Served) -> None:
    told = one_line(run("serve", "--port", 0, "--data-dir", server.settings.data_dir))
    assert told.endswith("is in use by another Caesura process: stop it, or use another --data-dir")


def test_an_unreachable_server_is_reported_in_one_line(run: Run) -> None:
    told = one_line(run("chat", "--url", "http://127.0.0.1:9"), code=1)
    assert "is `caesura serve` running at http://127.0.0.1:9?" in told
    assert "is not an address" in one_line(run("events", "turn-x", "--url", "nowhere"), code=1)


@programs.needs("openssl")
def test_a_certificate_that_is_not_trusted_is_not_a_server_that_does_not_run(
    run: Run, server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    monkeypatch.setenv("CAESURA_TOKEN", server.token("alice"))
    with Relay(server.url, authority.context) as relay:
        told = one_line(run("chat", "echo good day", "--url", relay.url), code=1)
        assert "the certificate of 127.0.0.1 is not trusted" in told
        assert "SSL_CERT_FILE" in told
        assert "caesura serve" not in told
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
        assert "good day" in run("chat", "echo good day", "--url", relay.url).out
