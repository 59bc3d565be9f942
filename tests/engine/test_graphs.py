"""An operator's own graph, as a file in the agents folder: messages in, messages out, its own questions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from textwrap import dedent

import pytest
from sqlalchemy import Connection, update

from caesura.agents.shortages import shortage
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Confirmation, GraphRequest
from caesura.engine.graphs.watcher import Watcher
from caesura.store import schema
from caesura.store.database import Database
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import NO, PATIENCE, World, checkpoint_count, limits, roles, world_over
from tests.graph_files import IMPORTS, chain, preload
from tests.openai_server import Broken, Call, Desk, Hang, Say
from tests.waiting import until

HEAD = """
import asyncio
import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="test", base_url="{url}", api_key="x", max_retries=0, stream_usage=True)
TRACE = "{trace}"


def leave(line):
    with open(TRACE, "a") as file:
        file.write(line + "\\n")
"""

SPEAK = chain(
    """
    async def speak(state):
        return {"messages": [await model.ainvoke(state["messages"])]}
    """,
    "speak",
)

ASK = chain(
    """
    async def speak(state):
        leave("speak")
        return {"messages": [await model.ainvoke(state["messages"])]}

    def ask(state):
        given = interrupt({"question": "which?", "choices": [1, 2]})
        leave("asked")
        return {"messages": [AIMessage(f"you said {given}")]}
    """,
    "speak",
    "ask",
)

TWICE = """
def ask(name):
    def node(state):
        given = interrupt(name + "?")
        leave(f"{name} {given}")
        return {"messages": [AIMessage(f"{name} {given}")]}
    return node

graph = StateGraph(MessagesState)
for name in ("a", "b"):
    graph.add_node(name, ask(name))
    graph.add_edge(START, name)
graph = graph.compile()
"""

#: Asks twice in one graph's node, which restarts from its beginning for each answer.
DELETE = chain(
    """
    def work(state, config: RunnableConfig):
        if interrupt("delete?"):
            deleted = True
        else:
            deleted = False
        logged = interrupt("log it?")
        if deleted:
            leave("deleted")
        refused = [(item["value"], item["message"]) for item in config["configurable"]["refusals"]]
        return {"messages": [AIMessage(str(refused))]}
    """,
    "work",
)

TOOLS = """
@tool
def jot(text: str) -> str:
    "Jot it down."
    leave("jot " + text)
    return "jotted " + text

bound = model.bind_tools([jot])

async def speak(state):
    return {"messages": [await bound.ainvoke(state["messages"])]}

