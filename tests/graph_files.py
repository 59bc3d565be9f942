"""Source text of small LangGraph graphs for tests: an operator's own graphs."""

from __future__ import annotations

import json
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

IMPORTS = """
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt
"""

#: A model that makes the calls which a message lists as JSON, and then repeats their results. A message may
#: also have the calls of several `replies`, with their ids.
_SCRIPTED = """
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class Scripted(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        last = messages[-1]
        asked = next(m for m in reversed(messages) if m.type == "human")
        replies = json.loads(asked.text)["replies"] if asked.text.startswith("{") else []
        done = len([m for m in messages[messages.index(asked) :] if m.type == "ai"])
        if done < len(replies):
            reply = AIMessage("", tool_calls=replies[done])
        elif last.type == "human" and last.text.startswith("["):
            wanted = enumerate(json.loads(last.text), 1)
            calls = [
                {"id": f"{len(messages)}-{n}", "name": name, "args": args} for n, (name, args) in wanted
            ]
            reply = AIMessage("", tool_calls=calls)
        else:
            results = []
            for message in reversed(messages):
                if message.type != "tool":
                    break
                results.insert(0, message.text)
            reply = AIMessage(" | ".join(results) or "nothing to do")
        return ChatResult(generations=[ChatGeneration(message=reply)])
"""

#: An agent whose tool calls a person reviews, as LangChain's documentation writes one. Its model makes the
#: calls that a message lists as JSON, and then repeats their results. Tools write to `trace`.
_REVIEWED = """
import json
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
{scripted}

def leave(line):
    with Path("{trace}").open("a") as file:
        file.write(line + "\\n")


@tool
def send_mail(to: str, copies: int = 1) -> str:
    "Send a mail."
    leave(f"mail {to} {copies}")
    return f"sent to {to}"


@tool
def drop_table(name: str) -> str:
    "Drop a table."
    leave(f"drop {name}")
    return f"dropped {name}"


@tool
def ask_boss(question: str) -> str:
    "Ask the boss."
    raise RuntimeError("the person answers")


review = HumanInTheLoopMiddleware(
    interrupt_on={
        "send_mail": True,
        "drop_table": {"allowed_decisions": ["approve", "reject"], "description": "Look twice"},
        "ask_boss": {"allowed_decisions": ["respond"]},
    },
    interrupt_mode="{mode}",
)
graph = create_agent(
    Scripted(),
    tools=[send_mail, drop_table, ask_boss],
    middleware=[review],
    checkpointer=MemorySaver(),
)
"""


