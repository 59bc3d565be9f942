"""LangGraph's store in an operator's own graph: the server neither keeps it nor deletes from it."""

from __future__ import annotations

from caesura.service.removal import Removal
from tests.engine.test_graphs import graph
from tests.engine.world import World

COUNTS = """
from langgraph.store.memory import InMemoryStore

def count(state, *, runtime):
    found = runtime.store.get(("all",), "turns")
    turns = [*(found.value["of"] if found else []), runtime.context["user_id"]]
    runtime.store.put(("all",), "turns", {"of": turns})
    return {"messages": [AIMessage(" ".join(turns))]}

graph = StateGraph(MessagesState)
graph.add_node("count", count)
graph.add_edge(START, "count")
graph = graph.compile(store=InMemoryStore())
"""


async def test_a_store_is_one_for_all_people_and_branches_and_outlives_conversations(world: World) -> None:
    graph(world, COUNTS)
    first = await world.say("one")
    assert first.text == "alice"
    assert (await world.say("another branch", parent=None)).text == "alice alice"
    await world.service().conversations.delete("alice", world.conversation)
    await Removal(world.database).remove("alice")
    await world.begin(user="bob")
    assert (await world.say("two")).text == "alice alice bob"


async def test_a_store_in_memory_is_new_when_its_code_is_loaded_again(world: World) -> None:
    graph(world, COUNTS)
    assert (await world.say("one")).text == "alice"
    graph(world, f"{COUNTS}# changed\n")
    assert (await world.say("two")).text == "alice"
