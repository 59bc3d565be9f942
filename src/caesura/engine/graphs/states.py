"""The state of an operator's own graph from turn to turn: what a turn begins with and what it leaves.

A turn begins with the state that the nearest turn above it with the same agent has left, and leaves that of
its last finished step. The messages are not part of it: they are the branch. It is handed to LangGraph as the
first checkpoint of the turn, so no reducer sees it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from langchain_core.messages import BaseMessage
from langgraph.channels import DeltaChannel, EphemeralValue
from langgraph.checkpoint.base import empty_checkpoint
from sqlalchemy import Connection

from caesura.agents.aside import LARGE
from caesura.core import outputs
from caesura.engine.failures import StateLimit
from caesura.engine.graphs.messages import found_in
from caesura.engine.graphs.saver import Place, Saver
from caesura.engine.run import Run
from caesura.store import checkpoints, fence, graph_states
from caesura.store.checkpoints import Checkpoint
from caesura.store.graph_states import Kept

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: LangGraph counts steps from -1, the input.
BEFORE_INPUT = -2
#: The version of LangGraph's checkpoints. In those of an older one, a channel with the name of a graph's node
#: is taken for the node's own, and lost.
_LAYOUT = 4
#: How many channels an error names.
_NAMED = 5


async def begin(run: Run) -> None:
    """Store what the turn begins with as its first checkpoints, unless it has checkpoints already."""
    begins, turn = run.turn.begins_with, run.turn
    if begins is None:
        return
    found = await run.database.read(_inherited, turn.num, begins)
    if not found:
        return
    made = await _aside(run, [item.body for item in found], lambda: _seeds(_saver(run), found))
    await run.database.write_lightly(_put, turn.num, turn.epoch, made)


async def remembered(run: Run) -> list[BaseMessage]:
    """The messages that subgraphs with a memory of their own have when the turn begins."""
    begins = run.turn.begins_with
    if begins is None:
        return []
    found = [item for item in await run.database.read(graph_states.of, begins) if item.ns]
    if not found:
        return []
    return await _aside(
        run,
        [item.body for item in found],
        lambda: [message for _, value in _loaded(_saver(run), found) for message in found_in(value)],
    )


async def left(run: Run, place: Place) -> list[Kept]:
    """What the turn leaves; empty if that is nothing, or what it began with. `StateLimit` if it is too
    large."""
    with place.active():
        newest = await run.database.read(_newest, run.turn.num)
        bodies = [item.body for item in newest.values()]
        values = await _aside(run, bodies, lambda: _values(_saver(run), newest))
        await _complete(run, place, newest, values)
    kept = await _aside(run, bodies, lambda: _kept(run, values))
    begins = run.turn.begins_with
    if begins is not None and kept == await run.database.read(graph_states.of, begins):
        return []
    _check(run, kept)
    return kept


def _saver(run: Run) -> Saver:
    saver: Saver = run.agent.graph.checkpointer
    return saver


async def _aside(run: Run, bodies: Iterable[bytes], work: Callable[[], T]) -> T:
    """Do this work elsewhere if there is much to read."""
    size = sum(map(len, bodies))
    return await run.aside.run(work) if size > LARGE else work()


# --- beginning


def _inherited(connection: Connection, turn: int, begins: int) -> list[Kept]:
    return [] if checkpoints.any_of(connection, turn) else graph_states.of(connection, begins)


def _seeds(saver: Saver, found: list[Kept]) -> dict[str, Checkpoint]:
    values: dict[str, dict[str, Any]] = {}
    for item, value in _loaded(saver, found):
        values.setdefault(item.ns, {})[item.channel] = value
    return {ns: _seed(saver, channels) for ns, channels in values.items()}


def _loaded(saver: Saver, found: list[Kept]) -> Iterator[tuple[Kept, Any]]:
    for item in found:
        try:
            value = saver.serde.loads_typed((item.type, item.body))
        except Exception:
            logger.exception("the channel %s of a graph cannot be read and is left out", item.channel)
            continue
        yield item, value


def _seed(saver: Saver, values: dict[str, Any]) -> Checkpoint:
    checkpoint = empty_checkpoint()
    checkpoint["v"] = _LAYOUT
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = {name: saver.get_next_version(None, None) for name in values}
    about = {"source": "update", "step": BEFORE_INPUT, "parents": {}}
    kind, body = saver.serde.dumps_typed(checkpoint)
    return Checkpoint(checkpoint["id"], None, kind, body, saver.serde.dumps_typed(about)[1])


def _put(connection: Connection, turn: int, epoch: int, seeds: Mapping[str, Checkpoint]) -> None:
    fence.hold(connection, turn, epoch)
    for ns, item in seeds.items():
        checkpoints.put(connection, turn, ns, item)


# --- ending


def _newest(connection: Connection, turn: int) -> dict[str, Checkpoint]:
    """The newest checkpoints of the graph, and of the subgraphs that keep a state of their own. The namespace
    of any other subgraph has the id of a task, after a colon."""
    found = {}
    for ns in checkpoints.namespaces(connection, turn):
        newest = None if ":" in ns else checkpoints.get(connection, turn, ns)
        if newest is not None:
            found[ns] = newest[0]
    return found


def _values(saver: Saver, newest: Mapping[str, Checkpoint]) -> dict[str, dict[str, Any]]:
    loads = saver.serde.loads_typed
    return {ns: dict(loads((item.type, bytes(item.body)))["channel_values"]) for ns, item in newest.items()}


async def _complete(
    run: Run, place: Place, newest: Mapping[str, Checkpoint], values: dict[str, dict[str, Any]]
) -> None:
    """Add the values of channels that LangGraph keeps as differences."""
    deltas = [name for name, channel in run.agent.graph.channels.items() if isinstance(channel, DeltaChannel)]
    deltas = [name for name in deltas if name != "messages"]
    if not deltas or "" not in newest:
        return
    where = {"thread_id": place.thread_id, "checkpoint_ns": "", "checkpoint_id": newest[""].id}
    known = (await run.agent.graph.aget_state({"configurable": where})).values
    values[""] |= {name: known[name] for name in deltas if name in known}


def _kept(run: Run, values: Mapping[str, Mapping[str, Any]]) -> list[Kept]:
    graph, dumps = run.agent.graph, _saver(run).serde.dumps_typed
    within = dict(graph.get_subgraphs(recurse=True)) if values.keys() - {""} else {}
    kept = []
    for ns, channels in values.items():
        specs = graph.channels if not ns else getattr(within.get(ns), "channels", {})
        kept += [
            Kept(ns, name, *dumps(value))
            for name, value in channels.items()
            if _lasts(ns, name, specs.get(name))
        ]
    return sorted(kept)


def _lasts(ns: str, name: str, spec: Any) -> bool:
    """Whether a channel is part of the state. LangGraph has others, which say what runs next. The messages of
    the graph itself are those of the branch."""
    if isinstance(spec, EphemeralValue) or (not ns and name == "messages"):
        return False
    return name == "__previous__" or not name.startswith(("__", "branch:", "join:", "start:"))


def _check(run: Run, kept: list[Kept]) -> None:
    total, most = sum(len(item.body) for item in kept), run.limits.graph_state
    if total > most:
        largest = sorted(kept, key=lambda item: len(item.body), reverse=True)[:_NAMED]
        named = ", ".join(f"{outputs.bounded(item.channel, 100)} {len(item.body)}" for item in largest)
        raise StateLimit(f"the state of the graph has {total} bytes, and {most} may be kept: {named}")
