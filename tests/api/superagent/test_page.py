"""The page about this API: compared with the OpenAPI document, and its examples run as printed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from caesura.core import errors
from caesura.dialects.superagent import voice
from caesura.dialects.superagent.routes import TYPES
from tests.api.openapi import document
from tests.api.server import Served
from tests.programs import needs
from tests.scenarios import scenario

PAGE = (Path(__file__).parents[3] / "docs" / "api-superagent.md").read_text()
ROUTES = [
    (method, path, operation)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["tags"] == ["superagent"]
]
#: Errors that any route of any API may return.
EVERYWHERE = {"401", "403", "405", "429", "500", "503"}
#: What a browser has and node lacks: addresses without a server.
BROWSER = """
const base = %s, fetches = globalThis.fetch
let cuts = 1, reads = 0
globalThis.fetch = async (path, options) => {
  const response = await fetches(base + path, options)
  if (path.startsWith('/api/v1/chat/stream?')) reads++
  return cuts-- > 0 ? cut(response) : response
}
// The connection breaks after the first frame.
function cut(response) {
  const reader = response.body.getReader()
  let pulled = 0
  return new Response(new ReadableStream({
    async pull(controller) {
      if (pulled++) { await reader.cancel(); controller.error(new TypeError('terminated')); return }
      const text = new TextDecoder().decode((await reader.read()).value)
      controller.enqueue(new TextEncoder().encode(text.slice(0, text.indexOf('\\n\\n') + 2)))
    },
  }, { highWaterMark: 0 }), { status: response.status })
}
%s
const texts = [], asked = [], failed = []
const ui = {
  begin: () => texts.push(''),
  show: (text) => { texts[texts.length - 1] = text },
  append: (delta) => { texts[texts.length - 1] += delta },
  fail: (message) => failed.push(message),
  ask: async (reason, fields) => { asked.push({ reason, fields }); return { confirm: true } },
}
await chatWithInterrupt('approval-agent', 'from the page', 'delete the old rows', ui)
await chatWithInterrupt('approval-agent', 'from the page', 'fail', ui)
console.log(JSON.stringify({ texts, asked, failed, reads }))
"""


def rows() -> dict[str, str]:
    """The first table: each request, and its errors."""
    return dict(re.findall(r"^\| `([A-Z]+ /api/\S+)` \| .* \| ([^|]+) \|$", PAGE, re.MULTILINE))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_page_has_every_route_and_no_other() -> None:
    assert set(rows()) == {f"{method.upper()} {path}" for method, path, _ in ROUTES}


@pytest.mark.parametrize(("method", "path", "operation"), ROUTES, ids=lambda item: str(item)[:40])
def test_the_page_names_the_errors_of_each_route(method: str, path: str, operation: dict[str, Any]) -> None:
    listed = set(rows()[f"{method.upper()} {path}"].split(", ")) - {"–"}
    assert listed == {status for status in operation["responses"] if status >= "400"} - EVERYWHERE


def test_the_page_has_every_type_of_frame_and_every_field() -> None:
    text = section("The A2UI form")
    sent = [frame for item in scenario.load() for frame in item.frames["superagent"]]
    listed = set(re.findall(r"^\| `([a-z_]+)` \| ", text, re.MULTILINE)) - {"type"}
    assert listed == {name for _, name, _ in sent} == set(TYPES)
    for _, name, frame in sent:
        for field in frame["data"] or ():
            assert f'"{field}"' in text, f"{name}.{field}"
    statuses = {frame["data"]["status"] for _, name, frame in sent if name == "progress"}
    assert statuses == set(re.findall(r'"status": "(\w+)"', text))


def test_the_page_has_every_field_of_every_body() -> None:
    schemas = document()["components"]["schemas"]
    wire = "caesura__dialects__superagent__wire__"
    names = ["Chat", "Resume", "InSession", "InputField", "ToolCall", "InterruptState", "Waiting", "Aborted"]
    found = 0
    for name in (*names, "AgentInfo", "AgentList", "InterruptSupport", "ErrorBody", "PendingError"):
        for field in (schemas.get(wire + name) or schemas[name])["properties"]:
            assert re.search(rf'[`"]{field}[`"]', PAGE), f"{name}.{field}"
            found += 1
    assert found > 35


def test_the_page_has_every_text_that_a_client_may_look_for() -> None:
    known: list[errors.CaesuraError] = [
        errors.RunInProgress(),
        errors.InterruptPending(),
        errors.TooLarge(),
        errors.Unauthenticated(),
        errors.TooManyRequests(),
    ]
    for error in known:
        assert f"`{error.message}`" in PAGE


def test_the_page_says_what_a_stream_costs() -> None:
    assert f"{voice.PAYS} bytes for each byte of text" in PAGE
    assert f"{voice.CREDIT} bytes" in PAGE


@needs("curl")
def test_the_commands_work_as_printed(server: Served, tmp_path: Path) -> None:
    commands = "\n".join(blocks("sh")).replace("http://127.0.0.1:8000", server.url)
    commands = commands.replace("alice", "reader-of-this-page")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert shown.count("data: [DONE]") == 4
    assert shown.count("data: \0INTERRUPT:{") == 2
    assert '{"interrupted":true,"state":{"session_id":"deploy-123","agent_name":"approval-agent"' in shown
    assert shown.count("event: done") == 1
    assert '{"aborted":false}' in shown


@needs("node")
def test_the_client_works_as_printed(server: Served, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    (code,) = blocks("js")
    file = tmp_path / "page.mjs"
    printed = code.replace("const token = '…'", f"const token = {json.dumps(server.token())}")
    file.write_text(BROWSER % (json.dumps(server.url), printed))
    done = subprocess.run([node, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    (asked,) = shown["asked"]
    assert asked["reason"] in shown["texts"][0]
    assert shown["texts"][1]
    assert shown["reads"] == 1  # it came back after the cut
    assert len(shown["failed"]) == 1
    assert asked["fields"][0]["type"] == "confirm"