graph = StateGraph(MessagesState)
graph.add_node("speak", speak)
graph.add_node("tools", ToolNode([jot]))
graph.add_edge(START, "speak")
graph.add_conditional_edges("speak", tools_condition)
graph.add_edge("tools", "speak")
graph = graph.compile()
"""

#: Returns the whole conversation with its reply.
WHOLE = chain(
    """
    async def speak(state):
        return {"messages": [*state["messages"], await model.ainvoke(state["messages"])]}
    """,
    "speak",
)

#: A graph whose node is another graph, with the same messages.
TEAM = """
team = StateGraph(MessagesState)
team.add_node("pause", lambda state: {})
team.add_node("worker", graph)
team.add_edge(START, "pause")
team.add_edge("pause", "worker")
graph = team.compile()
"""

FORMS = {
    "a dict": '{"role": "assistant", "content": "hello"}',
    "a list of dicts": '[{"role": "assistant", "content": "hello"}]',
    "a pair": '[("ai", "hello")]',
    "a dict beside an object": '[{"role": "assistant", "content": "hel"}, AIMessage("lo")]',
}


def graph(world: World, body: str, spec: str = "") -> None:
    preload("langchain_openai", "langgraph.prebuilt")
    head = HEAD.replace("{url}", world.desk.base_url).replace("{trace}", str(world.trace))
    (world.agents / "own_graph.py").write_text(IMPORTS + head + body)
    agent_files.put(world.agents, "tester", f"type: langgraph\ngraph: 'own_graph:graph'\n{spec}\n")
    world.load_anew()
    assert not world.catalog.faults


async def test_a_graph_streams_its_models_text_and_gets_the_history(world: World) -> None:
    graph(world, SPEAK)
    world.desk.script(Say(["one ", "two"]), Say("three"))
    said = await world.say("first")
    assert said.finished
    assert [event.text for event in said.of(ev.TextDelta)] == ["one ", "two"]
    assert len(said.of(ev.ModelFinished)) == 1
    assert said.of(ev.ModelFinished)[0].usage
    row = await world.checked(said.turn)
    assert [(m.role, m.content, m.cut) for m in row.messages or ()] == [("assistant", "one two", False)]
    await world.say("second")
    assert world.desk.sent() == [("user", "first"), ("assistant", "one two"), ("user", "second")]


@pytest.mark.parametrize(
    "body", [WHOLE, SPEAK + TEAM, WHOLE + TEAM], ids=["whole", "team", "whole in a team"]
)
async def test_what_a_graph_returns_of_the_history_is_not_said_again(world: World, body: str) -> None:
    graph(world, body)
    world.desk.script(Say("one"), Say("two"), Say("one"), Say("four"))
    for number, text in enumerate(("one", "two", "one", "four")):
        said = await world.say(f"question {number % 3}")
        assert (said.text, len(said.of(ev.ModelFinished))) == (text, 1)
        row = await world.checked(said.turn)
        assert [message.content for message in row.messages or ()] == [text]
    assert [content for _, content in world.desk.sent()] == [
        *("question 0", "one", "question 1", "two", "question 2", "one", "question 0")
    ]


async def test_a_model_may_give_the_calls_of_each_reply_the_same_id(world: World) -> None:
    graph(world, TOOLS)
    calls = [Say("", [Call("jot", {"text": text}, "call_0")]) for text in ("a", "b")]
    world.desk.script(*calls, Say("done"), Say("next"))
    said = await world.say("go")
    assert said.results() == [("jot", "jotted a", "ok"), ("jot", "jotted b", "ok")]
    assert world.traces() == ["jot a", "jot b"]
    await world.checked(said.turn)
    assert (await world.say("and now?")).text == "next"


async def test_results_of_tools_in_the_history_are_not_told_again(world: World) -> None:
    graph(world, TOOLS + TEAM)
    steps = (("a", "done"), ("b", "done again"))
    for text, last in steps:
        world.desk.script(Say("", [Call("jot", {"text": text})]), Say(last))
        said = await world.say("jot it")
        assert said.results() == [("jot", f"jotted {text}", "ok")]
        assert said.text == last
    assert world.traces() == ["jot a", "jot b"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nodes", [("speak",), ("speak", "rest"), ("rest", "speak", "ask")], ids=str)
async def test_messages_in_another_form_are_said(world: World, form: str, nodes: tuple[str, ...]) -> None:
    functions = f"""
    def speak(state):
        return {{"messages": {FORMS[form]}}}

    def rest(state):
        return {{}}

    def ask(state):
        interrupt("go on?")
    """
    graph(world, chain(functions, *nodes))
    for _ in range(2):
        said = await world.say("go")
        assert said.text == "hello"
        if "ask" in nodes:
            said = await world.resume(said, Answer("value", value=True))
            assert said.text == ""
        row = await world.checked(said.turn)
        assert "".join(message.content for message in row.messages or ()) == "hello"


@pytest.mark.parametrize(
    "form", ['{"role": "assistant", "content": said.text}', "AIMessage(said.text)", '("ai", said.text)']
)
@pytest.mark.parametrize("more", ["", TEAM], ids=["alone", "team"])
async def test_the_words_of_a_model_in_a_message_of_the_node_are_said_once(
    world: World, form: str, more: str
) -> None:
    speak = f"""
    async def speak(state):
        said = await model.ainvoke(state["messages"])
        return {{"messages": [{form}]}}
    """
    graph(world, chain(speak, "speak") + more)
    for text in ("one", "two"):
        world.desk.script(Say(text))
        said = await world.say("go")
        assert said.text == text
        row = await world.checked(said.turn)
        assert [message.content for message in row.messages or ()] == [text]


async def test_after_a_crash_messages_in_another_form_are_said_once(hasty: World) -> None:
    functions = """
    async def speak(state):
        said = await model.ainvoke(state["messages"])
        return {"messages": [{"role": "assistant", "content": said.text}, ("ai", "and so on")]}

    async def wait(state):
        leave("wait")
        while os.path.getsize(TRACE) < 10:
            await asyncio.sleep(0.01)
        return {"messages": [("ai", "done")]}
    """
    graph(hasty, chain(functions, "speak", "wait"))
    hasty.desk.script(Say("one"))
    turn = await hasty.send("go")
    await until(lambda: bool(hasty.traces()))
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    row = await hasty.checked(turn)
    assert [message.content for message in row.messages or ()] == ["one", "and so on", "done"]


async def test_after_a_crash_words_of_nodes_that_are_done_stay(hasty: World) -> None:
    """Also if the state does not have them, or not any more."""
    functions = """
    from langchain_core.messages import RemoveMessage

    async def plan(state):
        return {"seen": (await model.ainvoke(state["messages"])).text}

    def draft(state):
        return {"messages": [AIMessage("a draft", id="draft")]}

    def tidy(state):
        return {"messages": [RemoveMessage("draft")]}

    async def act(state):
        leave("act")
        said = await model.ainvoke(state["messages"])
        while os.path.getsize(TRACE) < 8:
            await asyncio.sleep(0.01)
        return {"messages": [said]}

    class State(MessagesState):
        seen: str
    """
    graph(hasty, chain(functions, "plan", "draft", "tidy", "act", state="State"))
    hasty.desk.script(Say("a plan"), Say("acted"), Say("acted"))
    turn = await hasty.send("go")
    await until(lambda: len(hasty.desk.requests) == 2)
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    row = await hasty.checked(turn)
    assert [message.content for message in row.messages or ()] == ["a plan", "a draft", "acted"]


#: Talks at its own pace, and leaves words out of the state or puts them into it in each form.
CROWD = """
from typing import Any
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.types import Send
from typing_extensions import TypedDict


