"""The page about this API: compared with the OpenAPI document, and its examples run as printed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.core import errors
from caesura.dialects.threads import routes
from tests.api.openapi import document
from tests.api.server import Served
from tests.api.threads.test_node import EVENTS
from tests.api.threads.thread import Thread
from tests.client.process import Process
from tests.programs import needs

PAGE = (Path(__file__).parents[3] / "docs" / "api-threads.md").read_text()
ROUTES = [
    (method, path, operation)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["tags"] == ["threads"]
]
#: Errors that any route of any API may return.
EVERYWHERE = {"401", "405", "429", "500", "503"}
#: What a browser has and node lacks: addresses without a server. The second connection breaks after one
#: event, and within the next.
BROWSER = """
const base = %s, fetches = globalThis.fetch
let opened = 0
globalThis.fetch = async (path, options) => {
  const response = await fetches(base + path, options)
  return ++opened === 2 ? cut(response) : response
}
function cut(response) {
  const reader = response.body.getReader()
  let pulled = 0
  return new Response(new ReadableStream({
    async pull(controller) {
      if (pulled++) { await reader.cancel(); controller.error(new TypeError('terminated')); return }
      const text = new TextDecoder().decode((await reader.read()).value)
      const first = text.slice(0, text.indexOf('\\n\\n') + 2)
      controller.enqueue(new TextEncoder().encode(`${first}id: 1\\nevent: messages/partial\\n`))
    },
  }, { highWaterMark: 0 }), { status: response.status })
}
%s
const thread = %s, seen = [], broken = [], answered = []
await chat(thread, 'echo good day', (...event) => seen.push(event))
await chat(thread, 'count to 20', (...event) => broken.push(event))
await chat(thread, 'write a.py: print(1)', () => {})
await resume(thread, { action: 'continue' }, (...event) => answered.push(event))
console.log(JSON.stringify({ seen, broken, answered, opened }))
"""
#: Tells each event, and each try that finds no server.
KILLED = """
const tell = (...told) => console.log(JSON.stringify(told))
const base = %s, fetches = globalThis.fetch
globalThis.fetch = (path, options) => fetches(base + path, options).catch((error) => {
  tell('away', {})
  throw error
})
%s
await chat(%s, 'count to 150 think=no delay=0.01', tell)
"""


def rows() -> dict[str, str]:
    """The first table: each request, and its errors."""
    found = re.findall(r"^\| `([A-Z]+ /api/\S+)` \| .* \| ([^|]+) \|$", PAGE, re.MULTILINE)
    return dict(found)


def test_the_page_has_every_route_and_no_other() -> None:
    assert set(rows()) == {f"{method.upper()} {path}" for method, path, _ in ROUTES}


@pytest.mark.parametrize(("method", "path", "operation"), ROUTES, ids=lambda item: str(item)[:40])
def test_the_page_names_the_errors_of_each_route(method: str, path: str, operation: dict[str, Any]) -> None:
    listed = set(rows()[f"{method.upper()} {path}"].split(", "))
    # A person is not refused what belongs to nobody; without a body nothing is too large.
    declared = {status for status in operation["responses"] if status >= "400"} - EVERYWHERE
    assert declared - listed <= {"403", "413"}
    assert listed <= declared


def test_the_page_has_every_event_and_no_other() -> None:
    table = PAGE.split("## The stream")[1].split("```js")[0]
    assert set(re.findall(r"^\| `([a-z_/]+)` \|", table, re.MULTILINE)) == EVENTS
    described = ROUTES[[path for _, path, _ in ROUTES].index("/api/chat/{thread_id}")][2]
    text = described["responses"]["200"]["description"]
    assert set(re.findall(r"`([a-z_/]+) \{", text)) == EVENTS


def test_the_page_has_every_field() -> None:
    schemas = document()["components"]["schemas"]
    for name in ("NewSession", "Chat", "Resume", "Session", "Sessions", "ThreadStatus", "InterruptInfo"):
        # Where two APIs have a model of one name, the document names the module too.
        for field in (schemas.get(f"caesura__dialects__threads__wire__{name}") or schemas[name])[
            "properties"
        ]:
            assert re.search(rf'[`"]{field}[`"]', PAGE), f"{name}.{field}"


def test_the_page_has_every_text_that_a_client_may_look_for() -> None:
    known: list[errors.CaesuraError] = [
        errors.RunInProgress(),
        errors.InterruptPending(),
        errors.NothingPending(),
        errors.AlreadyAnswered(),
        errors.TooLarge(),
        errors.Unauthenticated(),
        errors.TooManyRequests(),
    ]
    for text in (routes.ACTION, routes.ANSWERS, *(error.message for error in known)):
        assert f"`{text}`" in PAGE


@needs("curl")
def test_the_commands_work_as_printed(server: Served, tmp_path: Path) -> None:
    printed = re.findall(
        r"(?:^ {4}(?:curl|TOKEN|THREAD|INTERRUPT)[^\n]*(?:\n {5,}[^\n]*)*\n)+", PAGE, re.MULTILINE
    )
    commands = "".join(printed).replace("localhost:8000", server.url)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands.replace("alice", "reader-of-the-page")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    events = re.findall(r"^event: (\S+)$", done.stdout, re.MULTILINE)
    assert [name for name in events if name in ("interrupt", "tool/end")] == ["interrupt", "tool/end"]
    assert json.loads((tmp_path / "status.json").read_text())["status"] == "interrupted"


def front_end(url: str, token: str, around: str, thread: str, folder: Path) -> list[str]:
    """The command that runs the code of the page."""
    node = shutil.which("node")
    assert node is not None
    (code,) = re.findall(r"^```js\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    printed = code.replace("const token = '…'", f"const token = {json.dumps(token)}")
    file = folder / "page.mjs"
    file.write_text(around % (json.dumps(url), printed, json.dumps(thread)))
    return [node, str(file)]


def said(events: list[Any]) -> str:
    """The text that a page shows. Here no tool is called, so that a reset voids all of it."""
    text = ""
    for name, data in events:
        text = {"messages/partial": text + data.get("content", ""), "messages/reset": ""}.get(name, text)
    return text


@needs("node")
def test_the_front_end_works_as_printed(server: Served, tmp_path: Path) -> None:
    with server.client() as client:
        thread = Thread.new(client).id
    command = front_end(server.url, server.token(), BROWSER, thread, tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (said(shown["seen"]), shown["seen"][-1]) == ("good day", ["end", {}])
    assert said(shown["broken"]) == f"{' '.join(map(str, range(1, 21)))} done."
    assert [name for name, _ in shown["broken"]].count("end") == 1
    assert shown["opened"] == 5  # it came back once
    assert "tool/end" in [name for name, _ in shown["answered"]]


@needs("node")
def test_the_front_end_comes_back_to_a_server_that_was_killed(tmp_path: Path) -> None:
    with Process(tmp_path / "data") as server:
        with httpx.Client(base_url=server.url) as client:
            thread = Thread.new(client).id
        command = front_end(server.url, "none", KILLED, thread, tmp_path)
        events = list[Any]()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
            try:
                for line in page.stdout or ():
                    events.append(json.loads(line))
                    if len(events) == 5:
                        server.kill()
                    elif events[-1][0] == "away" and [name for name, _ in events].count("away") == 1:
                        server.start()
            finally:
                page.kill()
    names = [name for name, _ in events]
    assert "away" in names
    assert said(events) == f"{' '.join(map(str, range(1, 151)))} done."
    assert names[-1] == "end"
    assert names.count("end") == 1
