"""Deploys: an agent changes while its turns wait and run, and another server goes on with them. Nothing that
waits is lost, nothing is done twice, and nothing that is refused now is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import agent_files, effort
from tests.api.reading import Event, conversation, events, follow, outcome, send, text, to_segment_end, until
from tests.client.process import Process

pytestmark = pytest.mark.timeout(600)

SHOP = """
import time
from pathlib import Path

import caesura

FOLDER = Path({folder!r})


def left(line):
    with (FOLDER / "trace.txt").open("a") as file:
        file.write(line + "\\n")


@caesura.tool(permission="auto")
def pay(order: str, amount: int) -> str:
    "Pay."
    left(f"pay {{order}} {{amount}}")
    return "paid"


@caesura.tool(permission="auto")
def gift(to: str, ctx: caesura.Context) -> str:
    "Give."
    what = ctx.ask("What?")
    left(f"gift {{to}} {{what}}")
    return "given"


@caesura.tool(permission="auto")
def charge(card: str) -> str:
    "Charge."
    left(f"charge {{card}}")
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
    return "charged"
"""
FLOW = """
import asyncio
import time
from pathlib import Path

import caesura
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt

FOLDER = Path({folder!r})


def left(line):
    with (FOLDER / "trace.txt").open("a") as file:
        file.write(line + "\\n")


@caesura.tool
def pay(order: str, amount: int) -> str:
    "Pay."
    left(f"pay {{order}} {{amount}}")
    return "paid"


@caesura.tool(permission="auto")
def charge(card: str) -> str:
    "Charge."
    left(f"charge {{card}}")
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
    return "charged"


TOOLS = ToolNode([pay, charge]).tools_by_name


def prepare(state):
    return {{}}


async def step(state):
    match state["messages"][-1].text:
        case "pay":
            await TOOLS["pay"].ainvoke({{"order": "A-1", "amount": 5}})
        case "gift":
            left(f"gift bob {{interrupt('What?')}}")
        case "charge":
            await TOOLS["charge"].ainvoke({{"card": "x"}})
        case _:
            left("runs")
            while not (FOLDER / "go").exists():
                await asyncio.sleep(0.01)
    return {{}}


def check(state):
    left("check")
    return {{}}


def end(state):
    left("end")
    return {{"messages": [AIMessage("100")]}}