#: What has happened, for those that wait for it.
DONE = set()


async def happened(*things):
    while not DONE.issuperset(things):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)  # the server hears of it


class Slow(BaseChatModel):
    # Says its words, and waits before the first one and after it.
    text: str
    before: list[str] = []
    after: list[str] = []

    @property
    def _llm_type(self):
        return "slow"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.text))])

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        await happened(*self.before)
        for place, word in enumerate(self.text.split()):
            chunk = ChatGenerationChunk(message=AIMessageChunk(word + " "))
            if run_manager:
                await run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk
            if not place:
                DONE.add(f"{self.text} began")
                await happened(*self.after)


class State(MessagesState):
    plan: Annotated[list[str], operator.add]
    rounds: int


class Item(TypedDict):
    number: int


async def halt():
    leave("halt")
    while not os.path.exists(TRACE + ".go"):
        await asyncio.sleep(0.01)
"""

CROWDS: dict[str, tuple[str, list[str] | None, list[str]]] = {
    "agents side by side": (
        """
        def agent(text, halts=False, **waits):
            async def model(state):
                said = await Slow(text=text, **waits).ainvoke(state["messages"])
                if halts:
                    await halt()
                DONE.add(text)
                return {"messages": [said]}

            inner = StateGraph(MessagesState)
            inner.add_node("model", model)
            inner.add_edge(START, "model")
            return inner.compile()

        graph = StateGraph(State)
        graph.add_node("a", agent("a says this", before=["b says that began"]))
        graph.add_node("b", agent("b says that", halts=True, after=["a says this"]))
        graph.add_edge(START, "a")
        graph.add_edge(START, "b")
        """,
        ["a", "b"],
        ["a says this ", "b says that ", "done"],
    ),
    "a loop with the same words": (
        """
        async def again(state):
            if state.get("rounds") == 2:
                await halt()
            said = {"role": "assistant", "content": "step "}
            return {"messages": [said], "rounds": state.get("rounds", 0) + 1}

        graph = StateGraph(State)
        graph.add_node("again", again)
        graph.add_edge(START, "again")
        more = lambda state: "again" if state["rounds"] < 4 else "last"
        graph.add_conditional_edges("again", more, ["again", "last"])
        """,
        [],
        ["step ", "step ", "step ", "step ", "done"],
    ),
    "a loop whose words are no messages": (
        """
        async def again(state):
            if state.get("rounds") == 2:
                await halt()
            said = await Slow(text=f"round {state.get('rounds', 0)}").ainvoke("x")
            return {"plan": [said.text], "rounds": state.get("rounds", 0) + 1}

        graph = StateGraph(State)
        graph.add_node("again", again)
        graph.add_edge(START, "again")
        more = lambda state: "again" if state["rounds"] < 3 else "last"
        graph.add_conditional_edges("again", more, ["again", "last"])
        """,
        [],
        ["round 0 ", "round 1 ", "round 2 ", "done"],
    ),
    "tasks at once that stream and give pairs": (
        """
        async def work(item):
            said = await Slow(text=f"worker {item['number']}").ainvoke("x")
            if item["number"] == 3:
                await happened("worker 1", "worker 2")
                await halt()
            DONE.add(f"worker {item['number']}")
            return {"messages": [("ai", said.text)]}

        graph = StateGraph(State)
        graph.add_node("work", work)
        three = lambda state: [Send("work", {"number": n}) for n in (1, 2, 3)]
        graph.add_conditional_edges(START, three, ["work"])
        """,
        ["work"],
        ["worker 1 ", "worker 2 ", "worker 3 ", "done"],
    ),
    "a subgraph with a state of its own": (
        """
        class Inner(TypedDict):
            plan: Annotated[list[str], operator.add]

        async def think(state):
            return {"plan": [(await Slow(text="inner words").ainvoke("x")).text]}

        async def rest(state):
            await halt()

        inner = StateGraph(Inner)
        inner.add_node("think", think)
        inner.add_node("rest", rest)
        inner.add_edge(START, "think")
        inner.add_edge("think", "rest")
        graph = StateGraph(State)
        graph.add_node("inner", inner.compile())
        graph.add_edge(START, "inner")
        """,
        ["inner"],
        ["inner words ", "done"],
    ),
    "a subgraph whose words the node around it repeats": (
        """
        async def think(state):
            return {"messages": [await Slow(text="inner words").ainvoke("x")]}

        async def rest(state):
            await halt()

        inner = StateGraph(MessagesState)
        inner.add_node("think", think)
        inner.add_node("rest", rest)
        inner.add_edge(START, "think")
        inner.add_edge("think", "rest")
        inner = inner.compile()

        async def around(state):
            said = await inner.ainvoke({"messages": [("user", "x")]})
            return {"messages": [AIMessage(said["messages"][-1].text)]}

        graph = StateGraph(State)
        graph.add_node("around", around)
        graph.add_edge(START, "around")
        """,
        ["around"],
        ["inner words ", "done"],
    ),
    "functions that are called by a function": (
        """
        from langgraph.func import entrypoint, task

        @task
        async def think(number):
            return await Slow(text=f"thought {number}").ainvoke("x")

        @task
        async def rest(number):
            said = await Slow(text=f"rested {number}").ainvoke("x")
            await halt()
            return said

        @entrypoint()
        async def graph(given):
            await think(1)
            said = [await rest(2), await rest(3)]
            return {"messages": [*(item.text for item in said), AIMessage("done")]}
        """,
        None,
        ["thought 1 ", "rested 2 ", "rested 3 ", "done"],
    ),
}


def crowd(world: World, name: str) -> list[str]:
    source, before, words = CROWDS[name]
    imports = "import operator\nfrom typing import Annotated\n"
    if before is None:
        graph(world, imports + CROWD + dedent(source))
        return words
    last = """
