"""The artifacts of a conversation, over a running server."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial
from pathlib import Path
from threading import Event, Semaphore
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import Connection, insert

from caesura.core import artifacts as core
from caesura.core import diffs, matching
from caesura.core.artifacts import CONTENT_TYPES
from caesura.service.long_reads import LongReads
from caesura.store import schema
from tests.api.reading import conversation, events, finished, send
from tests.api.server import Served
from tests.pauses import LONGEST_STEP, Pauses

PLAN = {"id": "plan", "title": "A plan", "content_type": "markdown", "content": "one\ntwo\nthree"}

WRITER = """
apiVersion: caesura/v1
kind: Agent
metadata: {name: writer, description: Writes.}
spec:
  model: {primary: demo, options: {delay: 0.0005, think: false}}
  tools: [create_artifact, update_artifact, rewrite_artifact, read_artifact]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    server = Served(folder)
    (folder / "agents" / "writer.yaml").write_text(WRITER)
    with server:
        yield server


def url(client: httpx.Client, *parts: object, place: str | None = None) -> str:
    start = f"/api/v2/conversations/{place or conversation(client)}/artifacts"
    return "/".join([start, *(quote(str(part), safe="") for part in parts)])


@pytest.fixture
def plan(alice: httpx.Client) -> str:
    """The address of an artifact with three versions."""
    start = url(alice)
    made = alice.post(start, json=PLAN)
    assert made.status_code == 201, made.text
    body = made.json()
    assert (body["version"], body["update_type"], body["changes"]) == (1, "create", [])
    assert edit(alice, f"{start}/plan", old="two", new="2")["version"] == 2
    assert edit(alice, f"{start}/plan", content="all\nnew\n")["version"] == 3
    return f"{start}/plan"


def edit(client: httpx.Client, plan: str, **given: Any) -> Any:
    made = client.post(f"{plan}/versions", json=given)
    assert made.status_code == 201, made.text
    return made.json()


def refused(response: httpx.Response, status: int, code: str) -> str:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    return str(response.json()["error"]["message"])


def test_an_artifact_is_uploaded_listed_read_and_edited(alice: httpx.Client, plan: str) -> None:
    (listed,) = alice.get(plan.removesuffix("/plan")).json()["artifacts"]
    assert (listed["id"], listed["title"], listed["content_type"], listed["version"]) == (
        "plan",
        "A plan",
        "markdown",
        3,
    )
    current = alice.get(plan).json()
    assert (current["content"], current["update_type"], current["turn_id"]) == ("all\nnew\n", "rewrite", None)
    versions = alice.get(f"{plan}/versions").json()["versions"]
    assert [(item["version"], item["update_type"]) for item in versions] == [
        (1, "create"),
        (2, "update"),
        (3, "rewrite"),
    ]
    assert all("content" not in item for item in versions)
    second = alice.get(f"{plan}/versions/2").json()
    assert (second["content"], second["changes"]) == ("one\n2\nthree", [["two", "2"]])


def test_two_versions_are_compared(alice: httpx.Client, plan: str) -> None:
    diff = alice.get(f"{plan}/diff", params={"from": 1, "to": 2}).json()
    assert diff == {
        "from": 1,
        "to": 2,
        "unified": (
            "--- plan 1\n+++ plan 2\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file"
        ),
        "hunks": [
            {
                "old_start": 1,
                "old_lines": 3,
                "new_start": 1,
                "new_lines": 3,
                "lines": [
                    [" ", "one"],
                    ["-", "two"],
                    ["+", "2"],
                    [" ", "three"],
                    ["\\", "No newline at end of file"],
                ],
            }
        ],
    }
    newest = alice.get(f"{plan}/diff").json()
    assert (newest["from"], newest["to"]) == (2, 3)
    first = alice.get(f"{plan}/diff", params={"to": 1}).json()
    assert (first["from"], first["to"], first["hunks"][0]["old_lines"]) == (0, 1, 0)
    assert alice.get(f"{plan}/diff", params={"from": 2, "to": 2}).json()["hunks"] == []
    assert alice.get(f"{plan}/diff", params={"from": 3, "to": 1}).json()["hunks"] != []


