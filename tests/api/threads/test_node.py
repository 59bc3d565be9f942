"""A front end in JavaScript that reads lines understands everything that is sent."""

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from caesura.dialects.threads import encode
from caesura.http.frames import encoded
from caesura.http.sse import PING
from tests.api.server import Served
from tests.api.threads.thread import Thread
from tests.programs import needs
from tests.scenarios import scenario

CLIENT = Path(__file__).parents[2] / "node" / "client.mjs"
EVENTS = {
    *("messages/partial", "messages/reset", "tool/start", "tool/end"),
    *("interrupt", "title_updated", "error", "end"),
}

Run = Callable[..., dict[str, Any]]

pytestmark = needs("node")


@pytest.fixture(scope="module")
def node() -> Run:
    """Runs the JavaScript client; returns what a page would show."""
    program = shutil.which("node")
    assert program is not None

    def run(method: str, url: str, token: str = "", body: dict[str, Any] | None = None) -> dict[str, Any]:
        arguments = [method, url, token, *([json.dumps(body)] if body is not None else [])]
        done = subprocess.run(
            [program, str(CLIENT), *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        shown: dict[str, Any] = json.loads(done.stdout)
        return shown

    return run


@pytest.fixture(scope="module")
def pinging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("pinging"), sse_ping_interval=0.1) as server:
        yield server


def test_a_front_end_follows_a_whole_conversation(node: Run, pinging: Served) -> None:
    token = pinging.token()
    with pinging.client() as client:
        thread = Thread.new(client)
        chat, resume = f"{pinging.url}/api/chat/{thread.id}", f"{pinging.url}/api/resume/{thread.id}"

        silent = node("POST", chat, token, {"message": "wait 1 seconds"})
        assert (silent["text"], silent["ends"]) == ("I have waited.", 1)
        assert silent["title"] == "wait 1 seconds"
        waited = client.get(f"{chat}/stream")
        assert waited.text.count("event: ") == len(silent["events"])

        asked = node("POST", chat, token, {"message": "创建一个 hello.py 文件 然后 问我三个问题"})
        assert (asked["interrupt"], asked["ends"], asked["tools"]) == ("confirm", 1, {})
        going_on = node("POST", resume, token, {"action": "continue"})
        assert going_on["interrupt"] == "questions"
        (written, _) = going_on["tools"].values()
        assert written["input"]["path"] == "hello.py"
        assert written["output"].endswith(" bytes to hello.py")

        questions = next(data for name, data in going_on["events"] if name == "interrupt")
        shown = {"interrupt_id": questions["interrupt_id"]}
        mistake = node("POST", resume, token, {"action": "answer", "answers": ["red", " "]} | shown)
        assert mistake["errors"] == ["answers count (2) does not match questions count (3)"]
        assert mistake["ends"] == 1
        done = node("POST", resume, token, {"action": "answer", "answers": ["red", "我的", "now"]} | shown)
        assert "你喜欢什么动物? → 我的" in done["text"]
        assert (done["interrupt"], done["unknown"], done["ends"]) == (None, [], 1)

        again = node("GET", f"{chat}/stream", token)
        assert again["events"] == done["events"]
        assert node("POST", chat, token, {"message": ""})["status"] == 400


def test_pings_come_between_the_events_and_are_passed_over(pinging: Served) -> None:
    with pinging.client() as client:
        thread = Thread.new(client)
        response = client.post(f"/api/chat/{thread.id}", json={"message": "wait 1 seconds"})
    assert response.text.count(PING.decode()) >= 3


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_every_event_of_every_situation_is_understood_however_it_is_cut(node: Run, size: int) -> None:
    situations = scenario.load()
    streams = [encoded(encode, encode.State(item.ordinal), item.log)[1] for item in situations]
    expected = [[name, data] for item in situations for _, name, data in item.frames["threads"]]
    frames = [frame + b"\n\n" for frame in b"".join(streams).split(b"\n\n") if frame]
    with sending(PING.join([b"", *frames]), size) as url:
        shown = node("GET", url)
    assert shown["events"] == expected
    assert {name for name, _ in shown["events"]} == EVENTS
    assert shown["unknown"] == []
    assert shown["ends"] == len(situations)


@contextmanager
def sending(data: bytes, size: int) -> Iterator[str]:
    """A server that sends this data, `size` bytes at a time."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            for start in range(0, len(data), size):
                self.wfile.write(data[start : start + size])

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
