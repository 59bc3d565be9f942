"""Another service that vouches for people with a shared key, and people whom the operator links to it."""

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


def test_a_shared_key_and_a_claim_of_the_operators_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """And a person with a password, for whom the operator lets the other service vouch."""
    for name, value in {"ISSUER": ISSUER, "AUDIENCE": AUDIENCE, "KEY": SHARED, "CLAIM": "user_id"}.items():
        monkeypatch.setenv(f"CAESURA_JWT_{name}", value)
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
        assert "somebody else is" in run("user", "link", "4711", "Mia@example.org").err
        assert run("user", "link", "nobody", "x").err == "caesura: user not found: nobody\n"
        assert "Mia@example.org" in run("user", "list").out
        with server.client(None) as browser:
            browser.post("/api/auth/session", headers=token).raise_for_status()
            assert browser.get("/api/auth/session").json()["user_id"] == "mia"
            assert run("user", "unlink", "mia").code == 0
            until(lambda: browser.get("/api/auth/session").status_code == 401)
        assert come("Mia@example.org").json()["user_id"].startswith("mia-example.org-")
    monkeypatch.setenv("CAESURA_JWT_KEY", SECRET)
    with pytest.raises(StartupError, match="CAESURA_JWT_KEY must not be the secret"), Served(tmp_path):
        pass