def last(state):
    return {"messages": [AIMessage("done")]}

graph.add_node("last", last)
"""
    edges = "".join(f'graph.add_edge("{node}", "last")\n' for node in before)
    if len(before) > 1:
        edges = f'graph.add_edge({before!r}, "last")\n'
    graph(world, imports + CROWD + dedent(source) + last + edges + "graph = graph.compile()\n")
    return words


@pytest.mark.parametrize("name", CROWDS)
async def test_all_words_of_tasks_at_once_and_of_loops_are_said_once(world: World, name: str) -> None:
    words = crowd(world, name)
    world.trace.with_name(f"{world.trace.name}.go").touch()
    said = await world.say("go")
    assert said.finished, said.outcome
    row = await world.checked(said.turn)
    assert sorted(message.content for message in row.messages or ()) == sorted(words)


@pytest.mark.parametrize("name", CROWDS)
async def test_words_of_tasks_that_are_done_stay_after_a_crash(hasty: World, name: str) -> None:
    words = crowd(hasty, name)
    turn = await hasty.send("go")
    await until(lambda: bool(hasty.traces()))
    hasty.trace.with_name(f"{hasty.trace.name}.go").touch()
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    row = await hasty.checked(turn)
    assert sorted(message.content for message in row.messages or ()) == sorted(words)


IN_A_NODE = """
inner = StateGraph(MessagesState)
inner.add_node("think", think)
inner.add_node("rest", rest)
inner.add_edge(START, "think")
inner.add_edge("think", "rest")
inner = inner.compile()
"""
INVOKED = {
    "without await": """
        def think(state):
            return {"messages": [model.invoke("x")]}

        def rest(state):
            leave("rest")
            while not os.path.exists(TRACE + ".go"):
                time.sleep(0.01)

        %s

        def work(state):
            said = inner.invoke({"messages": [("user", "x")]})
            again = list(inner.stream({"messages": said["messages"][-1:]}, stream_mode="values"))
            return {"messages": [AIMessage(f"done {len(again[-1]['messages'])}")]}
    """,
    "in a tool": """
        from langchain_core.tools import tool
        from langgraph.prebuilt import ToolNode

        async def think(state):
            return {"messages": [await model.ainvoke("x")]}

        async def rest(state):
            await halt()

        %s

        @tool
        async def ask() -> str:
            "Ask."
            await inner.ainvoke({"messages": [("user", "x")]})
            return (await inner.ainvoke({"messages": [("user", "y")]}))["messages"][-1].text

        tools = ToolNode([ask])

        async def work(state, config):
            call = AIMessage("", tool_calls=[{"id": "1", "name": "ask", "args": {}, "type": "tool_call"}])
            await tools.ainvoke({"messages": [call]}, config)
            return {"messages": [AIMessage("done 2")]}
    """,
}


@pytest.mark.parametrize("how", INVOKED)
@pytest.mark.parametrize("crash", [False, True])
async def test_a_subgraph_that_a_node_or_a_tool_invokes_goes_on_after_a_crash(
    hasty: World, how: str, crash: bool
) -> None:
    source = dedent(INVOKED[how]).replace("%s", IN_A_NODE)
    body = "import operator, time\nfrom typing import Annotated\n" + CROWD + source
    lines = 'graph = StateGraph(MessagesState)\ngraph.add_node("work", work)\ngraph.add_edge(START, "work")\n'
    graph(hasty, f"{body}\n{lines}graph = graph.compile()\n")
    hasty.desk.script(Say("first"), Say("second"))
    turn = await hasty.send("go")
    await until(lambda: bool(hasty.traces()))
    hasty.trace.with_name(f"{hasty.trace.name}.go").touch()
    if crash:
        await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    row = await hasty.checked(turn)
    assert [message.content for message in row.messages or ()] == ["first", "second", "done 2"]


AROUND = """
def add(graph, **nodes):
    for name, node in nodes.items():
        graph.add_node(name, node)
    return graph

