"""The page about this API: compared with the OpenAPI document, and its examples run as printed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from caesura.core import errors
from tests.api.artifactflow.test_node import FLAGS
from tests.api.openapi import document
from tests.api.server import Served
from tests.programs import needs, required
from tests.scenarios import scenario

PAGE = (Path(__file__).parents[3] / "docs" / "api-artifactflow.md").read_text()
ROUTES = [
    (method, path, operation)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["tags"] == ["artifactflow"]
]
#: Errors that any route of any API may return.
EVERYWHERE = {"401", "403", "405", "429", "500", "503"}
#: What a browser has and node lacks: addresses without a server.
BROWSER = """
const base = %s, fetches = globalThis.fetch, Source = globalThis.EventSource
globalThis.fetch = (path, options) => fetches(base + path, options)
globalThis.EventSource = class extends Source { constructor(path) { super(base + path) } }
%s
const seen = []
const end = await chat(%s, (name) => seen.push(name), (asked) => (
  { approved: true, interrupt_id: asked.requests[0].interrupt_id }
))
console.log(JSON.stringify({ seen, end }))
"""


def rows() -> dict[str, str]:
    """The first table: each call, and its errors."""
    return dict(re.findall(r"^\| `([A-Z]+ /api/\S+)` \| .* \| ([^|]+) \|$", PAGE, re.MULTILINE))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_page_has_every_route_and_no_other() -> None:
    assert set(rows()) == {f"{method.upper()} {path}" for method, path, _ in ROUTES}


@pytest.mark.parametrize(("method", "path", "operation"), ROUTES, ids=lambda item: str(item)[:40])
def test_the_page_names_the_errors_of_each_route(method: str, path: str, operation: dict[str, Any]) -> None:
    listed = set(rows()[f"{method.upper()} {path}"].split(", "))
    assert listed == {status for status in operation["responses"] if status >= "400"} - EVERYWHERE


def test_the_page_has_every_event_and_every_type_and_no_other() -> None:
    events, types = section("The stream").split("| `type` | `data` | means |")
    sent = [frame for item in scenario.load() for frame in item.frames["artifactflow"]]
    names = set(re.findall(r"^\| `([a-z_]+)` \| [`\[]", events, re.MULTILINE))
    assert names == {name for _, name, _ in sent} == {"metadata", "stream", "complete", "interrupt", "error"}
    listed = set(re.findall(r"^\| `([a-z_]+)` \| `\{", types, re.MULTILINE))
    assert listed >= {data["type"] for _, name, data in sent if name == "stream"}
    assert listed - {data["type"] for _, name, data in sent if name == "stream"} <= {"artifact"}


def test_the_page_has_every_field_of_every_event() -> None:
    text = section("The stream") + section("Permissions and questions")
    own = {"graph_writes"}  # its fields are what a graph has written
    for item in (item for item in scenario.load() if item.name not in own):
        for _, name, data in item.frames["artifactflow"]:
            for field in (*data, *(data["data"] if name == "stream" else ())):
                assert re.search(rf'[`"]{field}[`"]', text), f"{item.name}: {name}.{field}"
            for request in data.get("interrupt_data", {}).get("requests", ()):
                for field in request:
                    assert re.search(rf'[`"]{field}[`"]', text), f"{item.name}: {field}"


def test_the_page_has_every_field_of_every_body() -> None:
    schemas = document()["components"]["schemas"]
    wire = "caesura__dialects__artifactflow__wire__"
    found = 0
    for name in ("Chat", "Resume", "Cancel", "Started", "Resumed", "Cancelled"):
        for field in (schemas.get(wire + name) or schemas[name])["properties"]:
            assert re.search(rf'[`"]{field}[`"]', PAGE), f"{name}.{field}"
            found += 1
    for name in ("Listed", "Conversations", "TreeMessage", "Detail", "PendingRefusal"):
        for field in (schemas.get(wire + name) or schemas[name])["properties"]:
            assert re.search(rf'[`"]{field}[`"]', PAGE), f"{name}.{field}"
            found += 1
    assert found > 40


def test_the_page_has_every_text_that_a_client_may_look_for() -> None:
    known: list[errors.CaesuraError] = [
        errors.RunInProgress(),
        errors.InterruptPending(),
        errors.NothingPending(),
        errors.AlreadyAnswered(),
        errors.NoConversation(),
        errors.TooLarge(),
        errors.Unauthenticated(),
        errors.TooManyRequests(),
    ]
    for error in known:
        assert f"`{error.message}`" in PAGE


@needs("curl")
def test_the_commands_work_as_printed(server: Served, tmp_path: Path) -> None:
    commands = "\n".join(blocks("sh")).replace("http://127.0.0.1:8000", server.url)
    commands = commands.replace("alice", "reader-of-the-page")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    events = re.findall(r"^event: (\w+)$", done.stdout, re.MULTILINE)
    assert [name for name in events if name != "stream"] == [
        *("metadata", "complete"),
        *("metadata", "interrupt"),
        *("metadata", "complete"),
        *("metadata", "complete"),
    ]
    assert '"total":1' in done.stdout
    assert '"update_type":"update"' in done.stdout
    assert '"hunks":[{' in done.stdout
    assert '{"cancelled":false}' in done.stdout


@needs("node")
@pytest.mark.parametrize("asks", ["write a.txt then write b.txt", "write a.txt + write b.txt"])
def test_the_front_end_works_as_printed(server: Served, tmp_path: Path, asks: str) -> None:
    node = shutil.which("node")
    assert node is not None
    if subprocess.run([node, *FLAGS, "-e", ""], check=False).returncode and not required():
        pytest.skip("this node has no EventSource")
    (code,) = blocks("js")
    file = tmp_path / "page.mjs"
    printed = code.replace("const token = '…'", f"const token = {json.dumps(server.token())}")
    file.write_text(BROWSER % (json.dumps(server.url), printed, json.dumps(asks)))
    done = subprocess.run(
        [node, *FLAGS, "--no-warnings", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["end"]["name"], shown["end"]["data"]["success"]) == ("complete", True)
    assert shown["seen"].count("interrupt") == (2 if "then" in asks else 1)
