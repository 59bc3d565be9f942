"""The state of an operator's own graph lives on from turn to turn, and the graph knows for whom it works."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from sqlalchemy import Connection, func, select, update

from caesura.agents import imports
from caesura.core.answers import Answer
from caesura.core.turns import Turn
from caesura.engine.graphs.saver import Saver
from caesura.store import life, schema
from caesura.store.database import Database
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import World, checkpoint_count, limits, world_over
from tests.graph_files import IMPORTS, chain, preload
from tests.openai_server import Desk

HEAD = """
import operator
import json
from dataclasses import dataclass, field
from typing import Annotated, Any
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.checkpoint.memory import MemorySaver
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command, Send
from pydantic import BaseModel
from typing_extensions import TypedDict
"""

#: Adds one to its counter, and says what it has now.
COUNT = chain(
    """
    class State(MessagesState):
        count: int
        seen: Annotated[list[str], operator.add]

    def work(state):
        said = state["messages"][-1].text
        count = state.get("count", 0) + 1
        if said == "fail":
            raise RuntimeError("as asked")
        if said == "ask":
            interrupt("go on?")
        seen = state["seen"] + [said]
        return {"count": count, "seen": [said], "messages": [AIMessage(f"{count} {' '.join(seen)}")]}

    def after(state):
        if state["messages"][-2].text == "fail late":
            raise RuntimeError("as asked")
        if state["messages"][-2].text == "ask late":
            interrupt("go on?")
    """,
    "work",
    "after",
    state="State",
)


def graph(world: World, body: str, name: str = "tester", spec: str = "") -> None:
    preload("langgraph.prebuilt", "langgraph.runtime", "langgraph.channels")
    (world.agents / f"{name}_graph.py").write_text(IMPORTS + HEAD + body)
    agent_files.put(world.agents, name, f"type: langgraph\ngraph: '{name}_graph:graph'\n{spec}\n")
    world.load_anew()
    assert not world.catalog.faults, world.catalog.faults


def states(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(schema.graph_states)).scalar_one()


async def test_the_next_turn_begins_with_the_state_of_the_one_before(world: World) -> None:
    graph(world, COUNT)
    assert (await world.say("a")).text == "1 a"
    assert (await world.say("b")).text == "2 a b"
    assert await world.database.read(checkpoint_count) == 0
    world.engine = world.new_engine()  # another process
    world.engine.start()
    assert (await world.say("c")).text == "3 a b c"


async def test_a_key_may_have_the_name_of_a_node(world: World) -> None:
    graph(world, COUNT.replace('add_node("work"', 'add_node("count"').replace('"work"', '"count"'))
    assert [(await world.say(text)).text for text in ("a", "b")] == ["1 a", "2 a b"]


async def test_branches_have_states_of_their_own(world: World) -> None:
    graph(world, COUNT)
    first = await world.say("a")
    second = await world.say("b")
    assert (await world.say("c", first.turn.id)).text == "2 a c"
    assert (await world.say("d", second.turn.id)).text == "3 a b d"
    assert (await world.say("e", None)).text == "1 e"
    assert (await world.say("f", first.turn.id)).text == "2 a f"


async def test_a_turn_that_failed_or_was_stopped_leaves_the_state_of_its_last_finished_step(
    world: World,
) -> None:
    graph(world, COUNT)
    assert (await world.say("a")).text == "1 a"
    assert (await world.say("fail")).failure.code == "internal"
    assert (await world.say("b")).text == "2 a b"
    late = await world.say("fail late")
    assert late.failure.code == "internal"
    assert (await world.say("c")).text == "4 a b fail late c"
    asked = await world.say("ask late")
    await world.close(asked.turn)
    assert (await world.say("d")).text == "6 a b fail late c ask late d"
    assert (await world.say("e", late.turn.id)).text == "4 a b fail late e"


async def test_a_retry_begins_with_the_state_that_the_turn_began_with(world: World) -> None:
    graph(world, COUNT)
    await world.say("a")
    asked = await world.say("ask late")
    await world.close(asked.turn)
    again = await world.retry(asked.turn)
    assert again.finished
    assert again.text.startswith("2 a "), "not 3"
    assert (await world.say("b")).text.startswith("3 a ")


async def test_a_state_that_did_not_change_is_kept_once(world: World) -> None:
    graph(
        world,
        chain(
            """
            class State(MessagesState):
                first: str

            def work(state):
                first = state.get("first") or state["messages"][-1].text
                return {"first": first, "messages": [AIMessage(first)]}
            """,
            "work",
            state="State",
        ),
    )
    for text in ("a", "b", "c"):
        assert (await world.say(text)).text == "a"
    assert await world.database.read(states) == 1


async def test_the_turns_of_another_agent_in_between_leave_the_state_alone(world: World) -> None:
    graph(world, COUNT)
    graph(world, COUNT, "other")
    await world.say("a")
    for number, text in enumerate(("x", "y", "z"), 1):
        assert (await say_to(world, "other", text)).startswith(f"{number} x")
    assert (await world.say("b")).text == "2 a b"
    assert await say_to(world, "other", "w") == "4 x y z w"


async def say_to(world: World, agent: str, text: str) -> str:
    new = life.New(world.conversation, text, agent)
    turn = await world.database.write(life.create, new)
    world.engine.supervisor.nudge()
    return (await world.segment(turn)).text


async def test_a_graph_that_died_in_its_first_step_begins_with_the_same_state(hasty: World) -> None:
    graph(hasty, COUNT)
    await hasty.say("a")
    asked = await hasty.say("ask")
    await lose(hasty)
    said = await hasty.resume(asked, Answer("value", value=1))
    assert said.text == "2 a ask"
    assert said.finished
    assert (await hasty.say("b")).text == "3 a ask b"


async def test_a_state_that_is_too_large_fails_the_turn_and_names_its_channels(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    async with world_over(database, tmp_path, desk, limits(graph_state=1000)) as world:
        graph(world, COUNT)
        assert (await world.say("a")).finished
        large = await world.say("x" * 1100)
        assert large.failure.code == "state_bytes"
        assert "and 1000 may be kept: seen 11" in large.failure.message
        assert large.text.startswith("2 a xxx"), "its words are kept"
        assert (await world.say("b")).text == "2 a b", "the state is that of the last turn which fitted"


async def test_what_was_about_to_run_and_values_of_one_step_are_not_part_of_the_state(world: World) -> None:
    graph(
        world,
        """
