"""Another service that vouches for people with a shared key, and people whom the operator links to it."""

import re
import shlex
from pathlib import Path

import httpx
import pytest

from caesura.core.errors import StartupError
from tests.api.reading import conversation, until
from tests.api.server import SECRET, Served
from tests.cli.conftest import Run
from tests.login_service import AUDIENCE, ISSUER, shared, signed

SHARED = "a key that both services know, of 40 byte"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def use(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"CAESURA_JWT_{name}", value)


def test_a_shared_key_and_a_claim_of_the_operators_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """And a person with a password, for whom the operator lets the other service vouch."""
    use(monkeypatch, ISSUER=ISSUER, AUDIENCE=AUDIENCE, KEY=SHARED, CLAIM="user_id")
    with Served(tmp_path) as server, server.client(None) as client:

        def come(subject: object, algorithm: str = "HS256", secret: str = SHARED) -> httpx.Response:
            token = signed(shared(secret), algorithm, sub="somebody", user_id=subject)
            return client.get("/api/v2/me", headers=bearer(token))

        assert come(4711).json() == {"user_id": "4711"}
        assert come("4711").json() == {"user_id": "4711"}
        wrongs: tuple[object, ...] = (None, True, 1.5, {})
        for wrong in wrongs:
            assert come(wrong).status_code == 401
        assert come("x", "HS512").status_code == 401
        assert come("x", secret="another key, which is also long enough").status_code == 401
        with server.client("mia") as own:
            kept = conversation(own)
        assert "are mia's now" in run("user", "link", "mia", "Mia@example.org").out
        assert come("Mia@example.org").json() == {"user_id": "mia"}
        token = bearer(signed(shared(SHARED), "HS256", user_id="Mia@example.org"))
        for headers in (token, server.headers("mia")):
            assert kept in client.get("/api/v2/conversations", headers=headers).text
        assert "mia is Mia@example.org already" in run("user", "link", "4711", "Mia@example.org").err
        assert run("user", "link", "nobody", "x").err == "caesura: user not found: nobody\n"
        assert "Mia@example.org" in run("user", "list").out
        with server.client(None) as browser:
            browser.post("/api/auth/session", headers=token).raise_for_status()
            assert browser.get("/api/auth/session").json()["user_id"] == "mia"
            monkeypatch.delenv("CAESURA_JWT_KEY")
            told = run("user", "unlink", "mia")
            assert (told.code, told.out) == (0, "no tokens of another service are mia's now\n")
            until(lambda: browser.get("/api/auth/session").status_code == 401)
        assert come("Mia@example.org").json()["user_id"].startswith("mia-example.org-")
    monkeypatch.setenv("CAESURA_JWT_KEY", SECRET)
    with pytest.raises(StartupError, match="CAESURA_JWT_KEY must not be the secret"), Served(tmp_path):
        pass


def test_who_came_before_the_link_is_joined_with_who_was_here_as_the_refusal_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    use(monkeypatch, ISSUER=ISSUER, AUDIENCE=AUDIENCE, KEY=SHARED)
    subject = "alice o'neill"
    token = bearer(signed(shared(SHARED), "HS256", sub=subject))
    with Served(tmp_path) as server, server.client(None) as client:
        server.token("alice")
        other = client.get("/api/v2/me", headers=token).json()["user_id"]
        made = client.post("/api/v2/conversations", headers=token, json={}).json()["id"]
        refused = run("user", "link", "alice", subject)
        assert (refused.code, f"{other} is {subject} already" in refused.err) == (1, True)
        recipe = re.findall(r"`caesura (.+?)`", refused.err)
        assert [command.split()[:2] for command in recipe] == [
            ["user", "unlink"],
            ["user", "link"],
            ["user", "remove"],
        ]
        for command in recipe:
            yes = ("--yes",) if " remove " in command else ()
            assert run(*shlex.split(command), *yes).code == 0
        assert client.get("/api/v2/me", headers=token).json() == {"user_id": "alice"}
        assert made in client.get("/api/v2/conversations", headers=token).text
        assert [line.split()[0] for line in run("user", "list").out.splitlines()] == ["alice"]


def test_to_unlink_somebody_who_is_not_linked_says_so(tmp_path: Path, run: Run) -> None:
    with Served(tmp_path) as server:
        server.token("alice")
        told = run("user", "unlink", "alice")
        assert told == (0, "no tokens of another service were alice's: nothing was changed\n", "")
        assert run("user", "unlink", "nobody").err == "caesura: user not found: nobody\n"


def test_a_link_says_at_once_everything_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    every = ("CAESURA_JWT_ISSUER", "CAESURA_JWT_AUDIENCE", "CAESURA_JWT_JWKS (or CAESURA_JWT_KEY)")
    with Served(tmp_path) as server:
        server.token("alice")
        told = run("user", "link", "alice", "alice")
        assert (told.code, [name in told.err for name in every]) == (2, [True] * 3)
        use(monkeypatch, ISSUER=ISSUER)
        told = run("user", "link", "alice", "alice")
        assert (told.code, [f"{name} " in told.err for name in every[1:]]) == (2, [True] * 2)


def test_who_links_nobody_needs_no_settings_of_the_other_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    use(monkeypatch, ISSUER=ISSUER, ALGORITHMS="none")
    with Served(tmp_path, jwt_issuer="", jwt_algorithms=()):
        assert run("user", "add", "alice", stdin="correct horse").code == 0
        assert run("user", "password", "alice", stdin="correct horses").code == 0
        assert run("user", "role", "alice", "admin").code == 0
        assert run("user", "disable", "alice").code == 0
        assert run("user", "enable", "alice").code == 0
        assert run("token", "alice").code == 0
        assert run("user", "list").code == 0
        assert run("user", "invite").code == 0
        assert run("user", "remove", "alice").code == 1
        assert run("user", "remove", "alice", "--yes").code == 0