def speak(state):
    return {"messages": [AIMessage("said")]}

def pair():
    graph = add(StateGraph(MessagesState), one=speak, two=speak)
    graph.add_edge(START, "one")
    graph.add_edge(START, "two")
    return graph

def row():
    graph = add(StateGraph(MessagesState), one=speak, two=speak)
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    return graph

INNER
graph = add(StateGraph(MessagesState), work=work)
graph.add_edge(START, "work")
graph = graph.compile()
"""
CALLED = {
    "two at once, without await": """
inner = pair().compile()

def work(state):
    inner.invoke({"messages": []})
    return {"messages": [AIMessage("done")]}
""",
    "two at once, as a stream": """
inner = pair().compile()

def work(state):
    list(inner.stream({"messages": []}))
    return {"messages": [AIMessage("done")]}
""",
    "equal words, one after the other": """
inner = row().compile()

async def work(state):
    await inner.ainvoke({"messages": []})
    return {"messages": [AIMessage("done")]}
""",
    "equal words of two calls": """
inner = add(StateGraph(MessagesState), one=speak)
inner.add_edge(START, "one")
inner = inner.compile()

async def work(state):
    await inner.ainvoke({"messages": []})
    await inner.ainvoke({"messages": []})
    return {"messages": [AIMessage("done")]}
""",
    "a node without a checkpointer": """
work = row().add_node("last", lambda state: {"messages": [AIMessage("done")]}).add_edge("two", "last")
work = work.compile(checkpointer=False)
""",
    "a call without a checkpointer": """
inner = row().compile(checkpointer=False)

def work(state):
    inner.invoke({"messages": []})
    return {"messages": [AIMessage("done")]}
""",
}


@pytest.mark.parametrize("how", CALLED)
async def test_what_a_graph_in_a_graph_says_is_said(world: World, how: str) -> None:
    graph(world, AROUND.replace("INNER", CALLED[how]))
    said = await world.say("go")
    assert said.finished, said.outcome
    row = await world.checked(said.turn)
    said_last = [message.content for message in row.messages or ()]
    assert said_last == ["said", "said", "done"]


STRANGE = {
    "plain": "def work(state):\n    raise {error}",
    "async": "async def work(state):\n    await asyncio.sleep(0)\n    raise {error}",
    "in a task": """
async def fail():
    await asyncio.sleep(0)
    raise {error}

async def work(state):
    await asyncio.gather(fail(), asyncio.sleep(10))
""",
    "in a tool": """
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode

@tool
def fail():
    "Fail."
    raise {error}

async def work(state):
    call = AIMessage("", tool_calls=[{{"id": "1", "name": "fail", "args": {{}}}}])
    return await within.ainvoke({{"messages": [call]}})

within = StateGraph(MessagesState)
within.add_node("tools", ToolNode([fail]))
within.add_edge(START, "tools")
within = within.compile()
""",
}


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt"])
@pytest.mark.parametrize("how", STRANGE)
async def test_a_node_that_would_end_the_program_fails_its_turn_alone(
    world: World, how: str, error: str
) -> None:
    body = STRANGE[how].format(error=error)
    lines = 'graph = StateGraph(MessagesState)\ngraph.add_node("work", work)\ngraph.add_edge(START, "work")\n'
    graph(world, f"import asyncio\n{body}\n{lines}graph = graph.compile()\n")
    said = await world.say("go")
    assert said.failure.error_id
    await world.checked(said.turn)
    graph(world, SPEAK)
    world.desk.script(Say("well"))
    assert (await world.say("go")).text == "well"


async def test_words_that_are_only_in_the_last_state_are_said_after_a_crash(
    hasty: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
def work(state):
    leave("work")
    return {"messages": [("ai", "said")]}

graph = StateGraph(MessagesState)
graph.add_node("work", work)
graph.add_edge(START, "work")
graph = graph.compile()
"""
    graph(hasty, body)

    async def never(watcher: Watcher) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "end", never)
        turn = await hasty.send("go")
        await until(lambda: bool(hasty.traces()))
        await asyncio.sleep(0.3)
        await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    assert said.text == "said"


async def test_a_node_that_is_cancelled_while_it_chooses_its_edge_runs_again(hasty: World) -> None:
    body = """
        class Counted(MessagesState):
            count: int

        def work(state):
            return {"count": state.get("count", 0) + 1}

        async def path(state):
            await halt()
            return "last"

        def last(state):
            return {"messages": [AIMessage(f"done {state['count']}")]}

        graph = StateGraph(Counted)
        graph.add_node("work", work)
        graph.add_node("last", last)
        graph.add_edge(START, "work")
        graph.add_conditional_edges("work", path)
        graph = graph.compile()
        """
    graph(hasty, "import operator\nfrom typing import Annotated\n" + CROWD + dedent(body))
    turn = await hasty.send("go")
    await until(lambda: bool(hasty.traces()))
    hasty.trace.with_name(f"{hasty.trace.name}.go").touch()
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.finished, said.outcome
    assert said.text == "done 1"