def test_a_diff_of_too_many_lines_is_refused(alice: httpx.Client, plan: str) -> None:
    for line in ("x\n", "y\n"):
        edit(alice, plan, content=line * 110_000)
    place = plan.replace("/api/v2/conversations/", "/api/v1/artifacts/sess-").replace(
        "/artifacts/plan", "/plan"
    )
    assert "more than 200,000 lines" in refused(alice.get(f"{plan}/diff"), 413, "too_large")
    assert alice.get(f"{place}/diff").status_code == 413


def test_an_update_says_what_it_found(alice: httpx.Client, plan: str) -> None:
    edit(alice, plan, content="The quick brown fox\njumps\n")
    missing = alice.post(f"{plan}/versions", json={"old": "quikc brown fox", "new": ""})
    fault = refused(missing, 400, "bad_input")
    assert fault.startswith("old text was not found: read the artifact")
    assert fault.endswith("The nearest lines are:\nThe quick brown fox")
    made = edit(alice, plan, old="quick\tbrown fox", new="slow")
    assert (made["update_type"], made["changes"]) == ("update_fuzzy", [["quick brown fox", "slow"]])


def test_an_edit_of_an_old_version_is_refused(alice: httpx.Client, plan: str) -> None:
    assert edit(alice, plan, content="a", base=3)["version"] == 4
    for body in ({"content": "b", "base": 3}, {"old": "a", "new": "b", "base": 2}):
        assert "has changed" in refused(alice.post(f"{plan}/versions", json=body), 409, "outdated")
    assert alice.get(plan).json()["content"] == "a"


def test_an_id_is_used_once(alice: httpx.Client, plan: str) -> None:
    again = alice.post(plan.removesuffix("/plan"), json=PLAN)
    assert "exists already" in refused(again, 409, "conflict")
    assert alice.get(plan).json()["version"] == 3


@pytest.mark.parametrize(
    "change",
    [
        {"id": "a/b"},
        {"id": ".."},
        {"id": ""},
        {"id": "x" * 101},
        {"title": "a\nb"},
        {"title": ""},
        {"title": "x" * 201},
        {"content_type": "text/html"},
        {"content": None},
        {"more": 1},
    ],
)
def test_a_bad_upload_is_refused(alice: httpx.Client, change: dict[str, Any]) -> None:
    start = url(alice)
    assert alice.post(start, json=PLAN | change).status_code in (400, 422)
    assert alice.get(start).json() == {"artifacts": []}


@pytest.mark.parametrize(
    "body",
    [{}, {"old": "a"}, {"new": "a"}, {"content": "a", "old": "a", "new": "b"}, {"content": "a", "base": 0}],
)
def test_a_bad_edit_is_refused(alice: httpx.Client, plan: str, body: dict[str, Any]) -> None:
    assert alice.post(f"{plan}/versions", json=body).status_code == 422
    assert alice.get(plan).json()["version"] == 3


@pytest.mark.parametrize("name", ["other", "a%2Fb", "%00", "..%2F..", "%F0%9F%98%80", "x" * 300])
def test_a_missing_artifact_is_not_found(alice: httpx.Client, name: str) -> None:
    start = url(alice)
    for path in ("", "/versions", "/versions/1", "/diff", "/content"):
        assert alice.get(f"{start}/{name}{path}").status_code == 404, path
    assert alice.post(f"{start}/{name}/versions", json={"content": "x"}).status_code == 404


def test_a_missing_version_is_not_found(alice: httpx.Client, plan: str) -> None:
    for path in ("versions/4", "versions/9999", "diff?to=4", "diff?from=4", "content?version=4"):
        refused(alice.get(f"{plan}/{path}"), 404, "not_found")
    for path in ("versions/0", "versions/x", f"versions/{2**70}", "diff?from=-1", "content?version=0"):
        assert alice.get(f"{plan}/{path}").status_code == 422


