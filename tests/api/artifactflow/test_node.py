"""Front ends in JavaScript: one with an EventSource and a ticket, one with fetch."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.artifactflow.message import Message
from tests.api.server import Served
from tests.programs import needs, required

CLIENT = Path(__file__).parents[2] / "node" / "artifactflow.mjs"
FLAGS = ["--experimental-eventsource"]

pytestmark = needs("node")


@pytest.fixture(scope="module")
def pinging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pinging"), sse_ping_interval=0.1) as server:
        yield server


@pytest.fixture(scope="module", params=["eventsource", "fetch"])
def way(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    flags = FLAGS if chosen == "eventsource" else []
    known = subprocess.run([_node(), *flags, "-e", ""], capture_output=True, check=False).returncode == 0
    if not known and not required():
        pytest.skip("this node has no EventSource")
    return chosen


def run(
    server: Served, way: str, content: str, decisions: list[dict[str, Any]], url: str | None = None
) -> dict[str, Any]:
    """Runs the JavaScript client; returns what it saw."""
    flags = FLAGS if way == "eventsource" else []
    arguments = [way, url or server.url, server.token(), content, json.dumps(decisions)]
    done = subprocess.run(
        [_node(), *flags, "--no-warnings", str(CLIENT), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def _node() -> str:
    program = shutil.which("node")
    assert program is not None
    return program


def unbroken(server: Served, shown: dict[str, Any]) -> list[list[Any]]:
    """The events of the same run, read by another client, segment by segment."""
    sent, first, *_ = shown["sent"], shown["events"][0]
    ends = [id for id, name, _ in shown["events"] if name == "interrupt"]
    with server.client() as client:
        message = Message.of(client, httpx.Response(200, json=sent))
        segments = [message.read(after) for after in (first[0], *ends)]
    return [first, *([event.id, event.name, event.data] for segment in segments for event in segment)]


def test_a_front_end_leads_a_whole_conversation(pinging: Served, way: str) -> None:
    red = {"decision": "answers", "answers": ["red"]}
    shown = run(pinging, way, "write a.txt then ask me one question", [{"approved": True}, red])
    ends = [name for _, name, _ in shown["events"] if name != "stream"]
    assert ends == ["metadata", "interrupt", "metadata", "interrupt", "metadata", "complete"]
    assert (shown["streams"], shown["breaks"], shown["after"]) == (3, 0, 204)
    assert shown["events"] == unbroken(pinging, shown)
    refused = run(pinging, way, "write a.txt", [{"approved": False}])
    assert refused["events"][-1][2]["success"] is True


def test_pings_are_passed_over(pinging: Served, way: str) -> None:
    shown = run(pinging, way, "wait 1 seconds", [])
    assert shown["events"][-1][2]["response"] == "I have waited."
    assert shown["events"] == unbroken(pinging, shown)


def test_a_broken_stream_goes_on_after_the_last_event(pinging: Served, way: str) -> None:
    """Each stream is cut after a few frames, also between the frames of one event."""
    with cutting(pinging, 3) as url:
        shown = run(pinging, way, "write a.txt", [{"approved": True}], url)
    assert shown["breaks"] >= 3
    assert shown["events"] == unbroken(pinging, shown)


@contextmanager
def cutting(server: Served, frames: int) -> Iterator[str]:
    """A proxy that cuts every event stream after this many frames."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass()

        def do_POST(self) -> None:
            self._pass(self.rfile.read(int(self.headers.get("Content-Length", 0))))

        def _pass(self, body: bytes | None = None) -> None:
            wanted = ("Authorization", "Content-Type", "Last-Event-ID")
            headers = {name: self.headers[name] for name in wanted if self.headers[name]}
            url = server.url + self.path
            with httpx.stream(self.command, url, content=body, headers=headers, timeout=60) as answer:
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
                self.send_header("Connection", "close")
                self.end_headers()
                left = frames if self.path.startswith("/api/v1/stream/") else -1
                for line in answer.iter_lines():
                    self.wfile.write(line.encode() + b"\n")
                    left -= line == ""
                    if left == 0:
                        break
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_port}"
        proxy.shutdown()
        thread.join()