class State(MessagesState):
    done: Annotated[list[str], operator.add]
    brief: Annotated[str, EphemeralValue]
    hidden: Annotated[str, UntrackedValue]

def first(state):
    return {"done": ["first"], "brief": "brief", "hidden": "hidden",
            "messages": [AIMessage(f"{state.get('brief')} {state.get('hidden')} {len(state['done'])}")]}

def fan(state):
    if state["messages"][-2].text == "fan out":
        return [Send("each", n) for n in (1, 2)]
    return END

def each(number):
    interrupt(f"{number}?")
    return {"done": [f"each {number}"]}

graph = StateGraph(State)
graph.add_node("first", first)
graph.add_node("each", each)
graph.add_edge(START, "first")
graph.add_conditional_edges("first", fan, ["each", END])
graph = graph.compile()
""",
    )
    asked = await world.say("fan out")
    assert asked.text == "None None 0"
    await world.close(asked.turn)
    for number in (1, 2):
        said = await world.say("go")
        assert said.finished
        assert said.text == f"None None {number}", "the tasks that were left over did not run"


async def test_a_channel_that_the_code_no_longer_has_is_ignored(world: World) -> None:
    graph(world, COUNT)
    await world.say("a")
    graph(world, COUNT.replace("count: int", "total: int").replace('"count"', '"total"'))
    assert (await world.say("b")).text == "1 a b"


TYPED = chain(
    """
    @dataclass
    class Spot:
        x: int

    class Order(BaseModel):
        items: list[str]

    class State(MessagesState):
        spot: Spot
        order: Order
        loose: Any

    def work(state):
        spot, order = state.get("spot") or Spot(0), state.get("order") or Order(items=[])
        text = f"{type(spot).__name__} {spot.x} {type(order).__name__} {order.items}"
        text += f" {state.get('loose')}"
        return {
            "spot": Spot(spot.x + 1),
            "order": Order(items=[*order.items, "a"]),
            "loose": {"day": 1, "set": (1, 2)},
            "messages": [AIMessage(text)],
        }
    """,
    "work",
    state="State",
)


async def test_dataclasses_and_pydantic_models_of_the_state_come_back_as_they_were(world: World) -> None:
    graph(world, TYPED)
    assert (await world.say("a")).text == "Spot 0 Order [] None"
    assert (await world.say("b")).text == "Spot 1 Order ['a'] {'day': 1, 'set': [1, 2]}"


async def test_data_classes_of_the_graphs_own_file_come_back_after_a_question(world: World) -> None:
    graph(
        world,
        chain(
            """
            from enum import Enum
            from typing import NamedTuple
            from caesura.store.graph_states import Kept

            @dataclass
            class Done:
                success: bool

            class Way(Enum):
                FAST = "fast"

            class Spot(NamedTuple):
                x: int

            class Order(BaseModel):
                items: list[str]

            class Other:
                def __init__(self, x):
                    self.x = x

                def _asdict(self):
                    return {"x": self.x}

            class State(MessagesState):
                made: dict

            def work(state):
                found = [Done(True), Way.FAST, Spot(1), Order(items=["a"])]
                return {"made": {"own": found, "others": [Other(1), Kept("", "a", "b", b"")]}}

            def ask(state):
                interrupt("go on?")
                own, others = state["made"]["own"], state["made"]["others"]
                names = [type(item).__name__ for item in [*own, *others]]
                return {"messages": [AIMessage(f"{own[0].success} {names}")]}
            """,
            "work",
            "ask",
            state="State",
        ),
    )
    asked = await world.say("go")
    said = await world.resume(asked, Answer("value", value=1))
    assert said.text == "True ['Done', 'Way', 'Spot', 'Order', 'dict', 'dict']"


async def test_a_stored_name_never_leads_to_a_function_or_an_import(world: World) -> None:
    graph(world, TYPED)
    assert (await world.say("a")).finished
    types = Saver.of(world.database, None, imports.own_modules("tester_graph:graph"))
    name = "caesura_agents_tester_graph"

    def read(*named: Any) -> Any:
        ext = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(named)))
        return types.serde.loads_typed(("msgpack", ext))

    assert type(read(name, "Spot", 1)).__name__ == "Spot"
    assert read(name, "work", {}) == {}
    assert read("antigravity", "Spot", 1) == 1
    assert "antigravity" not in sys.modules


async def test_types_of_a_changed_file_come_back_too(world: World) -> None:
    graph(world, TYPED)
    await world.say("a")
    graph(world, "# changed\n" + TYPED)
    assert (await world.say("b")).text == "Spot 1 Order ['a'] {'day': 1, 'set': [1, 2]}"


async def test_a_text_that_looks_like_the_name_of_a_module_comes_back_as_it_was(world: World) -> None:
    noting = TYPED.replace('"day": 1', '"note": state["messages"][-1].text, "day": 1')
    graph(world, noting)
    note = "caesura_agents_tester_graph_0123456789abcdef"
    await world.say(note)
    for source in (noting, "# changed\n" + noting):
        graph(world, source)
        assert f"'note': '{note}'" in (await world.say(note)).text


async def test_a_channel_that_cannot_be_read_is_left_out(world: World) -> None:
    graph(world, COUNT)
    await world.say("a")

    def spoil(connection: Connection) -> None:
        broken = schema.graph_states.c.channel == "count"
        connection.execute(update(schema.graph_states).where(broken).values(body=b"\xc1"))

    await world.database.write(spoil)
    assert (await world.say("b")).text == "1 a b"


async def test_a_subgraph_with_a_memory_of_its_own_keeps_it_from_turn_to_turn(world: World) -> None:
    graph(
        world,
        COUNT.replace("graph = graph.compile()", "inner = graph.compile(checkpointer=True)")
        + """
