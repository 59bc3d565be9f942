"""LangGraph's checkpoints in the server's own tables: a crash journal for one turn, fenced like every other
write."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import wraps
from types import ModuleType
from typing import Any, ParamSpec, Self, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.types import ERROR, RESUME
from langgraph.constants import START
from pydantic import BaseModel
from sqlalchemy import Connection

from caesura.engine.graphs.seen import Seen
from caesura.store import checkpoints, fence
from caesura.store.database import Database

P = ParamSpec("P")
T = TypeVar("T")

#: LangGraph's names for whether a graph goes on, and for the checkpoints of the graphs around it.
_RESUMING, _AROUND = "__pregel_resuming", "checkpoint_map"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the checkpoints of a run are kept: its turn, and the epoch that may write to it. A graph knows
    only `thread_id`, so that nothing in its config can name another turn. `call_id` is the tool call under
    which the graph of a sub-agent works: each has its own checkpoints. `seen` is what is known of the tasks
    of the graph."""

    turn: int
    epoch: int
    thread_id: str
    call_id: str | None = None
    seen: Seen = field(default_factory=Seen, compare=False)
    #: The writes that are being stored, by their namespace.
    writing: dict[str, set[asyncio.Future[None]]] = field(default_factory=dict, compare=False)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop, compare=False)

    @contextmanager
    def active(self) -> Iterator[None]:
        """While this lasts, every checkpoint of this code goes there."""
        token = _PLACE.set(self)
        try:
            yield
        finally:
            _PLACE.reset(token)

    @staticmethod
    def current() -> Place:
        found = _PLACE.get(None)
        if found is None:
            raise RuntimeError("a graph's checkpoints can be used only by the code that the graph runs")
        return found


_PLACE: ContextVar[Place] = ContextVar("caesura_place")


