"""Messages in a session, in the legacy form and in the A2UI form."""

from typing import Any

import httpx
import pytest

from tests.api.server import Served
from tests.api.superagent.conftest import FORGED
from tests.api.superagent.session import (
    A2UI,
    RESUME,
    STREAM,
    Session,
    interrupt_in,
    kinds,
    of,
    one,
    said,
    tokens,
)

IDS = {"agent_id": "assistant", "session_id": "s"}
UNFIT = "session_id must have no control characters and no line breaks"
ASKING = "Are you sure you want to proceed?"


def test_a_reply_is_text_and_an_end(session: Session) -> None:
    assert "".join(tokens(session.send("echo good day"))) == "good day"
    found = session.chat("echo good  day\n\nand night")
    assert said(found) == "good  day\n\nand night"
    assert kinds(found) == ["done"]
    assert of(found, "text")[-1]["content"] == said(found)
    assert tokens(session.send("say nothing")) == []


@pytest.mark.parametrize(
    ("headers", "query", "a2ui"),
    [
        ({}, {}, False),
        (A2UI, {}, True),
        ({}, {"a2ui": "true"}, True),
        ({"X-A2UI": "false"}, {}, False),
        ({"X-A2UI": "1"}, {}, True),
        (A2UI, {"a2ui": "false"}, True),
    ],
)
def test_the_form_is_chosen_by_the_header_or_the_query(
    session: Session, headers: dict[str, str], query: dict[str, str], a2ui: bool
) -> None:
    body = {**session.ids, "message": "echo x"}
    answer = session.client.post(STREAM, json=body, headers=headers, params=query)
    assert answer.text.startswith("event: text\ndata: {" if a2ui else "data: x\n\n")


def test_a_session_is_one_conversation_with_its_context_and_a_title(session: Session) -> None:
    session.chat("echo first")
    assert "echo first" in said(session.chat("what did I say first?"))
    made = session.conversation()
    assert made["title"]
    assert [turn["content"] for turn in session.turns()] == ["echo first", "what did I say first?"]
    other = Session.new(session.client, session.agent_id)
    other.chat("echo second")
    assert other.conversation()["id"] != made["id"]


def test_a_session_belongs_to_one_person_and_one_agent(session: Session, bob: httpx.Client) -> None:
    session.chat("echo hers")
    made = {session.conversation()["id"]}
    for other in (session.at(bob), Session(session.client, "assistant", session.session_id)):
        assert "echo hers" not in said(other.chat("what did I say before?"))
        made.add(other.conversation()["id"])
    assert len(made) == 3


SANE = ["x", "会话 1", "a/b?c=d&e", "😀" * 200, "O'Brien\"; --", " x ", "\u202e", "%00"]


@pytest.mark.parametrize("session_id", SANE)
def test_any_sane_text_names_a_session(alice: httpx.Client, session_id: str) -> None:
    session = Session(alice, "assistant", session_id)
    assert session.waiting() == {"interrupted": False}
    session.chat("echo one")
    assert said(session.join()) == "one"
    assert "echo one" in said(session.chat("what did I say first?"))


@pytest.mark.parametrize(
    ("session_id", "error"),
    [
        (None, "session_id is required"),
        ("", "session_id is required"),
        (" \t", "session_id is required"),
        (5, "session_id must be a text"),
        (["x"], "session_id must be a text"),
        ("x" * 201, "session_id must not be longer than 200 characters"),
        *((f"a{sign}b", UNFIT) for sign in "\0\n\x1b\x85\u2028"),
    ],
)
def test_other_session_ids_are_refused(alice: httpx.Client, session_id: Any, error: str) -> None:
    ids = {"agent_id": "assistant", "session_id": session_id}
    for path in (STREAM, RESUME, "/api/v1/chat/abort"):
        answer = alice.post(path, json={**ids, "message": "x", "input": {}})
        assert (answer.status_code, answer.json()) == (400, {"error": error}), path
    if session_id is None or isinstance(session_id, str):
        for path in (STREAM, "/api/v1/chat/interrupt_state"):
            given = {name: value for name, value in ids.items() if value is not None}
            answer = alice.get(path, params=given)
            assert (answer.status_code, answer.json()) == (400, {"error": error}), path


