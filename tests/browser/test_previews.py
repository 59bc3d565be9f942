"""Documents of agents in the frames of the page, in Chromium: what a hostile one can reach."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.api.server import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")
HOSTILE = Path(__file__).with_name("hostile.html").read_text()
SHOW = """
(html) => new Promise((end) => {
  document.cookie = "mark=1";
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = "/frames/document.html";
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow) return;
    if (event.data === "ready") frame.contentWindow.postMessage({ html }, "*");
    else end({ ...event.data, speaker: event.origin });
  });
  document.body.append(frame);
})
"""
DRAW = """
(source) => new Promise((end) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = "/frames/diagram.html";
  const heard = [];
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow) return;
    heard.push(Object.keys(event.data).join());
    if (event.data.ready) frame.contentWindow.postMessage({ source, dark: false, font: "sans-serif" }, "*");
    else setTimeout(end, 500, heard);
  });
  document.body.append(frame);
})
"""
STILL = """
(html) => new Promise((end) => {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = "/frames/still.html";
  const heard = [];
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow) return heard.push("another frame");
    heard.push(event.data);
    if (heard.length > 1) return;
    frame.contentWindow.postMessage({ html }, "*");
    setTimeout(end, 2000, heard);
  });
  document.body.append(frame);
})
"""
#: WebRTC, which no directive covers: in the document itself, and in a frame that a changed prototype or an
#: XML entity hides from whoever looks for it. And what a document without scripts could make a browser load.
PEER = (
    "const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:$PORT' }] });"
    "p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));"
    "top.postMessage('ran', '*')"
)
WAYS = f"""<!doctype html><head><link rel="preconnect" href="$FOREIGN/">
<link rel="stylesheet" href="$FOREIGN/css">
<meta http-equiv="refresh" content="0;url=$FOREIGN/refresh">
<style>@import url($FOREIGN/import);
h1 {{ color: rgb(1, 2, 3); background: url($FOREIGN/back) }}</style></head>
<h1>shown</h1><img src="$FOREIGN/image"><iframe src="$FOREIGN/frame"></iframe>
<object data="$FOREIGN/object"></object>
<a href="$FOREIGN/link">link</a><a href="#here">here</a>
<div><template shadowrootmode="open"><link rel="preconnect" href="$FOREIGN/"><p>shadow</p></template></div>
<iframe srcdoc="<script>{PEER}</script>"></iframe><img src="x" onerror="{PEER}"><script>{PEER}</script>
<script>RegExp.prototype.test = () => false;
String.prototype.replace = function () {{ return String(this) }};
const frame = document.createElement("iframe");
frame.srcdoc = "<script>{PEER}<\\/script>";
document.body.append(frame);
</script>"""
DIAGRAM = """graph TD
  A["<img src=x onerror=parent.postMessage(1,'*')>"] --> B[End]
  click A "javascript:alert(1)"
  click B href "https://other.example/\""""
#: The addresses of the links that a person could click on.
LINKS = """
(links) => links.flatMap((link) =>
  [...link.attributes].filter(({ localName }) => localName === "href").map(({ value }) => value))
"""


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


async def test_a_hostile_document_runs_its_scripts_and_reaches_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    asked: list[str] = []
    with Served(tmp_path, auth="none") as server, _elsewhere(asked) as foreign:
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{server.url}/")
        socket = foreign.replace("http", "ws")
        hostile = HOSTILE.replace("$URL", server.url).replace("$FOREIGN", foreign).replace("$SOCKET", socket)
        told = await page.evaluate(SHOW, hostile)
        # The document leads itself away after its last words. Nothing tells when that was refused.
        await page.wait_for_timeout(1500)
        diagram = await page.evaluate(DRAW, DIAGRAM)
        drawn = page.locator("iframe[src='/frames/diagram.html']").content_frame
        nodes, led = await drawn.locator(".node").count(), await drawn.locator("a").evaluate_all(LINKS)
        at = page.url
        await context.close()
        assert at == f"{server.url}/", "the page itself was led away"
    assert told["script"] == "ran"
    assert told["origin"] == told["speaker"] == "null"
    assert asked == []
    refused = (
        "cookie",
        "storage",
        "parent",
        "api",
        "fetch",
        "image",
        "module",
        "socket",
        "events",
        "worker",
        "nested",
    )
    assert {name: told[name] for name in refused} == dict.fromkeys(refused, "refused")
    assert told["popup"] in ("null", "refused")
    assert told["peer"] == "undefined"
    # A diagram is drawn in the one-person mode too, and the markup in it does not run.
    assert diagram == ["ready", "height"]
    # A browser would connect to a server before the policy forbids to go there.
    assert (nodes, led) == (2, [])


async def test_a_preview_shows_how_a_document_looks_and_runs_none_of_its_scripts(
    browser: Browser, tmp_path: Path
) -> None:
    asked: list[str] = []
    with (
        Served(tmp_path, auth="none") as server,
        _elsewhere(asked) as foreign,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets,
    ):
        packets.bind(("127.0.0.1", 0))
        packets.setblocking(False)
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{server.url}/")
        port = str(packets.getsockname()[1])
        heard = await page.evaluate(STILL, WAYS.replace("$FOREIGN", foreign).replace("$PORT", port))
        heading = page.frame_locator("iframe").frame_locator("iframe").locator("h1")
        links = page.frame_locator("iframe").frame_locator("iframe").locator("a")
        led = await links.evaluate_all(LINKS)
        colour = await heading.evaluate("(h) => getComputedStyle(h).color")
        await context.close()
        with pytest.raises(BlockingIOError):
            packets.recv(2000)
    assert heard == ["ready"], "a script of the document ran"
    assert colour == "rgb(1, 2, 3)"
    assert led == ["#here"], "a click leads to another server"
    assert asked == []
