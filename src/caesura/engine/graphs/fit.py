"""Whether a graph can go on from its checkpoints: it must still have what they run next, and what asks.

LangGraph itself ends a graph in silence if the node that it was about to run is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from langgraph.checkpoint.serde.types import INTERRUPT, TASKS
from langgraph.pregel import Pregel
from sqlalchemy import Connection

from caesura.agents.aside import LARGE, Aside
from caesura.engine.graphs import reviews
from caesura.store import checkpoints
from caesura.store.checkpoints import Checkpoint, Write

#: How the channels are named that make a node run.
_TRIGGERS = ("branch:to:", "join:")


class Waiting(NamedTuple):
    """The newest checkpoint of a graph or, with a `path`, of one of its subgraphs, and what its tasks have
    written since."""

    path: str
    #: Whether the subgraph remembers what it did in earlier turns.
    remembers: bool
    checkpoint: Checkpoint
    writes: Sequence[Write]


def waiting(connection: Connection, turn: int, call: str | None) -> list[Waiting]:
    """Those of the turn's graph, or of the graph of a sub-agent that works under this tool call."""
    found, mine = [], "" if call is None else f":{call}/"
    for ns in checkpoints.namespaces(connection, turn):
        inner = ns.removeprefix(mine)
        newest = checkpoints.get(connection, turn, ns)
        if ns.startswith(mine) and not inner.startswith(":") and newest is not None:
            parts = [part.partition(":") for part in inner.split("|") if not part.isdigit()]
            found.append(Waiting("|".join(part[0] for part in parts), not parts[-1][1], *newest))
    return found


def asked(graph: Any, found: Sequence[Waiting]) -> set[str]:
    """The ids of the questions that wait there."""
    loads = graph.checkpointer.serde.loads_typed
    writes = [write for item in found for write in item.writes if write.channel == INTERRUPT]
    return {item.id for write in writes for item in loads((write.type, bytes(write.body)))}


async def checked(aside: Aside, graph: Any, found: Sequence[Waiting]) -> bool:
    """As `fits`, without holding up the event loop."""
    size = sum(len(item.checkpoint.body) for item in found)
    return await aside.run(fits, graph, found) if size > LARGE else fits(graph, found)


def fits(graph: Any, found: Sequence[Waiting]) -> bool:
    """Whether this graph, which has a saver of ours, can go on from there."""
    parts, loads = (
        {"": graph, **dict(graph.get_subgraphs(recurse=True))},
        graph.checkpointer.serde.loads_typed,
    )
    singly = {name for names in reviews.single_tools(graph).values() for name in names}
    for item in found:
        if (part := parts.get(item.path)) is None:
            continue  # the node that calls it is looked at
        values = loads((item.checkpoint.type, bytes(item.checkpoint.body)))["channel_values"]
        due, sent = [*values], [each.node for each in values.get(TASKS) or ()]
        for write in item.writes:
            due.append(write.channel)
            if write.channel == TASKS:
                sent.append(loads((write.type, bytes(write.body))).node)
            elif write.channel == INTERRUPT:
                asked, node = loads((write.type, bytes(write.body))), write.path.rpartition(", ")[2]
                if not reviews.hold(asked, part.nodes.get(node), singly, values.get("messages")):
                    return False
                if not _is_inside(node, item, part, found):
                    return False
        if not {name for name in due if name.startswith(_TRIGGERS)} <= part.channels.keys():
            return False
        if not part.nodes.keys() >= {*sent}:
            return False
    return True


def _is_inside(node: str, item: Waiting, part: Any, found: Sequence[Waiting]) -> bool:
    """Whether a node that is a graph now has asked as that graph would, with checkpoints of its kind."""
    if not isinstance(graph := getattr(part.nodes.get(node), "bound", None), Pregel):
        return True
    path = f"{item.path}|{node}".removeprefix("|")
    asking = (one for one in found if one.path == path and any(w.channel == INTERRUPT for w in one.writes))
    kinds = {one.remembers for one in asking}
    return not kinds if graph.checkpointer is False else (graph.checkpointer is True) in kinds
