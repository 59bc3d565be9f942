"""An operator's own graph whose tool calls a person reviews, and one that asks in its own form, over each API
and in the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.cli.answers import Asker
from caesura.client.values import interrupt
from caesura.core import answers
from tests import agent_files
from tests.api.reading import conversation, events, outcome, send, text, to_segment_end
from tests.api.server import Served
from tests.api.superagent.session import Session
from tests.api.superagent.session import one as one_of
from tests.api.superagent.session import said as said_in
from tests.api.threads.process import Process
from tests.api.threads.thread import Thread, kinds, one, parsed, said
from tests.graph_files import IMPORTS, assistant, chain, reviewed, wants

MAIL = ("send_mail", {"to": "bob"})
DROP = ("drop_table", {"name": "users"})
ASK = ("ask_boss", {"question": "when?"})
COLOUR = {"question": "Colour?", "options": [{"label": "Red", "value": "red"}]}
HOW = {"question": "How?", "options": []}
FORM = ("ask_user", {"questions": [COLOUR, HOW]})
#: The agents that ask these questions, and the message after which they do.
ASKING = {"assisting": wants(FORM), "form": json.dumps([COLOUR, HOW])}

FORMS = IMPORTS + chain(
    """
    def work(state):
        found = {
            "text": "delete all?",
            "words": {"question": "which one?", "choices": [1, 2]},
            "data": {"choices": [1, 2]},
            "nothing": None,
        }[state["messages"][-1].text]
        return {"messages": [AIMessage(f"heard {interrupt(found)}")]}
    """,
    "work",
)


def put(folder: Path) -> None:
    spec = "type: langgraph\ngraph: '{}:graph'\ninterrupt: {{enabled: true}}\n"
    agents = folder / "agents"
    for mode in ("batched", "per_call"):
        agent_files.put(agents, mode, spec.format(f"reviewed_{mode}"))
        (agents / f"reviewed_{mode}.py").write_text(reviewed(folder / "trace.txt", mode))
    agent_files.put(agents, "asking", spec.format("asking_graph"))
    (agents / "asking_graph.py").write_text(FORMS)
    agent_files.put(agents, "assisting", spec.format("assisting_graph"))
    agent_files.put(agents, "form", spec.format("assisting_graph").replace(":graph", ":form"))
    (agents / "assisting_graph.py").write_text(assistant(folder / "trace.txt"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("reviews")
    put(folder)
    with Served(folder) as server:
        yield server


# --- API A


@pytest.mark.parametrize("agent", ["batched", "per_call"])
def test_a_thread_continues_and_cancels(alice: httpx.Client, agent: str) -> None:
    thread = Thread.new(alice, agent)
    asked = one(thread.chat(wants(MAIL, DROP)), "interrupt")
    assert asked["taskName"] == "Use a tool"
    assert asked["info"] == (
        'Using tool: send_mail {"to":"bob"}; Look twice — Using tool: drop_table {"name":"users"}'
    )
    assert [(item["name"], item["args"]) for item in asked["data"]] == [MAIL, DROP]
    assert [option["value"] for option in asked["options"]] == ["continue", "cancel"]
    assert said(thread.resume("continue")) == "sent to bob | dropped users"
    thread.chat(wants(MAIL))
    assert "User rejected the tool call" in said(thread.resume("cancel"))


@pytest.mark.parametrize("agent", ["batched", "per_call"])
def test_a_thread_decides_on_single_calls(alice: httpx.Client, agent: str) -> None:
    thread = Thread.new(alice, agent)
    asked = one(thread.chat(wants(MAIL, DROP, ASK)), "interrupt")
    mail, drop, _ = (item["interrupt_id"] for item in asked["data"])
    assert asked["questions"] == [{"question": 'Using tool: ask_boss {"question":"when?"}', "options": []}]
    assert kinds(parsed(thread.decide(action="cancel", interrupt_id=[drop]))) == ["interrupt", "end"]
    assert kinds(parsed(thread.decide(action="continue", interrupt_id=[mail]))) == ["interrupt", "end"]
    shown = said(thread.resume("answer", ["tomorrow"]))
    results = sorted(shown.split(" | "))
    assert (results[1], results[2]) == ("sent to bob", "tomorrow")
    assert results[0].startswith("User rejected the tool call for `drop_table`")


@pytest.mark.parametrize(
    ("decision", "heard"),
    [
        ({"action": "continue", "args": {"to": "eve"}}, "sent to eve"),
        ({"action": "continue", "respond": "it was sent"}, "it was sent"),
        ({"action": "cancel", "message": "later"}, "with reason: later"),
    ],
    ids=str,
)
@pytest.mark.parametrize("agent", ["batched", "per_call"])
def test_a_thread_changes_a_call_answers_in_its_place_or_says_why_not(
    alice: httpx.Client, agent: str, decision: dict[str, Any], heard: str
) -> None:
    thread = Thread.new(alice, agent)
    asked = one(thread.chat(wants(MAIL)), "interrupt")
    found = parsed(thread.decide(**decision, interrupt_id=asked["interrupt_id"]))
    assert said(found).endswith(heard)


@pytest.mark.parametrize(
    ("decision", "fault"),
    [
        ({"action": "continue", "args": "eve"}, "args must be an object"),
        ({"action": "continue", "respond": ["x"]}, "respond must be a text"),
        ({"action": "continue", "respond": " "}, "respond must not be empty"),
        ({"action": "continue", "message": "x"}, "message goes only with a refusal"),
        ({"action": "cancel", "args": {}}, "args and respond do not go with a refusal"),
        (
            {"action": "answer", "answers": ["x"], "args": {}},
            "args, respond and message do not go with action 'answer'",
        ),
    ],
    ids=str,
)
def test_a_thread_is_told_what_does_not_go_together_and_the_call_still_waits(
    alice: httpx.Client, decision: dict[str, Any], fault: str
) -> None:
    thread = Thread.new(alice, "batched")
    asked = one(thread.chat(wants(MAIL)), "interrupt")
    found = parsed(thread.decide(**decision, interrupt_id=asked["interrupt_id"]))
    assert one(found, "error") == {"message": fault}
    assert thread.status()["status"] == "interrupted"


def test_a_thread_changes_one_of_several_calls(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "batched")
    asked = one(thread.chat(wants(MAIL, DROP)), "interrupt")
    mail = asked["data"][0]["interrupt_id"]
    change: dict[str, Any] = {"action": "continue", "args": {"to": "eve"}}
    error = one(parsed(thread.decide(**change, interrupt_id=mail)), "error")
    assert "about one tool call, and 2 wait" in error["message"]
    assert kinds(parsed(thread.decide(**change, interrupt_id=[mail]))) == ["interrupt", "end"]
    assert said(thread.resume("continue")).endswith("sent to eve | dropped users")


def test_a_thread_is_told_that_a_decision_is_not_allowed(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "batched")
    thread.chat(wants(ASK))
    error = one(thread.resume("cancel"), "error")
    assert error == {"message": "'reject' does not fit: this interrupt takes 'respond'"}
    error = one(thread.resume("continue"), "error")
    assert error == {"message": "the agent asks questions: use action 'answer' or 'cancel'"}
    assert said(thread.resume("answer", ["now"])) == "now"


@pytest.mark.parametrize(
    ("message", "info"),
    [
        ("text", "Question: delete all?"),
        ("words", 'Question: which one? {"choices":[1,2]}'),
        ("data", 'Question: {"choices":[1,2]}'),
        ("nothing", "The agent waits for your answer"),
    ],
)
def test_a_thread_always_has_words_for_what_a_graph_asks(
    alice: httpx.Client, message: str, info: str
) -> None:
    thread = Thread.new(alice, "asking")
    asked = one(thread.chat(message), "interrupt")
    assert (asked["info"], asked["taskName"]) == (info, "Question")
    assert asked["data"][0]["description"] == info
    assert thread.status()["interrupt_info"]["task_name"] == "Question"
    assert said(thread.resume("answer", ["the first"])) == "heard the first"


def test_a_thread_goes_on_after_a_message_in_place_of_a_decision(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "batched")
    thread.chat(wants(MAIL))
    assert said(thread.chat("never mind", supersede=True)) == "nothing to do"
    thread.chat(wants(DROP))
    assert said(thread.resume("continue")) == "dropped users"


def test_a_call_waits_through_kill_9(tmp_path: Path) -> None:
    put(tmp_path)
    settings = {"agents_dir": tmp_path / "agents", "default_agent": "batched"}
    with Process(tmp_path, **settings) as server, server.client() as client:
        thread = Thread.new(client)
        thread.chat(wants(MAIL, DROP))
        asked = thread.status()["interrupt_info"]["interrupts"][0]
        drop = asked["data"][1]["interrupt_id"]
        assert kinds(parsed(thread.decide(action="cancel", interrupt_id=[drop]))) == ["interrupt", "end"]
        server.kill()
    with Process(tmp_path, **settings) as server, server.client() as client:
        thread = thread.at(client)
        refused, sent = sorted(said(thread.resume("continue")).split(" | "))
        assert sent == "sent to bob"
        assert refused.startswith("User rejected the tool call for `drop_table`")
    assert (tmp_path / "trace.txt").read_text() == "mail bob 1\n"


# --- the questions of graphs


@pytest.mark.parametrize("agent", ASKING)
def test_a_thread_shows_the_questions_of_a_graph_and_takes_only_answers(
    alice: httpx.Client, agent: str
) -> None:
    thread = Thread.new(alice, agent)
    asked = one(thread.chat(ASKING[agent]), "interrupt")
    assert (asked["taskName"], asked["info"]) == ("Questions", "The agent asks 2 questions")
    assert (asked["questions"], asked["options"]) == ([COLOUR, HOW], None)
    assert asked["data"][0]["args"] == FORM[1]
    error = one(thread.resume("continue"), "error")
    assert error == {"message": "the agent asks questions: use action 'answer' or 'cancel'"}
    error = one(thread.resume("answer", ["red"]), "error")
    assert error == {"message": "answers count (1) does not match questions count (2)"}
    assert thread.status()["interrupt_info"]["interrupts"] == [asked]
    assert '["red", "twice"]' in said(thread.resume("answer", ["red", "twice"]))
    thread.chat(ASKING[agent])
    assert {"assisting": "User rejected", "form": "[false, [{"}[agent] in said(thread.resume("cancel"))


@pytest.mark.parametrize("agent", ASKING)
def test_the_other_apis_show_the_questions_of_a_graph_too(alice: httpx.Client, agent: str) -> None:
    session = Session.new(alice, agent)
    form = one_of(session.chat(ASKING[agent]), "interrupt")
    fields = [(field["name"], field["type"], field["label"]) for field in form["fields"]]
    assert fields == [("answer_1", "select", "Colour?"), ("answer_2", "text", "How?")]
    (native,) = session.turns()[-1]["interrupts"]
    asked = [question["question"] for question in native["questions"]]
    assert (native["kind"], asked) == ("questions", ["Colour?", "How?"])
    (message,) = alice.get(f"/api/v1/chat/{session.conversation()['id']}").json()["messages"]
    assert message["interrupt"]["interrupt_type"] == "questions"
    assert message["interrupt"]["interrupt_data"]["questions"] == [COLOUR, HOW]
    assert '["red", "twice"]' in said_in(session.resume(answer_1="red", answer_2="twice"))


# --- the other APIs


@pytest.mark.parametrize(
    ("answer", "heard"),
    [
        ({"decision": "approve"}, "sent to bob"),
        ({"decision": "reject", "message": "later"}, "with reason: later"),
        ({"decision": "edit", "args": {"to": "eve"}}, "sent to eve"),
        ({"decision": "respond", "message": "it was sent"}, "it was sent"),
    ],
    ids=str,
)
@pytest.mark.parametrize("agent", ["batched", "per_call"])
def test_the_native_api_takes_each_decision(
    alice: httpx.Client, agent: str, answer: dict[str, Any], heard: str
) -> None:
    turn = send(alice, conversation(alice, agent=agent), wants(MAIL))
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    assert (asked["kind"], asked["name"], asked["args"]) == ("approval", *MAIL)
    assert alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json=answer).status_code == 200
    assert text(events(alice, turn["id"])).endswith(heard)


def test_the_native_api_refuses_a_decision_that_is_not_allowed(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice, agent="batched"), wants(DROP))
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    assert asked["decisions"] == ["approve", "reject"]
    body = {"decision": "edit", "args": {}}
    refused = alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json=body)
    assert refused.status_code == 400
    assert "this interrupt takes 'approve', 'reject'" in refused.text


@pytest.mark.parametrize(
    ("call", "lines", "heard"),
    [
        (MAIL, ["y"], "sent to bob"),
        (MAIL, ["n too early"], "with reason: too early"),
        (MAIL, ["e", '{"to": "eve"}'], "sent to eve"),
        (MAIL, ["r it was sent"], "it was sent"),
        (DROP, ["e", "r no", "n"], "User rejected"),
        (ASK, ["y", "n", "r now"], "now"),
    ],
    ids=str,
)
def test_the_answers_of_the_terminal_reach_the_graph(
    alice: httpx.Client, call: tuple[str, dict[str, Any]], lines: list[str], heard: str
) -> None:
    turn = send(alice, conversation(alice, agent="batched"), wants(call))
    (asked,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    person = Person(lines)
    given = Asker(person, person).ask(interrupt(asked))  # type: ignore[arg-type]
    body = answers.to_dict(given)
    assert alice.post(f"/api/v2/interrupts/{asked['id']}/answer", json=body).status_code == 200
    assert heard in text(events(alice, turn["id"]))
    assert not person.lines


class Person:
    """A person at the terminal who types these lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = list(lines)

    def ask(self, prompt: str, prefill: str = "") -> str:
        return self.lines.pop(0) if prompt.endswith("> ") else ""

    def note(self, text: str) -> None:
        pass

    fault = note


def test_a_form_confirms_a_call_or_answers_in_its_place(alice: httpx.Client) -> None:
    session = Session.new(alice, "batched")
    asked = one_of(session.chat(wants(MAIL)), "interrupt")
    assert [(field["name"], field["type"]) for field in asked["fields"]] == [("confirm", "confirm")]
    assert said_in(session.resume(confirm=True)) == "sent to bob"
    session.chat(wants(MAIL))
    assert said_in(session.resume(confirm=True, args={"to": "eve"})).endswith("sent to eve")
    session.chat(wants(MAIL))
    assert said_in(session.resume(confirm=True, respond="it was sent")) == "it was sent"
    session.chat(wants(MAIL))
    assert said_in(session.resume(confirm=False, message="later")).endswith("with reason: later")
    asked = one_of(session.chat(wants(ASK)), "interrupt")
    fields = [(field["name"], field["type"], field["required"]) for field in asked["fields"]]
    assert fields == [("answer", "text", True)]
    assert said_in(session.resume(answer="tomorrow")) == "tomorrow"
