"""A database that falls silent: no reset, no answer. The server says so, and can be ended."""

import signal
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.api.reading import conversation, send
from tests.api.test_serve import served
from tests.relay import Relay

SECRET = "a secret for tests, long enough to sign with"


def test_a_silent_database_is_told_and_does_not_keep_the_process(tmp_path: Path, postgres_url: str) -> None:
    port = urlsplit(postgres_url).port
    assert port is not None
    with Relay(port) as relay:
        url = postgres_url.replace(f":{port}/", f":{relay.port}/")
        with served(tmp_path, DATABASE_URL=url, SECRET=SECRET, DRAIN="0.5") as (process, client):
            send(client, conversation(client), "count to 100000 delay=0.01")
            assert client.get("/ready").status_code == 200
            relay.silence()
            refused = client.get("/ready")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert client.get("/health").status_code == 200
            assert _listing(client) == 503
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def _listing(client: httpx.Client) -> int:
    return client.get("/api/v2/conversations", timeout=60).status_code