async def test_what_middleware_asks_a_model_for_itself_is_not_shown(world: World) -> None:
    body = """
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware

summary = SummarizationMiddleware(model=model, trigger=("messages", 2), keep=("messages", 1))
graph = create_agent(model, tools=[], middleware=[summary])
"""
    graph(world, body)
    world.desk.script(Say("one"), Say("a summary"), Say("two"), Say("another summary"), Say("three"))
    for text in ("one", "two", "three"):
        said = await world.say("go")
        assert said.text == text
        row = await world.checked(said.turn)
        assert [message.content for message in row.messages or ()] == [text]


async def test_a_function_may_return_messages_in_another_form(world: World) -> None:
    body = """
from langgraph.func import entrypoint

@entrypoint()
def graph(given):
    return {"messages": [{"role": "assistant", "content": "hello"}]}
"""
    graph(world, body)
    assert (await world.say("go")).text == "hello"


async def test_the_first_words_are_the_title_if_the_model_for_it_has_no_key(world: World) -> None:
    graph(world, SPEAK, "model: {primary: anthropic:x}")
    found = shortage(world.catalog.get("tester"), "demo", world.environ)
    assert found is not None
    assert not found.fatal
    assert str(found).endswith(
        "set ANTHROPIC_API_KEY (until then first words are the titles of its conversations)"
    )
    world.desk.script(Say("one"))
    said = await world.say("first")
    assert (said.finished is not None, said.text, [event.title for event in said.of(ev.TitleChanged)]) == (
        True,
        "one",
        ["first"],
    )


async def test_a_turn_whose_log_cannot_be_read_keeps_no_checkpoints(world: World) -> None:
    graph(world, ASK)
    world.desk.script(Say("let me see"))
    said = await world.say("go")
    assert await world.database.read(checkpoint_count) > 0

    def spoil(connection: Connection) -> None:
        rows = schema.events.c.turn == said.turn.num
        connection.execute(update(schema.events).where(rows).values(body=b"not what was stored"))

    await world.database.write(spoil)
    await world.answer(said.turn, {said.interrupts[0].id: Answer("value", value=1)})
    async with asyncio.timeout(PATIENCE):
        while (await world.row(said.turn)).status != "failed":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await world.database.read(checkpoint_count) == 0


async def test_a_graphs_own_question_is_shown_and_answered_with_a_value(world: World) -> None:
    graph(world, ASK)
    world.desk.script(Say(["let ", "me see"]), Say("next"))
    said = await world.say("go")
    (item,) = said.waiting(GraphRequest)
    assert (item.kind, item.value) == ("graph", {"question": "which?", "choices": [1, 2]})
    assert said.text == "let me see"
    assert await world.database.read(checkpoint_count) > 0
    said = await world.resume(said, Answer("value", value=[2, "b"]))
    assert said.finished
    assert await world.database.read(checkpoint_count) == 0
    assert said.text == "you said [2, 'b']"
    assert world.traces() == ["speak", "asked"]
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["let me see", "you said [2, 'b']"]


async def test_a_graphs_question_may_be_refused(world: World) -> None:
    graph(world, ASK)
    world.desk.script(Say("let me see"))
    said = await world.resume(await world.say("go"), Answer("reject", message="no"))
    assert said.finished
    assert said.text == "you said False"


async def test_after_a_refusal_a_graph_does_nothing_and_can_read_the_reason(world: World) -> None:
    graph(world, DELETE)
    refused = await world.resume(await world.say("go"), Answer("reject", message="not today"))
    assert [item.value for item in refused.waiting(GraphRequest)] == ["log it?"]
    refused = await world.resume(refused, Answer("value", value=False))
    assert refused.finished
    assert world.traces() == []
    assert refused.text == "[('delete?', 'not today')]"
    allowed = await world.resume(await world.say("go"), Answer("value", value=True))
    allowed = await world.resume(allowed, Answer("reject", message="no log"))
    assert world.traces() == ["deleted"]
    assert allowed.text == "[('log it?', 'no log')]"


async def test_refusals_are_distinguished_by_the_graphs_own_ids(world: World) -> None:
    graph(world, DELETE.replace('(item["value"], item["message"])', 'item["interrupt"]'))
    said = await world.say("go")
    while not said.finished:
        said = await world.resume(said, NO)
    assert len(set(said.text.strip("[]").split(", "))) == 2


async def test_a_retry_does_not_see_the_refusals_of_the_attempt_before(world: World) -> None:
    graph(world, DELETE)
    said = await world.resume(await world.say("go"), Answer("reject", message="not today"))
    await world.close(said.turn)
    again = await world.retry(said.turn)
    assert [item.value for item in again.waiting(GraphRequest)] == ["delete?"]
    again = await world.resume(again, Answer("value", value=False))
    again = await world.resume(again, Answer("value", value=False))
    assert again.finished
    assert again.text == "[]"