class Outer(MessagesState):
    pass

async def call(state):
    found = await inner.ainvoke({"messages": state["messages"][-1:]})
    return {"messages": [AIMessage(f"{found['count']} of {len(found['messages'])}")]}

graph = StateGraph(Outer)
graph.add_node("inner", inner)
graph.add_edge(START, "inner")
graph = graph.compile()
""",
    )
    assert "1 a" in (await world.say("a")).text
    assert "2 a b" in (await world.say("b")).text


REMEMBERING = """
from langchain_core.messages import ToolMessage

def work(state):
    seen = len(state["messages"])
    call = {"id": f"c{seen}", "name": "look", "args": {}}
    asked = AIMessage("", tool_calls=[call])
    found = ToolMessage("out", tool_call_id=call["id"], name="look")
    return {"messages": [asked, found, AIMessage(f"WORDS")]}

inner = StateGraph(MessagesState)
inner.add_node("work", work)
inner.add_edge(START, "work")
inner = inner.compile(checkpointer=True)

graph = StateGraph(MessagesState)
graph.add_node("inner", inner)
graph.add_edge(START, "inner")
graph = graph.compile()
"""


@pytest.mark.parametrize("words", ["well", "seen {seen}"])
async def test_a_subgraph_that_remembers_the_messages_of_the_branch_has_each_of_them_once(
    world: World, words: str
) -> None:
    graph(world, REMEMBERING.replace("WORDS", words))
    for number in range(3):
        said = await world.say("go on")
        row = await world.checked(said.turn)
        assert [message.role for message in row.messages or ()] == ["assistant", "tool", "assistant"]
        assert said.text == words.format(seen=1 + 4 * number), "as many messages as the branch has"


async def test_the_state_goes_with_its_conversation_and_counts_for_its_owner(world: World) -> None:
    graph(world, COUNT)
    said = await world.say("a" * 1000)
    row = await world.row(said.turn)
    assert row.size > 3 * 1000, "the message, the reply, and the state"
    await world.service().conversations.delete(world.user, world.conversation)
    assert await world.database.read(states) == 0


WHO = """
@dataclass
class Known:
    user_id: str
    agent: str
    extra: int = 7