class Saver(BaseCheckpointSaver[str]):
    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database

    @classmethod
    def of(cls, database: Database, graph: Any, modules: Iterable[ModuleType] = ()) -> Self:
        """The saver of this graph. It makes values of the types that the graph's schemas name and of those
        that are data and defined in these modules, and of no others."""
        types = {*(getattr(graph, "_serde_allowlist", None) or ()), *_data_types(modules)}
        found = cls(database).with_allowlist(types)
        assert isinstance(found, cls)  # noqa: S101 - for the type checker
        return found

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        turn, _, ns = _place(config)
        wanted = config["configurable"].get("checkpoint_id")
        found = await self._database.read(checkpoints.get, turn, ns, wanted)
        if found is None:
            return None
        newest = self._tuple(config, *found)
        if newest.metadata.get("parents", {}) != config["configurable"].get(_AROUND, {}):
            # It was left by another turn, or by another run in this one. LangGraph drops the input of a graph
            # that goes on, and takes it to go on from any checkpoint.
            config["configurable"].pop(_RESUMING, None)
        return newest

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        if config is None:
            return
        turn, _, ns = _place(config)
        older = before["configurable"].get("checkpoint_id") if before else None
        left = limit
        found = await self._database.read(checkpoints.listing, turn, ns)
        for item in _older(found, older):
            if left == 0:
                return
            one = self._tuple(config, item, [])
            if all(one.metadata.get(key) == value for key, value in (filter or {}).items()):
                left = None if left is None else left - 1
                yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        turn, epoch, ns = _place(config)
        parent = config["configurable"].get("checkpoint_id")
        about = get_checkpoint_metadata(config, metadata)
        await _written(ns)
        kind, body = self.serde.dumps_typed(checkpoint)
        row = checkpoints.Checkpoint(checkpoint["id"], parent, kind, body, self.serde.dumps_typed(about)[1])
        await self._database.write_lightly(_put, turn, epoch, ns, row)
        return _config(config, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        turn, epoch, ns = _place(config)
        with _writing(ns):
            if any(channel == ERROR for channel, _ in writes):
                writes = _of_failure(writes)
            elif not all(channel in WRITES_IDX_MAP for channel, _ in writes):
                # It does not run again then, so what it has said must be in the log before.
                await self._told(config, task_id, task_path)
            rows = self._rows(writes, task_id, task_path)
            at = config["configurable"]["checkpoint_id"]
            await self._database.write_lightly(_put_writes, turn, epoch, ns, at, rows)

    def _rows(
        self, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Sequence[checkpoints.Write]:
        return [
            checkpoints.Write(
                task_id,
                WRITES_IDX_MAP.get(channel, idx),
                task_path,
                channel,
                *self.serde.dumps_typed(value),
            )
            for idx, (channel, value) in enumerate(writes)
        ]

    async def _told(self, config: RunnableConfig, task_id: str, task_path: str) -> None:
        place = Place.current()
        if config["configurable"]["thread_id"] == place.thread_id and not task_path.endswith(START):
            await place.seen.ended(task_id)

    async def ended(self) -> set[str]:
        """The ids of the tasks that have ended, in the graph, its subgraphs and its functions."""
        return await self._database.read(checkpoints.ended, Place.current().turn)

    # --- what a graph calls that is run without `await`, in a node that is no coroutine

    @property
    def get_tuple(self) -> Callable[..., CheckpointTuple | None]:
        return _waited(self.aget_tuple)

    @property
    def put(self) -> Callable[..., RunnableConfig]:
        return _waited(self.aput)

    @property
    def put_writes(self) -> Callable[..., None]:
        return _waited(self.aput_writes)

    @property
    def list(self) -> Callable[..., Iterator[CheckpointTuple]]:
        async def found(*args: Any, **kwargs: Any) -> Iterator[CheckpointTuple]:
            return iter([item async for item in self.alist(*args, **kwargs)])

        return _waited(found)

    async def adelete_thread(self, thread_id: str) -> None:
        place = Place.current()
        if thread_id == place.thread_id:
            await self._database.write_lightly(_remove, place.turn, place.epoch)

    def get_next_version(self, current: str | None, channel: None) -> str:
        number = 0 if current is None else int(current.partition(".")[0])
        return f"{number + 1:032}.{random.random():016}"  # noqa: S311 - only has to differ

    def _tuple(
        self,
        config: RunnableConfig,
        item: checkpoints.Checkpoint,
        writes: Sequence[checkpoints.Write],
    ) -> CheckpointTuple:
        loads = self.serde.loads_typed
        return CheckpointTuple(
            _config(config, item.id),
            loads((item.type, bytes(item.body))),
            loads(("msgpack", bytes(item.metadata))),
            _config(config, item.parent_id) if item.parent_id else None,
            [(write.task_id, write.channel, loads((write.type, bytes(write.body)))) for write in writes],
        )


def _data_types(modules: Iterable[ModuleType]) -> Iterator[tuple[str, str]]:
    """Each by its module and its name."""
    for module in modules:
        for name, item in list(vars(module).items()):
            if isinstance(item, type) and (item.__module__, item.__name__) == (module.__name__, name):
                named = issubclass(item, tuple) and hasattr(item, "_fields")
                if named or is_dataclass(item) or issubclass(item, Enum | BaseModel):
                    yield module.__name__, name


@contextmanager
def _writing(ns: str) -> Iterator[None]:
    writing, mine = Place.current().writing.setdefault(ns, set()), asyncio.Future[None]()
    writing.add(mine)
    try:
        yield
    finally:
        writing.discard(mine)
        mine.set_result(None)


async def _written(ns: str) -> None:
    """Wait for the writes of the step before a checkpoint: with them its tasks count as ended."""
    if writing := Place.current().writing.get(ns):
        await asyncio.wait(set(writing))


def _waited(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same for code in another thread: it waits until the event loop of the run has done it. LangGraph
    calls some of it in threads that do not know the place, so this is where it is asked for."""
    known = _PLACE.get(None)

    async def placed(place: Place, *args: P.args, **kwargs: P.kwargs) -> T:
        with place.active():
            return await work(*args, **kwargs)

    @wraps(work)
    def wait(*args: P.args, **kwargs: P.kwargs) -> T:
        place = known or Place.current()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run_coroutine_threadsafe(placed(place, *args, **kwargs), place.loop).result()
        raise RuntimeError("a graph is called on the event loop, which it would block: await its ainvoke")

    return wait


def _of_failure(writes: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """What is kept of a graph's node that was cut off. It runs again, and the answers to its questions are
    given to it again: LangGraph would use kept ones for its next question too. A node that was cancelled may
    have written a part of what it writes, without the edge that it would have taken: LangGraph would take
    that for all, and the graph would end there."""
    return [(name, value) for name, value in writes if name in WRITES_IDX_MAP and name != RESUME]


def _older(items: list[checkpoints.Checkpoint], than: str | None) -> list[checkpoints.Checkpoint]:
    """The checkpoints after the given id in a list that begins with the newest."""
    place = next((place for place, item in enumerate(items, 1) if item.id == than), 0)
    return items[place:]


def _place(config: RunnableConfig) -> tuple[int, int, str]:
    """The turn, the epoch and the namespace. A graph that a node runs as another thread has namespaces of its
    own."""
    place, thread = Place.current(), config["configurable"]["thread_id"]
    ns = config["configurable"].get("checkpoint_ns", "")
    whose = "" if place.call_id is None else f":{place.call_id}/"
    return place.turn, place.epoch, whose + (ns if thread == place.thread_id else f":{thread}|{ns}")


def _config(config: RunnableConfig, checkpoint_id: str) -> RunnableConfig:
    thread, ns = config["configurable"]["thread_id"], config["configurable"].get("checkpoint_ns", "")
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _put(connection: Connection, turn: int, epoch: int, ns: str, row: checkpoints.Checkpoint) -> None:
    fence.hold(connection, turn, epoch)
    checkpoints.put(connection, turn, ns, row)


def _remove(connection: Connection, turn: int, epoch: int) -> None:
    fence.hold(connection, turn, epoch)
    checkpoints.remove(connection, turn)


def _put_writes(
    connection: Connection, turn: int, epoch: int, ns: str, at: str, rows: Sequence[checkpoints.Write]
) -> None:
    fence.hold(connection, turn, epoch)
    checkpoints.put_writes(connection, turn, ns, at, rows)
