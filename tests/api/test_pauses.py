"""No message, answer or agent file blocks the server's event loop."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from caesura.service.turns import MESSAGE_LIMIT
from tests.api.reading import conversation, outcome, send, to_segment_end, until
from tests.api.server import Served
from tests.pauses import LONGEST_STEP, Pauses

LONG = MESSAGE_LIMIT - 1000
HEAD = "apiVersion: caesura/v1\nkind: Agent\nmetadata: {name: large}\nspec:\n"


pytestmark = pytest.mark.usefixtures("frozen_collector")


@contextmanager
def watched(server: Served) -> Iterator[Pauses]:
    """The pauses of the server's own loop."""
    pauses = Pauses()

    async def begin() -> None:
        pauses.begin()

    async def end() -> None:
        pauses.end()

    server.call(begin())
    yield pauses
    server.call(end())


#: tests/agents/demo tests every command; these are tested on a server.
MESSAGES = [
    "write x.txt: " + "x" * LONG,
    "写文件 x.txt: " + "文" * (LONG // 3),
    "call write_file " + '{"a":' * (LONG // 5),
    'call write_file {"path": "a", "content": "' + "x" * LONG,
    "write x.txt: " + "+ then " * (LONG // 7),
    "create artifact about " + "trees " * (LONG // 6),
    "delete " + "x" * (LONG - 100) + " please confirm",
    "echo " + "x" * LONG,
]


def test_no_long_demo_command_blocks_the_event_loop(server: Served, alice: httpx.Client) -> None:
    with watched(server) as pauses:
        turns = [send(alice, conversation(alice), message) for message in MESSAGES]
        ends = [outcome(to_segment_end(alice, turn["id"])).name for turn in turns]
    assert set(ends) <= {"finished", "interrupted"}
    assert pauses.longest < LONGEST_STEP


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"decision": "answers", "answers": [0] * 300_000}),
        json.dumps({"decision": "approve", **{f"k{place}": 0 for place in range(70_000)}}),
        '{"decision": "approve", ' + ",".join(f'"k{place}": 0' for place in range(70_000)) + ', "k": NaN}',
        '{"decision": "value", "value": [' + "[]," * 300_000 + "1]}",
        '{"decision": "value", "value": ' + "[" * 900_000,
        '{"decision": "value", "value": ' + '{"a":' * 150_000,
    ],
    ids=[
        "wrong values",
        "unknown fields",
        "fields and no number",
        "many lists",
        "deep lists",
        "deep objects",
    ],
)
def test_no_body_blocks_the_event_loop(server: Served, alice: httpx.Client, body: str) -> None:
    with watched(server) as pauses:
        response = alice.post(
            "/api/v2/interrupts/int-1/answer", content=body, headers={"content-type": "application/json"}
        )
    assert response.status_code == 400
    assert "the body was not taken: it " in response.json()["error"]["message"]
    assert len(response.content) < 1000
    assert pauses.longest < LONGEST_STEP


def test_an_answer_that_is_nested_too_deep_is_refused_and_the_question_stays(
    server: Served, alice: httpx.Client
) -> None:
    turn = send(alice, conversation(alice), "write hello.py")
    (question,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    path = f"/api/v2/interrupts/{question['id']}/answer"
    for depth in (65, 300, 900):
        deep = f'{{"path": "a", "content": "b", "c": {"[" * depth + "]" * depth}}}'
        response = alice.post(path, content=f'{{"decision": "edit", "args": {deep}}}', headers=_JSON)
        assert response.status_code == 400
        assert "nested deeper than 64 levels" in response.text
    assert alice.post(path, json={"decision": "reject"}).status_code == 200


_JSON = {"content-type": "application/json"}


def test_no_agent_file_blocks_the_event_loop(server: Served) -> None:
    folder = server.settings.agents_dir
    catalog = server.context.service.agents._catalog
    assert folder is not None
    texts = {
        "list": HEAD + "  tools: [" + "a," * 120_000 + "]",
        "prompt": HEAD + "  system_prompt: " + "a " * 95_000,
        "aliases": "a: &a [x]\nb: [" + "*a," * 80_000 + "]",
        "number": HEAD + "  x: " + "1:" * 120_000 + "1",
        "deep": "[" * 250_000,
        "oversize": "a" * 1_000_000,
    }
    with watched(server) as pauses:
        for name, text in texts.items():
            (folder / f"{name}.yaml").write_text(text)
        until(
            lambda: set(texts) - {"prompt"} <= {fault.file.removesuffix(".yaml") for fault in catalog.faults}
        )
        until(lambda: any(agent.name == "large" for agent in catalog.agents()))
    for name in texts:
        (folder / f"{name}.yaml").unlink()
    told = " ".join(str(fault) for fault in catalog.faults)
    for part in ("more than 10000 values", "aliases are not allowed", "more than 100 characters", "256 KiB"):
        assert part in told
    assert pauses.longest < LONGEST_STEP


async def test_the_pauses_of_a_busy_loop_are_seen() -> None:
    async with Pauses() as pauses:
        await asyncio.sleep(0.01)
        sum(range(3_000_000))
    assert pauses.longest > 0.005