#: An agent with marked functions and marked tools of LangChain. `how` says who calls them: LangChain's agent,
#: a `ToolNode`, a node by the tool's own protocol, or a node without the id of a model's call. Tools leave
#: the key of their call in `trace`, and those that wait do so until there is a file `go`.
_MARKED = """
import asyncio
import json
import time
from enum import Enum
from pathlib import Path
from typing import Annotated

import caesura
{scripted}
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command

FOLDER = Path(__file__).parent


class Size(Enum):
    LARGE = "large"


def leave(line):
    with Path("{trace}").open("a") as file:
        file.write(line + "\\n")


def who(ctx):
    return [ctx.user_id, ctx.conversation_id, ctx.turn_id, ctx.agent]


@caesura.tool(permission="auto", repeatable=True)
def look(ctx: caesura.Context, text: str, size: Size) -> dict:
    "Look."
    leave(ctx.idempotency_key)
    return {"text": f"{text} {size.value}", "who": who(ctx)}


@caesura.tool(permission="auto", repeatable=True)
async def alook(text: str, size: Size, *, ctx: caesura.Context) -> dict:
    "Look."
    leave(ctx.idempotency_key)
    ctx.progress("looking")
    return {"text": f"{text} {size.value}", "who": who(ctx)}


@caesura.tool(permission="auto", repeatable=True)
@tool
def told(text: str, size: Size) -> str:
    "Tell."
    leave("told")
    return json.dumps({"text": f"{text} {size.value}", "who": None})


@caesura.tool(permission="auto", repeatable=True)
@tool
async def atold(text: str, size: Size) -> str:
    "Tell."
    leave("told")
    return json.dumps({"text": f"{text} {size.value}", "who": None})


@caesura.tool(permission="auto")
def charge(text: str, ctx: caesura.Context) -> str:
    "Charge."
    leave(ctx.idempotency_key)
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
    return "charged " + text


@caesura.tool(permission="auto")
async def acharge(text: str, ctx: caesura.Context) -> str:
    "Charge."
    leave(ctx.idempotency_key)
    while not (FOLDER / "go").exists():
        await asyncio.sleep(0.01)
    return "charged " + text


@caesura.tool(permission="auto")
@tool
def mail(text: str) -> str:
    "Mail."
    leave("mail")
    while not (FOLDER / "go").exists():
        time.sleep(0.01)
    return "mailed " + text


@caesura.tool(permission="auto")
@tool
async def amail(text: str) -> str:
    "Mail."
    leave("mail")
    while not (FOLDER / "go").exists():
        await asyncio.sleep(0.01)
    return "mailed " + text


@caesura.tool
def pay(text: str) -> str:
    "Pay."
    leave("pay " + text)
    return "paid " + text


@caesura.tool
def bill(text: str) -> str:
    "Bill."
    leave("bill " + text)
    return "billed " + text


@caesura.tool(permission="auto")
def refund(ctx: caesura.Context) -> str:
    "Refund."
    leave("asks")
    amount = ctx.ask("How much?")
    leave("refund " + amount)
    return "refunded " + amount


@caesura.tool(permission="auto")
def fail(text: str) -> str:
    "Fail."
    raise caesura.ToolError("no " + text)


@caesura.tool(permission="auto")
@tool
def seen(state: Annotated[dict, InjectedState]) -> str:
    "See."
    return f"{len(state['messages'])} messages"


@caesura.tool(permission="auto")
def command() -> Command:
    "Go elsewhere."
    return Command(goto="elsewhere")


@caesura.tool(permission="auto")
@tool
def command_too() -> Command:
    "Go elsewhere."
    return Command(goto="elsewhere")


class Counter:
    def __init__(self, start):
        self.start = start

    @caesura.tool(permission="auto")
    def count(self, by: int, ctx: caesura.Context) -> int:
        "Count."
        return self.start + by


TOOLS = [Counter(40).count, command, command_too, look, alook, told, atold]
TOOLS += [charge, acharge, mail, amail, pay, bill, refund, fail, seen]
BY_NAME = {item.name: item for item in ToolNode(TOOLS).tools_by_name.values()}
WITH_ID = "{how}" == "direct"


async def speak(state):
    return {"messages": [await Scripted().ainvoke(state["messages"])]}


async def call(state):
    results = []
    for item in state["messages"][-1].tool_calls:
        tool = BY_NAME[item["name"]]
        found = await tool.ainvoke({**item, "type": "tool_call"} if WITH_ID else item["args"])
        name = item["name"]
        results.append(found if WITH_ID else ToolMessage(found, tool_call_id=item["id"], name=name))
    return {"messages": results}


def call_plainly(state):
    calls = state["messages"][-1].tool_calls
    return {"messages": [BY_NAME[item["name"]].invoke({**item, "type": "tool_call"}) for item in calls]}


NODES = {"node": ToolNode(TOOLS), "plain": call_plainly}

if "{how}" in ("agent", "reviewed", "nested"):
    review = HumanInTheLoopMiddleware(interrupt_on={"pay": True, "acharge": True})
    graph = create_agent(Scripted(), tools=TOOLS, middleware=[review] if "{how}" == "reviewed" else [])
    if "{how}" == "nested":
        outer = StateGraph(MessagesState)
        outer.add_node("inner", graph)
        outer.add_edge(START, "inner")
        graph = outer.compile()
else:
    graph = StateGraph(MessagesState)
    graph.add_node("speak", speak)
    graph.add_node("tools", NODES.get("{how}", call))
    graph.add_edge(START, "speak")
    graph.add_conditional_edges("speak", tools_condition)
    graph.add_edge("tools", "speak")
    graph = graph.compile()
"""


#: An agent that writes files, runs commands and asks the person: each call is reviewed, those of `ask_user`
#: too, and `questions` are what middleware allows for them. `form` is a graph that asks with `interrupt`.
_ASSISTANT = """
import json
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
{scripted}

def leave(line):
    with Path("{trace}").open("a") as file:
        file.write(line + "\\n")


@tool
def write_file(file_path: str, content: str) -> str:
    "Write a file."
    leave(f"write {file_path}")
    return f"wrote {file_path}"


@tool
def execute(command: str, timeout: int = 60) -> str:
    "Run a command."
    leave(f"run {command}")
    return f"ran {command}"


@tool
def ask_user(questions: list[dict], answers: list[str] | None = None) -> str:
    "Ask the person."
    return json.dumps(answers, ensure_ascii=False)


@tool
def choose(questions: list[dict]) -> str:
    "Ask the person, without a review."
    return json.dumps(interrupt({"questions": questions}), ensure_ascii=False)


review = HumanInTheLoopMiddleware(
    interrupt_on={"write_file": True, "execute": True, "ask_user": {questions}},
    interrupt_mode="{mode}",
)
graph = create_agent(
    Scripted(),
    tools=[write_file, execute, ask_user, choose],
    middleware=[review],
    checkpointer=MemorySaver(),
)


def ask(state, config):
    answers = interrupt({"questions": json.loads(state["messages"][-1].text)})
    said = json.dumps([answers, config["configurable"]["refusals"]], ensure_ascii=False)
    return {"messages": [AIMessage(said)]}


form = StateGraph(MessagesState)
form.add_node("ask", ask)
form.add_edge(START, "ask")
form = form.compile(checkpointer=MemorySaver())
"""