def test_an_id_in_any_form_of_unicode_is_the_same(alice: httpx.Client) -> None:
    start = url(alice)
    assert alice.post(start, json=PLAN | {"id": "re\u0301sume\u0301"}).json()["id"] == "r\u00e9sum\u00e9"
    for name in ("re\u0301sume\u0301", "r\u00e9sum\u00e9"):
        assert alice.get(f"{start}/{quote(name)}").json()["id"] == "r\u00e9sum\u00e9"


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_a_content_is_downloaded_as_text_whatever_it_is(alice: httpx.Client, content_type: str) -> None:
    content = "<script>alert(1)</script>中\0"
    body = {"id": "报告-1", "title": "x", "content_type": content_type, "content": content}
    start = url(alice)
    assert alice.post(start, json=body).status_code == 201
    found = alice.get(f"{start}/{quote('报告-1')}/content")
    assert found.content == content.encode()
    assert found.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in found.headers["Content-Security-Policy"]
    assert "default-src 'none'" in found.headers["Content-Security-Policy"]
    disposition = found.headers["Content-Disposition"]
    assert disposition.startswith('attachment; filename="__-1.')
    assert "filename*=UTF-8''%E6%8A%A5%E5%91%8A-1." in disposition
    assert found.headers["X-Artifact-Version"] == "1"


def test_an_old_version_is_downloaded(alice: httpx.Client, plan: str) -> None:
    found = alice.get(f"{plan}/content", params={"version": 1})
    assert (found.text, found.headers["X-Artifact-Version"]) == (PLAN["content"], "1")


def test_what_the_agent_writes_is_there_for_its_owner(alice: httpx.Client, server: Served) -> None:
    """The demo agent's rules, with an agent that has the tools."""
    turn = finished(alice, "hello")
    place = turn["conversation_id"]
    sent = send(alice, place, "create artifact about trees", agent="writer")
    read = [event for event in events(alice, sent["id"]) if event.name == "artifact_changed"]
    assert [(e.data["id"], e.data["version"], e.data["agent"]) for e in read] == [("trees", 1, "writer")]
    found = alice.get(url(alice, "trees", place=place)).json()
    assert found["content"].startswith("# trees")
    assert found["turn_id"] == sent["id"]


def test_a_turn_says_which_versions_it_made(alice: httpx.Client) -> None:
    place = finished(alice, "hello")["conversation_id"]
    for text in ("create artifact about trees then rewrite artifact: one", "rewrite artifact: two"):
        sent = send(alice, place, text, agent="writer")
        events(alice, sent["id"])
    shown = alice.get(f"/api/v2/conversations/{place}/snapshot").json()["turns"]
    assert [turn["artifacts"] for turn in shown] == [
        [],
        [{"id": "trees", "version": 2}],
        [{"id": "trees", "version": 3}],
    ]


def test_edits_count_for_the_persons_share(tmp_path: Path) -> None:
    with Served(tmp_path, stored_bytes_per_person=5_000) as small, small.client("alice") as client:
        start = url(client)
        assert client.post(start, json=PLAN | {"content": _noise(8_000)}).status_code == 201
        refused(client.post(start, json=PLAN | {"id": "other"}), 413, "storage_full")
        refused(client.post(f"{start}/plan/versions", json={"content": "x"}), 413, "storage_full")


def _noise(size: int) -> str:
    """Text that cannot be compressed much."""
    return "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


def test_long_artifacts_do_not_hold_up_the_server(alice: httpx.Client, server: Served) -> None:
    line = "The quick brown fox number {} jumps over the lazy dog.\n"
    content = "".join(line.format(number) for number in range(17_000))
    start = url(alice)
    pauses = Pauses()
    server.call(_begin(pauses))
    assert alice.post(start, json=PLAN | {"content": content}).status_code == 201
    made = edit(alice, f"{start}/plan", old="quick  brown fox number 9000 jumps", new="slow")
    assert made["update_type"] == "update_fuzzy"
    edit(alice, f"{start}/plan", content="".join(reversed(content.splitlines(keepends=True))))
    assert len(alice.get(f"{start}/plan/diff").json()["hunks"]) >= 1
    assert len(alice.get(f"{start}/plan").json()["content"]) == len(content)
    assert len(alice.get(f"{start}/plan/content").content) == len(content)
    server.call(_end(pauses))
    assert pauses.longest < LONGEST_STEP