graph = StateGraph(MessagesState).add_sequence([prepare, step, end]).set_entry_point("prepare").compile()
"""
CLERK = """
description: Old.
system_prompt: Be brief.
tools: ['shop:pay', 'shop:gift', 'shop:charge']
permissions: {pay: confirm}
model: {primary: demo, options: {delay: 0, think: false}}
"""
LEAD = "tools: []\nsub_agents: [{ref: SUB}]\nmodel: {primary: demo, options: {delay: 0, think: false}}\n"
TOOLS = {"shop.py": SHOP, "clerk": CLERK, "lead": LEAD.replace("SUB", "clerk")}
GRAPHS = {
    "flow.py": FLOW,
    "flow": "type: langgraph\ngraph: 'flow:graph'\n",
    "chief": LEAD.replace("SUB", "flow"),
}

Files = dict[str, str]


def change(name: str, *pairs: tuple[str, str]) -> Files:
    found = {**TOOLS, **GRAPHS}[name]
    for old, new in pairs:
        assert old in found
        found = found.replace(old, new)
    return {name: found}


ALL = "['shop:pay', 'shop:gift', 'shop:charge']"
RENAMED = "['shop:pay_now', 'shop:gift_now', 'shop:charge_now']"
STRICTER = "{pay: deny, gift: confirm, charge: confirm}"
#: What changes, and what becomes of the calls of `pay`, `gift` and `charge`.
CHANGES: dict[str, tuple[Files, str]] = {
    "comment": (change("shop.py", ("import time", "# A comment.\nimport time")), "fits"),
    "body": (change("shop.py", ('left(f"', 'left("new " + f"')), "fits"),
    "signature that fits": (
        change("shop.py", ("amount: int)", "amount: int, note: str = '')"), ("to: str,", "to: str, *,")),
        "fits",
    ),
    "signature": (
        change("shop.py", ("order", "number"), ("to: str", "whom: str"), ("{{to}}", "{{whom}}")),
        "gone",
    ),
    "description": (change("clerk", ("Old.", "New.")), "fits"),
    "prompt": (change("clerk", ("Be brief.", "Be kind.")), "fits"),
    "stricter": (change("clerk", ("{pay: confirm}", STRICTER)), "stricter"),
    "looser": (change("clerk", ("{pay: confirm}", "{pay: auto}")), "fits"),
    "tool added": (change("clerk", (ALL, f"[read_file, {ALL[1:]}")), "fits"),
    "tool renamed": (
        change("shop.py", *((f"def {name}(", f"def {name}_now(") for name in ("pay", "gift", "charge")))
        | change("clerk", (ALL, RENAMED), ("{pay:", "{pay_now:")),
        "gone",
    ),
    "tool gone": (change("clerk", (ALL, "[]"), ("{pay: confirm}", "{}")), "gone"),
    "node more": (change("flow.py", ("step, end]", "step, check, end]")), "graph"),
    "node less": (change("flow.py", ("prepare, step,", "prepare,")), "graph"),
}
#: What is said while a server is replaced: long enough that it is not said before.
WORDS = 100 if effort.thorough() else 20
CASES = list(CHANGES) if effort.thorough() else ["signature"]


class Servers:
    """One after the other on the same data, or two at once on PostgreSQL. The person talks to the newest."""

    def __init__(self, folder: Path, postgres: str | None) -> None:
        self._folder, self._postgres, self.rolling = folder, postgres, postgres is not None
        self._running: list[Process] = []
        self._stack = ExitStack()
        self.trace = folder / "trace.txt"
        self.client: httpx.Client

    def deploy(self, files: Files, **more: Any) -> None:
        agents = self._folder / (f"agents-{len(self._running)}" if self._postgres else "agents")
        for name, body in files.items():
            if name.endswith(".py"):
                agents.mkdir(exist_ok=True)
                agents.joinpath(name).write_text(body.format(folder=str(self._folder)))
            else:
                agent_files.put(agents, name, body)
        if self._postgres is None and self._running:
            self._running[-1].terminate()
        shared = {
            "database_url": self._postgres,
            "lease": 1.0,
            "secret": "a secret of all servers, long enough",
        }
        settings: dict[str, Any] = more | (shared if self._postgres else {})
        process = Process(self._folder / "data", agents_dir=str(agents), **settings)
        process.start()
        if self._postgres and self._running:
            self._running[-1].kill()
        self._running.append(process)
        self.client = self._stack.enter_context(
            httpx.Client(base_url=process.url, timeout=60, trust_env=False)
        )

    def close(self) -> None:
        self._stack.close()
        for process in self._running:
            process.kill()

    def go(self) -> None:
        """Let what runs come to its end."""
        self._folder.joinpath("go").touch()

    def traces(self) -> str:
        return self.trace.read_text() if self.trace.exists() else ""

    def send(self, agent: str, content: str) -> str:
        turn: str = send(self.client, conversation(self.client, agent=agent), content)["id"]
        return turn

    def wait(self, turn: str) -> str:
        """Read to the question of a turn. Returns its id."""
        return asked(to_segment_end(self.client, turn))

    def answer(self, question: str, **answer: Any) -> httpx.Response:
        return self.client.post(f"/api/v2/interrupts/{question}/answer", json=answer)


def asked(found: list[Event]) -> str:
    last = outcome(found)
    assert last.name == "interrupted", last
    [item] = last.data["interrupts"]
    name: str = item["id"]
    return name


@pytest.fixture(params=["restart", "rolling update"] if effort.thorough() else ["restart"])
def servers(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Servers]:
    rolling = request.param == "rolling update"
    made = Servers(tmp_path, request.getfixturevalue("postgres_url") if rolling else None)
    try:
        yield made
    finally:
        made.close()


def segments(client: httpx.Client, turn: str, number: int) -> list[Event]:
    """The events of a turn up to the end of a segment, by its number from 1."""
    found = []
    for event in follow(client, turn):
        found.append(event)
        number -= event.name == "segment_ended"
        if number == 0:
            break
    return found


def the_end(servers: Servers, turn: str, number: int) -> list[Event]:
    found = segments(servers.client, turn, number)
    assert outcome(found).name == "finished", outcome(found)
    assert len(events(servers.client, turn)) == len(found), "nothing comes after that"
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_deploy_loses_nothing_and_does_nothing_twice(servers: Servers, name: str) -> None:
    deploy = deploy_graph if CHANGES[name][1] == "graph" else deploy_tools
    deploy(servers, name)


def deploy_tools(servers: Servers, name: str) -> None:
    files, what = CHANGES[name]
    servers.deploy(TOOLS)
    pays = servers.send("clerk", 'call pay {"order": "A-1", "amount": 5}')
    gives = servers.send("clerk", 'call gift {"to": "bob"}')
    charges = servers.send("clerk", 'call charge {"card": "x"}')
    approval, question = servers.wait(pays), servers.wait(gives)
    speaks, asks = (
        servers.send("clerk", f"count to {WORDS} delay=0.05"),
        servers.send("lead", f'call clerk {{"task": "count to {WORDS} delay=0.05"}}'),
    )
    for turn in (speaks, asks):
        next(event for event in follow(servers.client, turn) if event.name == "text_delta")
    until(lambda: "charge x" in servers.traces())
    servers.deploy({**TOOLS, **files} if servers.rolling else files)

    # An approval waits.
    assert servers.answer(approval, decision="approve").status_code == 200
    result = [event for event in the_end(servers, pays, 2) if event.name == "tool_finished"]
    assert [event.data["status"] for event in result] == ["ok" if what == "fits" else "error"]
    assert servers.traces().count("pay A-1 5") == (what == "fits")
    # A question waits.
    assert servers.answer(question, decision="answers", answers=["cup"]).status_code == 200
    number = 2
    if what == "stricter":
        servers.answer(asked(segments(servers.client, gives, 2)), decision="approve").raise_for_status()
        number = 3
    the_end(servers, gives, number)
    assert servers.traces().count("gift bob cup") == (what != "gone")
    # A turn and a sub-agent run.
    for turn, times in ((speaks, 1), (asks, 2)):  # the agent repeats what its sub-agent has said
        found = the_end(servers, turn, 1)
        assert [event.data["cause"] for event in found if event.name == "run_started"] == ["start", "adopt"]
        assert text(found).split().count(f"{WORDS - 1}") == times
    # A tool runs: nobody knows whether it has taken effect.
    servers.go()
    if "def charge(" in {**TOOLS, **files}["shop.py"] and "charge'" in {**TOOLS, **files}["clerk"]:
        unknown = asked(segments(servers.client, charges, 1))
        servers.answer(unknown, decision="reject").raise_for_status()
        found = the_end(servers, charges, 2)
    else:
        found = the_end(servers, charges, 1)
    assert [event.data["status"] for event in found if event.name == "tool_finished"] == ["unknown"]
    assert servers.traces().count("charge x") == 1
    assert servers.client.get("/api/v2/interrupts").json()["interrupts"] == []


def deploy_graph(servers: Servers, name: str) -> None:
    files, _ = CHANGES[name]
    servers.deploy(GRAPHS)
    pays, gives = servers.send("flow", "pay"), servers.send("flow", "gift")
    approval, question = servers.wait(pays), servers.wait(gives)
    runs, asks, charges = (
        servers.send("flow", "run"),
        servers.send("chief", 'call flow {"task": "run"}'),
        servers.send("flow", "charge"),
    )
    until(lambda: (servers.traces().count("runs"), servers.traces().count("charge x")) == (2, 1))
    servers.deploy({**GRAPHS, **files} if servers.rolling else files)
    servers.go()
    if name == "node less":
        for turn in (runs, asks, charges):
            failed = outcome(segments(servers.client, turn, 1))
            assert (failed.name, failed.data["code"]) == ("failed", "agent_changed")
            servers.client.post(f"/api/v2/turns/{turn}/retry").raise_for_status()
            the_end(servers, turn, 2)
        for waiting in (approval, question) * 2:
            refused = servers.answer(
                waiting, decision="approve" if waiting == approval else "value", value="cup"
            )
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "agent_changed")
        assert len(servers.client.get("/api/v2/interrupts").json()["interrupts"]) == 2
        servers.deploy(GRAPHS)
    else:
        for turn in (runs, asks):
            the_end(servers, turn, 1)
        unknown = asked(segments(servers.client, charges, 1))
        servers.answer(unknown, decision="respond", message="It is done.").raise_for_status()
        the_end(servers, charges, 2)
    assert servers.answer(approval, decision="approve").status_code == 200
    assert servers.answer(question, decision="value", value="cup").status_code == 200
    for turn in (pays, gives):
        the_end(servers, turn, 2)
    for effect in ("pay A-1 5", "gift bob cup", "charge x"):
        assert servers.traces().count(effect) == 1
    assert servers.traces().count("end") == 5


ASKING = """
import time

