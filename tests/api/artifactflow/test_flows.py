"""Whole conversations, from the first message to the last, as a front end leads them."""

from collections.abc import Callable
from pathlib import Path

import httpx

from tests.api.artifactflow.message import Message, kinds, last, said, typed

Files = Callable[[str, str], Path]


def test_a_full_talk(alice: httpx.Client) -> None:
    first = Message.send(alice, "你好，请介绍一下你自己")
    found = first.read()
    assert kinds(found) == ["metadata", "start", "llm_complete", "complete"]
    assert typed(found, "llm_complete")[0]["token_usage"]["output_tokens"] > 0
    assert last(found, "complete")["response"] == said(found) != ""
    second = first.then("think about trees", agent="thinker")
    found = second.read()
    reasoned = [item for item in typed(found, "llm_chunk") if item["reasoning_content"]]
    assert reasoned
    assert {item["content"] for item in reasoned} == {""}
    third = first.then("list files")
    found = third.read()
    assert kinds(found)[1:] == [
        *("start", "llm_complete", "tool_start", "tool_result"),
        *("start", "llm_complete", "complete"),
    ]
    (begun,), (ended,) = typed(found, "tool_start"), typed(found, "tool_result")
    assert begun == {"tool_name": "list_files", "input": {"path": "."}, "call_id": begun["call_id"]}
    assert (ended["call_id"], ended["tool_name"], ended["success"]) == (begun["call_id"], "list_files", True)
    detail = first.detail()
    assert [item["response"] for item in detail["messages"]][-1] == last(found, "complete")["response"]
    assert [item["parent_id"] for item in detail["messages"]] == [None, first.id, second.id]
    assert detail["active_branch"] == third.id
    assert detail["title"]


def test_a_permission_with_the_stream_closed_and_opened_again(alice: httpx.Client, file_of: Files) -> None:
    message = Message.send(alice, "write report.md: draft then read report.md")
    with message.reading() as stream:
        found = list(stream)  # the server closes the stream after the question
    asked = last(found, "interrupt")
    ids = {name: asked[name] for name in ("thread_id", "message_id")}
    answer = alice.post(f"/api/v1/chat/{asked['conversation_id']}/resume", json={**ids, "approved": True})
    with alice.stream("GET", answer.json()["stream_url"]) as response:
        assert response.status_code == 200
        text = response.read().decode()
    assert text.count("event: metadata") == text.count("event: complete") == 1
    assert "event: interrupt" not in text
    assert file_of(message.conversation_id, "report.md").read_text() == "draft"
    assert [item["tool_name"] for item in typed(message.read(), "tool_result")] == ["write_file", "read_file"]


def test_a_talk_with_branches(alice: httpx.Client) -> None:
    root = Message.send(alice, "echo root")
    root.read()
    left = root.then("echo left")
    left.read()
    right = root.then("echo right", parent_message_id=root.id)
    right.read()
    asked = left.then("what did I say before?", parent_message_id=left.id)
    answer = said(asked.read())
    assert "left" in answer
    assert "right" not in answer
    again = root.then("what did I say before?", parent_message_id=right.id)
    answer = said(again.read())
    assert "right" in answer
    assert "left" not in answer
    shape = {item["content"]: item["children"] for item in root.detail()["messages"]}
    assert shape["echo root"] == [left.id, right.id]
    assert (shape["echo left"], shape["echo right"]) == ([asked.id], [again.id])
