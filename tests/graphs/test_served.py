"""Graphs as people write them, over API A, the native API and in the terminal: approve, refuse, edit, branch,
kill -9 at every event."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import effort
from tests.api.reading import Event, conversation, events, follow, outcome, send, text, to_segment_end
from tests.api.threads.thread import Thread, kinds, one, said
from tests.cli.terminals import Terminals
from tests.graphs.servers import Server

pytestmark = pytest.mark.timeout(600)

SUNNY = "Let me see.Done: It's always sunny in Paris!"
FACTS = "Facts about trees."
NEWS = "News of trees."


# --- API A


@pytest.mark.parametrize("agent", ["weather", "prebuilt"])
def test_a_thread_uses_a_tool_and_remembers(client: httpx.Client, agent: str) -> None:
    thread = Thread.new(client, agent)
    found = thread.chat("weather in Paris")
    assert kinds(found) == ["tool/start", "tool/end", "end"]
    assert said(found) == SUNNY
    assert said(thread.chat("and now?")) == "I have read: weather in Paris, and now?."
    turns = ["user", "assistant", "tool", "assistant"], ["user", "assistant"]
    assert [role for role, _ in thread.history()] == [role for turn in turns for role in turn]


def test_a_thread_approves_refuses_and_decides_one_by_one(client: httpx.Client, server: Server) -> None:
    thread = Thread.new(client, "mailroom")
    asked = one(thread.chat("mail bob and delete 7"), "interrupt")
    assert [(item["name"], item["args"]) for item in asked["data"]] == [
        ("send_mail", {"to": "bob"}),
        ("delete_mail", {"number": 7}),
    ]
    assert server.outbox() == []
    assert said(thread.resume("continue")) == "Done: sent to bob | deleted 7"
    assert sorted(server.outbox()) == ["delete 7", "mail bob hello"]
    asked = one(thread.chat("mail eve"), "interrupt")
    assert "User rejected the tool call" in said(thread.resume("cancel"))
    assert server.outbox() == []


@pytest.mark.parametrize(
    ("action", "answer", "last", "done"),
    [
        ("continue", None, f"Published: {NEWS}", [f"publish {NEWS}"]),
        ("cancel", None, "It is not published.", []),
        ("answer", ["Trees grow."], "Published: Trees grow.", ["publish Trees grow."]),
    ],
)
def test_a_thread_answers_the_question_of_a_graph(
    client: httpx.Client, server: Server, action: str, answer: list[str] | None, last: str, done: list[str]
) -> None:
    thread = Thread.new(client, "newsroom")
    found = thread.chat("trees")
    assert said(found) == f"{FACTS}{NEWS}"
    asked = one(found, "interrupt")
    assert asked["info"] == f'Question: Publish this? {{"draft":"{NEWS}"}}'
    assert said(thread.resume(action, answer)) == last
    assert server.outbox() == done
    assert [content for _, content in thread.history()] == ["trees", FACTS, NEWS, last]


# --- the native API


def answered(client: httpx.Client, turn: dict[str, Any], *answers: dict[str, Any]) -> str:
    """What the agent has said in the whole turn, after these answers to what it asks first."""
    asked = outcome(to_segment_end(client, turn["id"])).data["interrupts"]
    for item, answer in zip(asked, answers, strict=True):
        response = client.post(f"/api/v2/interrupts/{item['id']}/answer", json=answer)
        assert response.status_code == 200, response.text
    return text(events(client, turn["id"]))


YES, NO = {"decision": "approve"}, {"decision": "reject", "message": "not today"}


def test_the_native_api_edits_and_refuses_calls(client: httpx.Client, server: Server) -> None:
    turn = send(client, conversation(client, agent="mailroom"), "mail bob and delete 7")
    edit = {"decision": "edit", "args": {"to": "eve", "subject": "news"}}
    told = answered(client, turn, edit, NO)
    assert "sent to eve" in told
    assert "with reason: not today" in told
    assert server.outbox() == ["mail eve news"]


def test_a_branch_begins_where_its_parent_ended(client: httpx.Client, server: Server) -> None:
    made = conversation(client, agent="mailroom")
    first = send(client, made, "one")
    to_segment_end(client, first["id"])
    second = send(client, made, "mail bob")
    answered(client, second, YES)
    third = send(client, made, "three", parent=second["id"])
    branch = send(client, made, "mail eve", parent=first["id"])
    assert answered(client, branch, NO).endswith("not today")
    assert text(events(client, third["id"])) == "I have read: one, mail bob, three."
    last = send(client, made, "four", parent=branch["id"])
    assert text(events(client, last["id"])) == "I have read: one, mail eve, four."
    assert server.outbox() == ["mail bob hello"]


def test_a_branch_of_a_graph_with_a_state_of_its_own(client: httpx.Client, server: Server) -> None:
    made = conversation(client, agent="newsroom")
    first = send(client, made, "trees")
    assert answered(client, first, {"decision": "value", "value": True}).endswith(f"Published: {NEWS}")
    second = send(client, made, "stones", parent=None)
    told = answered(client, second, {"decision": "value", "value": "Stones lie."})
    assert told == "Facts about stones.News of stones.Published: Stones lie."
    assert server.outbox() == [f"publish {NEWS}", "publish Stones lie."]


# --- the terminal


@pytest.fixture(scope="module")
def terminals() -> Iterator[Terminals]:
    with Terminals() as terminals:
        yield terminals


def test_a_person_at_a_terminal_decides(terminals: Terminals, server: Server, tmp_path: Path) -> None:
    server.outbox()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
    own = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "TERM": "dumb", "NO_COLOR": "1"}

    def chat(agent: str, message: str) -> Any:
        child = terminals.open(["chat", "--url", server.url, "--agent", agent], clean | own, tmp_path)
        child.expect_exact("you> ")
        child.sendline(message)
        return child

    mails = chat("mailroom", "mail bob and delete 7")
    mails.expect_exact("[a]lways > ")
    mails.sendline("e")
    mails.expect_exact("arguments > ")
    mails.sendline('\x15{"to": "eve", "subject": "news"}')
    mails.expect_exact("delete_mail: number")
    mails.expect_exact(" > ")
    mails.sendline("n not today")
    mails.expect_exact("with reason: not today")
    mails.expect_exact("you> ")
    assert server.outbox() == ["mail eve news"]
    mails.sendline("/again")
    mails.expect_exact("send_mail: to")
    mails.expect_exact("[a]lways > ")
    mails.sendline("y")
    mails.expect_exact("delete_mail: number")
    mails.expect_exact(" > ")
    mails.sendline("y")
    mails.expect_exact("Done: sent to bob | deleted 7")
    mails.expect_exact("you> ")
    assert sorted(server.outbox()) == ["delete 7", "mail bob hello"]
    mails.close(force=True)

    news = chat("newsroom", "trees")
    news.expect_exact("question (13 characters): Publish this?")
    news.expect_exact("an answer (a text, or JSON) > ")
    news.sendline("Trees grow.")
    news.expect_exact("Published: Trees grow.")
    news.expect_exact("you> ")
    news.sendline("/again")
    news.expect_exact("an answer (a text, or JSON) > ")
    news.sendline("n")
    news.expect_exact("It is not published.")
    news.close(force=True)

    weather = chat("weather", "weather in Paris")
    weather.expect_exact("Done: It's always sunny in Paris!")
    weather.close(force=True)
    assert server.outbox() == ["publish Trees grow."]


# --- kill -9


EDIT = {"decision": "edit", "args": {"to": "eve"}}


@dataclass(frozen=True)
class Story:
    """A message, the answers to what the graph asks, and what is done in the end."""

    agent: str
    message: str
    answers: tuple[dict[str, Any], ...] = ()
    done: tuple[str, ...] = ()


STORIES = [
    Story("weather", "weather in Paris"),
    Story("mailroom", "mail bob and delete 7", (EDIT, NO), ("mail eve hello",)),
    Story("newsroom", "trees", ({"decision": "value", "value": True},), ("publish News of trees.",)),
]


class Person:
    """Reads one turn to its end, and answers. The server is killed when this many events were read."""

    def __init__(self, server: Server, story: Story, kill: int = 0) -> None:
        self._server, self._story, self._kill = server, story, kill
        self.events: list[Event] = []

    def live(self) -> list[tuple[str, str]]:
        """The messages of the turn in the end."""
        with self._server.client() as client:
            made = conversation(client, agent=self._story.agent)
            turn = send(client, made, self._story.message)["id"]
        while not self._is_over():
            with self._server.client() as client:
                self._read(client, turn)
        with self._server.client() as client:
            (seen,) = client.get(f"/api/v2/conversations/{made}/snapshot").json()["turns"]
        return [(item["role"], item["content"]) for item in seen["messages"]]

    def _is_over(self) -> bool:
        return [event.name for event in self.events][-2:] == ["finished", "segment_ended"]

    def _read(self, client: httpx.Client, turn: str) -> None:
        """Read until the server is killed or the segment ends. Then answer what the graph asks."""
        for event in follow(client, turn, int(self.events[-1].id) if self.events else None):
            self.events.append(event)
            killed = len(self.events) == self._kill
            if killed:
                self._server.kill()
                self._server.start()
            if killed or event.name == "segment_ended":
                break
        outcome, end = (self.events * 2)[-2:]
        if (outcome.name, end.name) == ("interrupted", "segment_ended"):
            for item, answer in zip(outcome.data["interrupts"], self._story.answers, strict=True):
                client.post(f"/api/v2/interrupts/{item['id']}/answer", json=answer).raise_for_status()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.agent)
def test_after_a_kill_at_any_event_a_graph_goes_on(server: Server, story: Story) -> None:
    server.outbox()
    person = Person(server, story)
    unbroken = person.live()
    assert server.outbox() == list(story.done)
    names = [event.name for event in person.events]
    for place in effort.sample(names if story.answers else [""] * len(names), len(names) // 3):
        assert Person(server, story, kill=place + 1).live() == unbroken, names[place]
        # A graph's node that was cut off runs again.
        assert set(server.outbox()) == set(story.done), names[place]
