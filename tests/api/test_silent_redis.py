"""A Redis that falls silent: one request is delayed, and Redis is used again once it is back."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.http import shared_tally
from caesura.http.limits import Limits
from caesura.http.shared_tally import SharedTally
from tests.api.reading import until
from tests.api.server import PASSWORD, Served
from tests.relay import Relay

RATES: dict[str, Any] = dict.fromkeys(
    ("rate_requests", "rate_runs", "rate_logins", "rate_registrations"), "9999/minute"
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Redis commands of requests, without those that check whether Redis is back."""
    commands: list[str] = []
    genuine = SharedTally._execute

    async def execute(self: SharedTally, *command: str | int) -> object:
        if not str(command[3:4]).endswith(":try',)"):
            commands.append(str(command[0]))
        return await genuine(self, *command)

    monkeypatch.setattr(SharedTally, "_execute", execute)
    return commands


def test_a_silent_redis_delays_one_request_and_is_used_again_when_it_is_back(
    tmp_path: Path,
    redis_url: str,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(shared_tally, "_PATIENCE", 30.0)
    with (
        Relay(redis_url) as relay,
        Served(tmp_path, redis_url=relay.url, **RATES) as server,
        server.client() as alice,
    ):
        server.call(_together(server.context.limits))
        assert (len(asked), _told(caplog)) == (8, [])

        relay.silence()
        asked.clear()
        monkeypatch.setattr(shared_tally, "_PATIENCE", 0.3)
        monkeypatch.setattr(shared_tally, "_PAUSE", 3600.0)
        login = {"username": "alice", "password": PASSWORD}
        assert alice.post("/api/auth/login", json=login).status_code == 200
        _ask_often(alice)
        assert (len(asked), _told(caplog)) == (1, ["lost"])

        relay.restore()
        monkeypatch.setattr(shared_tally, "_PATIENCE", 30.0)
        monkeypatch.setattr(server.context.limits._shared, "_again", 0.0)
        _ask_often(alice)
        until(lambda: _told(caplog) == ["lost", "back"])
        asked.clear()
        monkeypatch.setattr(shared_tally, "_PATIENCE", 4.0)  # less than the client waits before it reconnects
        server.call(_together(server.context.limits))
        assert (len(asked), _told(caplog)) == (8, ["lost", "back"])


def _ask_often(client: httpx.Client) -> None:
    assert {client.get("/api/v2/me").status_code for _ in range(20)} == {200}


async def _together(limits: Limits) -> None:
    """Run several requests at once, so that there are several connections to Redis."""
    await asyncio.gather(*(limits.requests("alice") for _ in range(8)))


def _told(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    return [
        "lost" if "does not answer" in message else "back" for message in found if message.startswith("Redis")
    ]
