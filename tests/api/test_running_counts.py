"""Lists of conversations with running turns: their counts are right, and no list reads whole logs."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from caesura.core import codec
from caesura.core import events as ev
from caesura.store import events
from tests.api.reading import conversation, follow, send
from tests.api.server import Served
from tests.api.test_pages import begin

RUNNING = 20
LISTS = ("/api/v2/conversations", "/api/sessions", "/api/status/live-7")


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Served]:
    with Served(tmp_path, database_url=database_url) as server:
        yield server


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each row that was decoded since this fixture was requested."""
    sizes: list[int] = []
    genuine = codec.measured

    def counted(version: int, body: bytes, first: int, at: int) -> tuple[list[ev.Envelope], int]:
        sizes.append(len(body))
        return genuine(version, body, first, at)

    monkeypatch.setattr(codec, "measured", counted)
    return sizes


def test_a_list_of_turns_that_run_elsewhere_reads_little_of_their_logs(
    server: Served, decoded: list[int]
) -> None:
    log: list[ev.Event] = [ev.RunStarted("assistant", 1), ev.ModelStarted(1, "assistant")]
    log += [ev.TextDelta(1, f"word-{number} ") for number in range(20_000)]
    with server.client() as alice:
        for number in range(RUNNING):
            server.call(server.database.write(begin, f"live-{number}", log, 16))
        for path in LISTS:
            decoded.clear()
            assert _counts(alice, path) == [2] * (1 if "status" in path else RUNNING)
            assert 0 < sum(decoded) <= 160 * 1024


def test_a_turn_of_this_process_is_counted_without_its_log(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.client() as alice:
        made = conversation(alice)
        turn = send(alice, made, "count to 100000 delay=0.01")
        for event in follow(alice, turn["id"]):
            if event.name == "text_delta":
                break
        said = alice.get(f"/api/history/{made}").json()["messages"]
        assert [item["role"] for item in said] == ["user", "assistant"]
        monkeypatch.setattr(events, "stored", None)
        for path in ("/api/v2/conversations", "/api/sessions", f"/api/status/{made}"):
            assert _counts(alice, path) == [2]
        alice.post(f"/api/v2/turns/{turn['id']}/stop")


def _counts(client: httpx.Client, path: str) -> list[int]:
    found = client.get(path).json()
    items = next((found[name] for name in ("items", "conversations", "threads") if name in found), [found])
    return [item["message_count"] for item in items]