#: Agents that research: each node tells a front end what it does.
_RESEARCH = """
from datetime import datetime

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt


def leave(line):
    with open("{trace}", "a") as file:
        file.write(line + "\\n")


class Words(BaseChatModel):
    text: str

    @property
    def _llm_type(self):
        return "words"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.text))])

    async def _astream(self, messages, stop=None, run_manager=None, **kwargs):
        for word in self.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(word + " "))


class State(MessagesState):
    pending: dict
    result: str


def tell(kind, agent, **data):
    event = {{"type": kind, "agent": agent, "timestamp": datetime.now().isoformat()}}
    get_stream_writer()({{**event, "data": data}} if data else event)


async def say(agent, text, messages):
    tell("start", agent)
    whole = ""
    async for chunk in Words(text=text).astream(messages):
        whole += chunk.content
        tell("llm_chunk", agent, content=chunk.content, reasoning_content="")
    tell("llm_complete", agent, token_usage={{}})
    return AIMessage(whole)


class Research:
    def __init__(self, manager):
        self._manager = manager

    async def lead_agent(self, state):
        if not state.get("result"):
            said = await say("lead_agent", "I look at the page.", state["messages"])
            return {{"messages": [said], "pending": {{"url": "https://example.org/"}}}}
        if state["result"] == "refused":
            said = await say("lead_agent", "I have not seen it.", state["messages"])
            return {{"messages": [said], "result": ""}}
        session = self._manager.current_session_id
        await self._manager.create_artifact(session, "report", "markdown", "Report", "# Draft")
        await self._manager.update_artifact(session, "report", "Draft", "What the page says")
        said = await say("lead_agent", "The report is written.", state["messages"])
        return {{"messages": [said], "pending": {{}}, "result": ""}}

    async def tool_execution(self, state):
        tell("permission_required", "crawl_agent", routing={{"tool_name": "web_fetch"}})
        approved = interrupt(
            {{
                "type": "tool_permission",
                "agent": "crawl_agent",
                "tool_name": "web_fetch",
                "params": state["pending"],
                "permission_level": "confirm",
                "message": "Tool 'web_fetch' requires confirm permission",
            }}
        )
        if not approved:
            return {{"result": "refused", "pending": {{}}}}
        tell("tool_start", "crawl_agent", tool_name="web_fetch")
        leave("fetched " + state["pending"]["url"])
        tell("tool_result", "crawl_agent", success=True)
        return {{"result": "the page", "pending": {{}}}}


async def create_multi_agent_graph(tool_permissions=None, artifact_manager=None, checkpointer=None):
    research = Research(artifact_manager)
    builder = StateGraph(State)
    builder.add_node("lead_agent", research.lead_agent)
    builder.add_node("tool_execution", research.tool_execution)
    builder.add_edge(START, "lead_agent")
    builder.add_conditional_edges(
        "lead_agent", lambda state: "tool_execution" if state.get("pending") else END, ["tool_execution", END]
    )
    builder.add_edge("tool_execution", "lead_agent")
    return builder.compile(checkpointer=checkpointer)
"""


def research(trace: Path) -> str:
    """The source of `create_multi_agent_graph`."""
    preload("langgraph.prebuilt")
    return _RESEARCH.format(trace=trace)


def preload(*modules: str) -> None:
    """Import what a graph's file imports: on a busy machine that may take longer than a file may take."""
    for module in modules:
        import_module(module)


def reviewed(trace: Path, mode: str = "batched") -> str:
    """The source of `graph`, an agent whose tool calls a person reviews."""
    preload("langchain.agents.middleware", "langgraph.checkpoint.memory")
    return _REVIEWED.replace("{scripted}", _SCRIPTED).replace("{trace}", str(trace)).replace("{mode}", mode)


def assistant(trace: Path, mode: str = "batched", questions: str = "True") -> str:
    """The source of `graph` and `form`, which ask the person."""
    preload("langchain.agents.middleware", "langgraph.checkpoint.memory")
    source = _ASSISTANT.replace("{scripted}", _SCRIPTED).replace("{trace}", str(trace))
    return source.replace("{mode}", mode).replace("{questions}", questions)


def marked(trace: Path, how: str = "agent") -> str:
    """The source of `graph`, an agent with marked functions and tools."""
    preload("langchain.agents.middleware", "langgraph.prebuilt")
    return _MARKED.replace("{scripted}", _SCRIPTED).replace("{trace}", str(trace)).replace("{how}", how)


def wants(*calls: tuple[str, dict[str, Any]]) -> str:
    """The message after which that agent makes these calls."""
    return json.dumps(calls, ensure_ascii=False)


def chain(functions: str, *nodes: str, state: str = "MessagesState") -> str:
    """The source of `graph`: these functions are its nodes and run one after the other. `functions` is the
    source of the functions."""
    lines = [f"graph = StateGraph({state})"]
    lines += [f'graph.add_node("{node}", {node})' for node in nodes]
    lines.append(f'graph.add_edge(START, "{nodes[0]}")')
    lines += [f'graph.add_edge("{here}", "{there}")' for here, there in pairwise(nodes)]
    lines.append("graph = graph.compile()")
    return dedent(functions) + "\n" + "\n".join(lines) + "\n"