def test_edits_and_diffs_of_three_people_delay_no_page_of_another(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their work lasts until the other person has read."""
    begun, go_on, people = Semaphore(0), Event(), ("ann", "bob", "cid")

    def slow(work: Callable[..., Any], *args: Any) -> Any:
        begun.release()
        go_on.wait(300)
        return work(*args)

    with ExitStack() as stack:
        clients = [stack.enter_context(server.client(name)) for name in people]
        plans = [url(client, "plan") for client in clients]
        for client, plan in zip(clients, plans, strict=True):
            assert client.post(plan.removesuffix("/plan"), json=PLAN).status_code == 201
        other = stack.enter_context(server.client("dora"))
        page = f"/api/v2/conversations/{finished(other, 'hello')['conversation_id']}/snapshot"
        monkeypatch.setattr(matching, "find", partial(slow, matching.find))
        monkeypatch.setattr(diffs, "diff", partial(slow, diffs.diff))
        pool = stack.enter_context(ThreadPoolExecutor(12))
        body = {"old": "two", "new": "2"}
        works = [
            pool.submit(work)
            for client, plan in zip(clients, plans, strict=True)
            for work in (
                partial(client.post, f"{plan}/versions", json=body),
                partial(client.get, f"{plan}/diff"),
            )
            for _ in range(2)
        ]
        try:
            for _ in range(2):
                begun.acquire()
            assert other.get(page).status_code == 200
        finally:
            go_on.set()
        assert {work.result().status_code for work in works} <= {200, 201, 400}


async def _begin(pauses: Pauses) -> None:
    pauses.begin()


async def _end(pauses: Pauses) -> None:
    pauses.end()


def _many(connection: Connection, place: str) -> None:
    """As many versions of one artifact, and as many artifacts, as there may be."""
    rest: dict[str, Any] = {"created_at": 1_700_000_000_000}
    artifact = {"conversation_id": place, "title": "x", "content_type": "text", "updated_at": 1} | rest
    names = [f"a{number}" for number in range(core.MOST_ARTIFACTS)]
    version = {"conversation_id": place, "artifact_id": "a0", "update_type": "rewrite"} | rest
    version |= {"changes": b"[]", "content": b"", "turn_id": None}
    numbers = range(1, core.MOST_VERSIONS + 1)
    connection.execute(
        insert(schema.artifacts), [{**artifact, "id": name, "version": len(numbers)} for name in names]
    )
    connection.execute(
        insert(schema.artifact_versions), [{**version, "version": at, "whole": at} for at in numbers]
    )


def test_long_lists_are_written_beside_the_event_loop_one_for_each_person(
    alice: httpx.Client, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = conversation(alice)
    server.call(server.database.write(_many, place))
    native, other = f"/api/v2/conversations/{place}/artifacts", f"/api/v1/artifacts/sess-{place}"
    gated, genuine = list[str](), LongReads.of

    def of(reads: LongReads, user: str) -> AbstractAsyncContextManager[None]:
        gated.append(user)
        return genuine(reads, user)

    monkeypatch.setattr(LongReads, "of", of)
    pauses = Pauses()
    server.call(_begin(pauses))
    found = [
        alice.get(address).json() for start in (native, other) for address in (start, f"{start}/a0/versions")
    ]
    server.call(_end(pauses))
    assert pauses.longest < LONGEST_STEP
    assert gated == ["alice"] * 4
    time = {"created_at": 1_700_000_000_000}
    named = {"title": "x", "content_type": "text"}
    assert found[0]["artifacts"][0] == {"id": "a0", **named, "version": 10_000, **time, "updated_at": 1}
    assert found[1]["versions"][-1] == {"version": 10_000, "update_type": "rewrite", "turn_id": None, **time}
    assert found[2]["session_id"] == f"sess-{place}"
    assert found[2]["artifacts"][0].items() >= {"id": "a0", **named, "current_version": 10_000}.items()
    assert found[3]["versions"][-1].keys() == {"version", "update_type", "created_at"}
    counts = [len(item.get("artifacts", item.get("versions"))) for item in found]
    assert counts == [core.MOST_ARTIFACTS, core.MOST_VERSIONS] * 2