from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.types import interrupt


def other(state):
    first = interrupt("Who?")
    return {{"messages": [AIMessage(f"{{first}} {{interrupt('Delete it?')}}")]}}


def same(state):
    first = interrupt("Who?")
    return {{"messages": [AIMessage(f"{{first}} {{interrupt(f'At {{time.time()}}?')}}")]}}


def made(node, **inside):
    if inside:
        graph = StateGraph(MessagesState).add_sequence([("ask", node)]).set_entry_point("ask")
        node = graph.compile(**inside)
    return StateGraph(MessagesState).add_node("inside", node).set_entry_point("inside").compile()


other_node, same, remembers, becomes = made(other), made(same), made(other, checkpointer=True), made(other)
"""
ASK = {
    name: f"type: langgraph\ngraph: 'asking:{name.replace('other', 'other_node')}'\n"
    for name in ("other", "same", "remembers", "becomes")
}


def test_an_answer_is_given_to_the_question_that_was_asked(servers: Servers) -> None:
    servers.deploy({"asking.py": ASKING, **ASK})
    turns = {name: servers.send(name, "Hi.") for name in ASK}
    waiting = {name: servers.wait(turn) for name, turn in turns.items()}
    for name, turn in turns.items():
        servers.answer(waiting[name], decision="value", value="me").raise_for_status()
        waiting[name] = asked(segments(servers.client, turn, 2))
    code = ASKING.replace("Delete it?", "Delete all?").replace(
        "=True), made(other)", "=None), made(other, debug=False)"
    )
    servers.deploy({"asking.py": code, **(ASK if servers.rolling else {})})

    for name in ("remembers", "becomes"):
        refused = servers.answer(waiting[name], decision="value", value="yes")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "agent_changed")
    for name in ("other", "same"):
        servers.answer(waiting[name], decision="value", value="yes").raise_for_status()
    assert text(the_end(servers, turns["same"], 3)) == "me yes", "its time differs, and its code is the same"
    again = outcome(segments(servers.client, turns["other"], 3)).data["interrupts"]
    assert [item["value"] for item in again] == ["Delete all?"]
    servers.answer(again[0]["id"], decision="value", value="no").raise_for_status()
    assert text(the_end(servers, turns["other"], 4)) == "me no"


def test_an_answer_that_a_server_without_the_node_takes_up_is_asked_for_again(servers: Servers) -> None:
    servers.deploy(GRAPHS, runs=1)
    gives = servers.send("flow", "gift")
    question = servers.wait(gives)
    servers.send("flow", "run")
    until(lambda: "runs" in servers.traces())
    assert servers.answer(question, decision="value", value="cup").status_code == 200, "its turn queues"
    servers.deploy({**GRAPHS, **CHANGES["node less"][0]})
    again = asked(segments(servers.client, gives, 2))
    assert again != question
    assert servers.answer(again, decision="value", value="cup").status_code == 409
    servers.deploy(GRAPHS)
    assert servers.answer(again, decision="value", value="cup").status_code == 200
    the_end(servers, gives, 3)
    assert servers.traces().count("gift bob cup") == 1
