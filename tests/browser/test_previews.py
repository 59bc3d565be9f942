"""Documents of agents in the frames of the page, in Chromium: what a hostile one can reach."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from caesura.http.page import BUILT
from tests.api.server import Served
from tests.programs import needs, required

SCRIPT = Path(__file__).with_name("previews.mjs")


@contextmanager
def _elsewhere(asked: list[str]) -> Iterator[str]:
    """A server of somebody else. Everything that reaches it is noted."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("access-control-allow-origin", "*")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@needs("node")
@needs("chromium")
@pytest.mark.skipif(not (BUILT / "index.html").is_file() and not required(), reason="the page is not built")
def test_a_hostile_document_runs_its_scripts_and_reaches_nothing(tmp_path: Path) -> None:
    asked: list[str] = []
    chromium = shutil.which("chromium") or ""
    with Served(tmp_path, auth="none") as server, _elsewhere(asked) as foreign:
        command = ["node", str(SCRIPT), server.url, foreign, chromium]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    found = json.loads(done.stdout)
    told = found["told"]
    assert told["script"] == "ran"
    assert told["origin"] == told["speaker"] == "null"
    assert asked == []
    refused = ("cookie", "storage", "parent", "api", "fetch", "image", "module", "socket", "events", "worker")
    assert {name: told[name] for name in refused} == dict.fromkeys(refused, "refused")
    assert told["popup"] in ("null", "refused")
    assert told["peer"] == "undefined"
    # The page itself was not led away.
    assert found["at"] == f"{server.url}/"
    # A diagram is drawn in the one-person mode too, and the markup in it does not run.
    assert found["diagram"] == ["ready", "height"]