def test_half_of_a_character_is_no_session(alice: httpx.Client) -> None:
    body = b'{"agent_id": "assistant", "session_id": "a\\ud800", "message": "x"}'
    answer = alice.post(STREAM, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "agent_id is required"),
        ({"agent_id": ""}, "agent_id is required"),
        ({"agent_id": 5}, "agent_id must be a text"),
        ({"agent_id": "assistant"}, "session_id is required"),
        (IDS, "message is required"),
        ({**IDS, "message": " \n"}, "message is required"),
        ({**IDS, "message": ["x"]}, "message must be a text"),
        (
            {**IDS, "message": "ü" * (128 * 1024 + 1)},
            "message must not be longer than 262144 bytes",
        ),
        ({**IDS, "message": "x", "supersede": "yes"}, "supersede: "),
        ({**IDS, "message": "x", "on_disconnect": "run"}, "on_disconnect: "),
    ],
)
def test_a_malformed_message_is_refused(alice: httpx.Client, body: dict[str, Any], error: str) -> None:
    answer = alice.post(STREAM, json=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert answer.json()["error"].startswith(error)
    assert alice.get("/api/v1/chat/interrupt_state", params=IDS).json() == {"interrupted": False}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'"x"', b"\xff"])
def test_a_body_that_is_no_object_is_refused_with_400(alice: httpx.Client, content: bytes) -> None:
    for path in (STREAM, RESUME, "/api/v1/chat/abort"):
        answer = alice.post(path, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("name", ["nobody", "Nobody", "../x", "a\0b", "x" * 3000])
def test_an_unknown_agent_is_not_found(alice: httpx.Client, name: str) -> None:
    session = Session(alice, name, "s")
    answers = [
        session.send("x"),
        session.decide({"confirm": True}),
        alice.post("/api/v1/chat/abort", json=session.ids),
        alice.get("/api/v1/chat/interrupt_state", params=session.ids),
        session.joined(),
    ]
    for answer in answers:
        assert answer.status_code == 404
        assert answer.json()["error"].startswith(f"agent not found: {name[:50]}")


def test_a_model_forges_neither_an_end_nor_an_interrupt(alice: httpx.Client) -> None:
    """`tokens` checks that there is one `[DONE]`, in the end."""
    session = Session.new(alice, "forger")
    answer = session.send("go")
    found = tokens(answer)
    spoken = "".join(FORGED).replace("\0", "")
    shown = spoken.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    assert "".join(found) == shown
    assert b"\0" not in answer.content
    # A client that reads lines is not fooled either, whatever it takes for the end of a line.
    lines = answer.content.decode().splitlines()
    assert [line.removeprefix("data:").strip() for line in lines].count("[DONE]") == 1
    assert said(session.chat("go")) == spoken
    assert session.waiting() == {"interrupted": False}


def test_the_interrupt_comes_after_the_text_and_before_the_end(session: Session) -> None:
    *text, _ = found = tokens(session.send(f"echo I am ready. {ASKING}"))
    assert "".join(text) == f"I am ready. {ASKING}"
    assert interrupt_in(found) == session.state()
    other = Session.new(session.client)
    shown = other.chat(f"echo {ASKING}")
    assert kinds(shown) == ["interrupt", "done"]
    state = other.state()
    assert one(shown, "interrupt") == {name: state[name] for name in ("reason", "fields", "checkpoint_id")}


def test_a_failure_is_shown_and_the_stream_ends(session: Session) -> None:
    *text, failure = tokens(session.send("fail midway"))
    assert text
    assert failure.startswith("\n[ERROR] ")
    assert "(err-" in failure
    shown = one(session.chat("fail midway"), "error")
    assert set(shown) == {"code", "message"}
    assert "(err-" in shown["message"]
    assert tokens(session.send("fail"))[-1].startswith("[ERROR] ")


def test_tools_sub_agents_and_thoughts_are_shown_in_the_a2ui_form(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    found = session.chat("list files")
    call, result = one(found, "tool_call"), one(found, "tool_result")
    assert (call["name"], call["arguments"], call["status"]) == ("list_files", call["arguments"], "running")
    assert (result["id"], result["name"], result["is_error"]) == (call["id"], "list_files", False)
    assert "".join(tokens(session.send("list files"))) == said(session.chat("list files"))
    team = Session.new(alice, "lead_agent")
    shown = team.chat("ask search_agent to echo trees")
    switches = [(data["from"], data["to"]) for data in of(shown, "agent_switch")]
    assert switches == [("lead_agent", "search_agent"), ("search_agent", "lead_agent")]
    assert said(shown) == "".join(tokens(team.joined(a2ui=False)))


def test_the_agents_are_listed(server: Served, alice: httpx.Client) -> None:
    found = {item["id"]: item for item in alice.get("/api/v1/agents").json()["agents"]}
    assert {"assistant", "approval-agent", "lead_agent", "hasty"} <= set(found)
    assert found["hasty"]["interrupt"] == {"enabled": True, "timeout_seconds": 1}
    assert found["assistant"]["interrupt"]["enabled"] is False
    known = alice.get("/api/v2/agents").json()["agents"]
    assert [item["name"] for item in known] == list(found)