async def test_an_answer_from_before_a_stop_does_not_count_for_a_retry_of_a_graph(world: World) -> None:
    graph(world, TWICE)
    said = await world.say("go")
    first, _ = said.interrupts
    assert not await world.answer(said.turn, {first.id: Answer("value", value="old")})
    await world.close(said.turn)
    again = await world.retry(said.turn)
    assert [item.value for item in again.waiting(GraphRequest)] == ["a?", "b?"]
    assert world.traces() == []
    assert (await world.resume(again, Answer("value", value="new"))).finished
    assert sorted(world.traces()) == ["a new", "b new"]


async def test_a_graphs_tools_are_shown_and_the_next_turn_is_accepted(world: World) -> None:
    graph(world, TOOLS)
    calls = [Call("jot", {"text": "a"}, "jot-1"), Call("jot", {"text": "b"}, "jot-2")]
    world.desk.script(Say("jotting", calls), Say("done"), Say("next"))
    said = await world.say("go")
    assert said.finished
    assert sorted(world.traces()) == ["jot a", "jot b"]
    assert {(event.name, event.args["text"]) for event in said.of(ev.ToolStarted)} == {
        ("jot", "a"),
        ("jot", "b"),
    }
    assert sorted(said.results()) == [("jot", "jotted a", "ok"), ("jot", "jotted b", "ok")]
    row = await world.checked(said.turn)
    assert roles(row.messages) == ["assistant", "tool", "tool", "assistant"]
    assert (await world.say("and now?")).finished