class Named(TypedDict):
    user_id: str

class Strange(BaseModel):
    tenant: str

async def tell(state, config: RunnableConfig, runtime: Runtime):
    mine = {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
    known = (await graph.aget_state(mine)).values["messages"]
    names = ("user_id", "conversation_id", "turn_id", "agent", "thread_id")
    told = {name: config["configurable"][name] for name in names}
    context = runtime.context
    context = context.__dict__ if hasattr(context, "__dict__") else context
    return {"messages": [AIMessage(json.dumps([told, context, len(known)]))]}

graph = StateGraph(MessagesState, context_schema=SCHEMA)
graph.add_node("tell", tell)
graph.add_edge(START, "tell")
graph = graph.compile(checkpointer=MemorySaver())
"""


async def told(world: World, parent: Any = ...) -> tuple[Turn, dict[str, str], Any, int]:
    said = await world.say("who?", parent)
    assert said.finished, said.outcome
    config, context, known = json.loads(said.text)
    return said.turn, config, context, known


async def test_a_graph_knows_for_whom_and_where_it_works(world: World) -> None:
    graph(world, WHO.replace("SCHEMA", "None"))
    turn, config, context, known = await told(world)
    thread = config.pop("thread_id")
    here = {"user_id": "alice", "conversation_id": world.conversation, "turn_id": turn.id, "agent": "tester"}
    assert config == context == here
    assert thread == f"{world.conversation}:{turn.id}"
    assert known == 1, "its own state, which has the message"


@pytest.mark.parametrize(
    ("schema", "context"),
    [
        ("Known", {"user_id": "alice", "agent": "tester", "extra": 7}),
        ("Named", {"user_id": "alice"}),
        ("Strange", None),
    ],
)
async def test_the_runtimes_context_has_the_members_that_its_schema_takes(
    world: World, schema: str, context: Any
) -> None:
    graph(world, WHO.replace("SCHEMA", schema))
    assert (await told(world))[2] == context


async def test_the_thread_is_that_of_the_branch(world: World) -> None:
    graph(world, WHO.replace("SCHEMA", "None"))
    first, config, *_ = await told(world)
    second, same, *_ = await told(world)
    assert same["thread_id"] == config["thread_id"]
    branch, other, *_ = await told(world, first.id)
    assert other["thread_id"] == f"{world.conversation}:{branch.id}"
    assert (await told(world))[1]["thread_id"] == other["thread_id"]
    assert (await told(world, second.id))[1]["thread_id"] == config["thread_id"]
    root, new, *_ = await told(world, None)
    assert new["thread_id"] == f"{world.conversation}:{root.id}"


async def test_a_graph_cannot_reach_the_checkpoints_of_another_turn(world: World) -> None:
    """Whatever thread a node names, it gets that of its own turn or one of its own."""
    graph(
        world,
        chain(
            """
            inner = StateGraph(MessagesState)
            inner.add_node("say", lambda state: {"messages": [AIMessage("inside")]})
            inner.add_edge(START, "say")
            inner = inner.compile()

            async def work(state, config: RunnableConfig):
                other = {"configurable": {**config["configurable"], "thread_id": state["messages"][-1].text}}
                other["configurable"]["checkpoint_ns"] = ""
                first = await inner.ainvoke({"messages": [HumanMessage("x")]}, other)
                found = await graph.aget_state(other)
                return {"messages": [AIMessage(f"{len(first['messages'])} {found.values == {}}")]}
            """,
            "work",
        ),
    )
    said = await world.say("1.1")
    assert said.finished, said.outcome
    again = await world.say("1.1")
    assert again.text == said.text


async def test_values_of_other_classes_come_back_as_dicts_and_differences_as_a_whole(world: World) -> None:
    graph(
        world,
        chain(
            """
            from langgraph.channels import DeltaChannel

            class Loose:
                def __init__(self, x):
                    self.x = x

                def _asdict(self):
                    return {"x": self.x}

            def joined(state, writes):
                return [item for items in [state or [], *writes] for item in items]

            class State(MessagesState):
                loose: Any
                log: Annotated[list, DeltaChannel(joined)]

            def work(state):
                text = f"{state.get('loose')} {state.get('log')}"
                log = [state["messages"][-1].text]
                return {"loose": Loose(1), "log": log, "messages": [AIMessage(text)]}
            """,
            "work",
            state="State",
        ),
    )
    assert (await world.say("a")).text == "None []"
    assert (await world.say("b")).text == "{'x': 1} ['a']"
    assert (await world.say("c")).text == "{'x': 1} ['a', 'b']"
