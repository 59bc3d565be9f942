"""The doctor finds what is wrong, and says what to do."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_a_healthy_server_is_told_so(run: Run) -> None:
    ran = run("doctor")
    found = [line.split()[:2] for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [what for _, what in found] == ["settings", "secret", "database", "model", "sandbox", "agents"]
    assert {state for state, _ in found} <= {"ok", "note"}
    assert "demo (no AI)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--redis-url", "redis://127.0.0.1:9/0"), "correct CAESURA_REDIS_URL"),
        (("--model", "openai:gpt-4o"), "model openai:gpt-4o needs a key: set OPENAI_API_KEY"),
        (("--model", "openia:gpt-4o"), "unknown model provider: openia"),
        (("--agents-dir", "nowhere"), "the agents folder does not exist"),
        (("--data-dir", "/dev/null/x"), "make it writable, or name another"),
        (("--database-url", "mysql://x"), "CAESURA_DATABASE_URL"),
    ],
    ids=str,
)
def test_a_fault_is_told_with_its_remedy(run: Run, arguments: tuple[str, ...], told: str) -> None:
    ran = run("doctor", *arguments)
    assert ran.code == 1
    (fault,) = [line for line in ran.out.splitlines() if line.startswith("fault") and told in line]
    assert fault


def test_a_postgresql_that_is_away_is_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_SECRET", "x" * 40)
    ran = run("doctor", "--database-url", "postgresql://alice:geheim@127.0.0.1:9/x?connect_timeout=1")
    assert ran.code == 1
    assert "start it, or correct the URL" in ran.out
    assert "geheim" not in ran.out


def test_a_redis_that_answers_is_ok(run: Run, redis_url: str) -> None:
    assert "ok     redis      answers" in run("doctor", "--redis-url", redis_url).out


def test_a_sandbox_that_is_missing_is_no_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run("doctor")
    assert ran.code == 0
    assert "apt-get install bubblewrap" in ran.out