async def test_a_stopped_graph_keeps_its_text(world: World) -> None:
    graph(world, SPEAK)
    world.desk.script(Hang(["once ", "upon"]), Say("next"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta, 2)
    world.engine.supervisor.stop(turn.num, "user")
    await world.segment(turn)
    row = await world.checked(turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("once upon", True)]
    assert (await world.say("and now?")).finished
    assert world.desk.sent()[1] == ("assistant", "once upon")


async def test_a_graph_that_raises_fails_the_turn_without_internals(world: World) -> None:
    graph(
        world,
        SPEAK.replace(
            "return {", "raise RuntimeError('secret') if len(state['messages']) == 1 else None\n    return {"
        ),
    )
    world.desk.script(Say("fine"))
    said = await world.say("go")
    assert "secret" not in said.failure.message
    assert said.failure.error_id
    await world.checked(said.turn)


async def test_a_graph_whose_model_breaks_off_can_be_retried(world: World) -> None:
    graph(world, SPEAK)
    world.desk.script(Broken(["half "]), Say("whole"))
    said = await world.say("go")
    assert said.failure.code == "internal"
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["half "]
    again = await world.retry(said.turn)
    assert again.finished
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["whole"]


async def test_a_graph_that_loops_forever_is_stopped_at_its_step_limit(world: World) -> None:
    graph(world, TOOLS, "limits: {max_steps: 5}")
    world.desk.script(*(Say("", [Call("jot", {"text": str(n)}, f"jot-{n}")]) for n in range(9)))
    said = await world.say("go")
    assert said.failure.code == "steps"
    await world.checked(said.turn)


async def test_text_that_a_graph_does_not_keep_is_still_a_complete_reply(world: World) -> None:
    """The model's reply never becomes a message of the state, and a question follows it."""
    graph(
        world,
        chain(
            """
            class State(MessagesState):
                plan: str

            async def think(state):
                leave("think")
                return {"plan": (await model.ainvoke(state["messages"])).text}

            def ask(state):
                given = interrupt("go on?")
                return {"messages": [AIMessage(f"{state['plan']}, {given}")]}
            """,
            "think",
            "ask",
            state="State",
        ),
    )
    world.desk.script(Say(["a ", "plan"]))
    said = await world.say("go")
    assert said.text == "a plan"
    said = await world.resume(said, Answer("value", value="yes"))
    assert said.finished
    assert not said.of(ev.TextVoided)
    assert world.traces() == ["think"]
    row = await world.checked(said.turn)
    assert [(m.content, m.cut) for m in row.messages or ()] == [("a plan", False), ("a plan, yes", False)]


@pytest.mark.parametrize(
    ("router", "shown"),
    [
        ("model", ["left", "an ", "answer"]),
        ('model.with_config(tags=["nostream"])', ["an ", "answer"]),
    ],
)
async def test_what_a_model_with_the_tag_nostream_says_is_not_shown(
    world: World, router: str, shown: list[str]
) -> None:
    graph(
        world,
        chain(
            f"""
            class State(MessagesState):
                way: str

            async def route(state):
                return {{"way": (await {router}.ainvoke(state["messages"])).text}}

            async def speak(state):
                leave(state["way"])
                return {{"messages": [await model.ainvoke(state["messages"])]}}
            """,
            "route",
            "speak",
            state="State",
        ),
    )
    world.desk.script(Say(["left"]), Say(["an ", "answer"]))
    said = await world.say("go")
    assert said.finished
    assert [event.text for event in said.of(ev.TextDelta)] == shown
    assert world.traces() == ["left"]


async def test_text_of_a_graphs_node_that_then_asks_is_not_shown_twice(world: World) -> None:
    graph(
        world,
        chain(
            """
            async def both(state):
                said = await model.ainvoke(state["messages"])
                given = interrupt("go on?")
                return {"messages": [said, AIMessage(f"you said {given}")]}
            """,
            "both",
        ),
    )
    world.desk.script(Say("first words"), Say("second words"))
    said = await world.say("go")
    said = await world.resume(said, Answer("value", value="yes"))
    assert said.finished
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["second words", "you said yes"]


async def test_messages_of_a_subgraph_are_shown_once(world: World) -> None:
    graph(world, chain(SPEAK + "inner = graph\n", "inner"))
    world.desk.script(Say(["in ", "side"]))
    said = await world.say("go")
    assert said.text == "in side"
    row = await world.checked(said.turn)
    assert [m.content for m in row.messages or ()] == ["in side"]


LARGE = chain(
    """
    def work(state):
        call = {"id": "a", "name": "find", "args": {}}
        found = ToolMessage("x" * 200_000, tool_call_id="a", name="find")
        return {"messages": [AIMessage("", tool_calls=[call]), found, AIMessage("done")]}
    """,
    "work",
)


async def test_a_large_result_in_a_graph_is_cut_in_the_log(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    async with world_over(database, tmp_path, desk, limits(results=100_000)) as world:
        graph(world, "from langchain_core.messages import ToolMessage\n" + LARGE)
        said = await world.say("go")
        assert said.finished
        ((name, output, status),) = said.results()
        assert (name, status) == ("find", "ok")
        assert len(output) < 101_000
        assert "may take 100000 bytes of memory together" in output
        await world.checked(said.turn)


async def test_a_graph_whose_process_died_continues_and_its_text_is_shown_once(hasty: World) -> None:
    graph(hasty, ASK)
    hasty.desk.script(Hang(["half "]), Say(["all ", "of it"]))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.TextDelta)
    await lose(hasty)
    said = await hasty.segment(turn)
    assert [event.cause for event in said.of(ev.RunStarted)] == ["start", "adopt"]
    assert said.of(ev.TextVoided) == [ev.TextVoided(1)]
    assert said.interrupts
    await lose(hasty)
    said = await hasty.resume(said, Answer("value", value="yes"))
    assert said.finished
    row = await hasty.checked(turn)
    assert [m.content for m in row.messages or ()] == ["all of it", "you said yes"]
    assert hasty.traces() == ["speak", "speak", "asked"]


SLOW = chain(
    """
    async def work(state, config: RunnableConfig):
        first = interrupt("delete?")
        if not os.path.exists(TRACE):
            leave("hangs")
            await asyncio.sleep(60)
        second = interrupt("log it?")
        reasons = [item["message"] for item in config["configurable"]["refusals"]]
        return {"messages": [AIMessage(f"{first} {second} {reasons}")]}
    """,
    "work",
)


async def test_a_refusal_survives_a_crash_and_answers_no_other_question(hasty: World) -> None:
    graph(hasty, SLOW)
    said = await hasty.say("go")
    assert await hasty.answer(said.turn, {said.interrupts[0].id: Answer("reject", message="no")})
    async with asyncio.timeout(30):
        while not hasty.traces():  # noqa: ASYNC110 - a file cannot tell
            await asyncio.sleep(0.01)
    await hasty.until(said.turn, ev.RunStarted)  # it is on disk a little later
    await lose(hasty)
    said = await hasty.segment(said.turn)
    assert [event.cause for event in said.of(ev.RunStarted)] == ["resume", "adopt"]
    assert [item.value for item in said.waiting(GraphRequest)] == ["log it?"]
    await lose(hasty)
    said = await hasty.resume(said, Answer("reject", message="no again"))
    assert said.text == "False False ['no', 'no again']"


CAUTIOUS = chain(
    """
    def speak(state):
        last = state["messages"][-1].text
        if last.startswith("Yes, I confirm."):
            leave("deleted")
            return {"messages": [AIMessage("Deleted.")]}
        if last.startswith("No, I refuse."):
            return {"messages": [AIMessage("Then not.")]}
        return {"messages": [AIMessage("Please confirm that."), AIMessage("I wait.")]}
    """,
    "speak",
)


async def test_a_graph_that_asks_in_words_begins_again_with_the_answer(world: World) -> None:
    for confirmed, words in ((True, "Deleted."), (False, "Then not.")):
        graph(world, CAUTIOUS, "interrupt: {enabled: true}")
        await world.begin()
        said = await world.say("delete it")
        (item,) = said.waiting(Confirmation)
        assert item.reason == "Please confirm that."
        said = await world.resume(said, Answer("fields", fields={"confirm": confirmed}))
        assert said.finished
        assert said.text == words
        row = await world.checked(said.turn)
        assert roles(row.messages) == ["assistant", "assistant", "user", "assistant"]
    assert world.traces() == ["deleted"]
    assert await world.database.read(checkpoint_count) == 0
