"""LangGraph's checkpoints in the server's own tables: a crash journal for one turn, fenced like every other
write."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

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
from sqlalchemy import Connection

from caesura.store import checkpoints, fence
from caesura.store.database import Database


def thread_id(turn: int, epoch: int) -> str:
    """What LangGraph calls a thread: the turn, and the epoch that may write to it."""
    return f"{turn}.{epoch}"


class Saver(BaseCheckpointSaver[str]):
    def __init__(self, database: Database, call_id: str | None = None) -> None:
        """`call_id` is the tool call under which the graph of a sub-agent works. Each has its own
        checkpoints."""
        super().__init__()
        self._database = database
        self._prefix = f"{call_id}/" if call_id is not None else ""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        turn, _, ns = _place(config)
        wanted = config["configurable"].get("checkpoint_id")
        found = await self._database.read(checkpoints.get, turn, self._prefix + ns, wanted)
        return None if found is None else self._tuple(config, ns, *found)

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
        found = await self._database.read(checkpoints.listing, turn, self._prefix + ns)
        for item in _older(found, older):
            if left == 0:
                return
            one = self._tuple(config, ns, item, [])
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
        kind, body = self.serde.dumps_typed(checkpoint)
        row = checkpoints.Checkpoint(checkpoint["id"], parent, kind, body, self.serde.dumps_typed(about)[1])
        await self._database.write_lightly(_put, turn, epoch, self._prefix + ns, row)
        return _config(config, ns, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        turn, epoch, ns = _place(config)
        cut_off = any(channel == ERROR for channel, _ in writes)
        rows = [
            checkpoints.Write(
                task_id,
                WRITES_IDX_MAP.get(channel, idx),
                task_path,
                channel,
                *self.serde.dumps_typed(value),
            )
            for idx, (channel, value) in enumerate(writes)
            # When a graph's node is cut off, the answers to its questions are given to it again. If they were
            # also kept here, LangGraph would use them for that node's next question too.
            if not (cut_off and channel == RESUME)
        ]
        at = config["configurable"]["checkpoint_id"]
        await self._database.write_lightly(_put_writes, turn, epoch, self._prefix + ns, at, rows)

    async def adelete_thread(self, thread_id: str) -> None:
        turn, epoch, _ = _place({"configurable": {"thread_id": thread_id}})
        await self._database.write_lightly(_remove, turn, epoch)

    def get_next_version(self, current: str | None, channel: None) -> str:
        number = 0 if current is None else int(current.partition(".")[0])
        return f"{number + 1:032}.{random.random():016}"  # noqa: S311 - only has to differ

    def _tuple(
        self,
        config: RunnableConfig,
        ns: str,
        item: checkpoints.Checkpoint,
        writes: Sequence[checkpoints.Write],
    ) -> CheckpointTuple:
        loads = self.serde.loads_typed
        return CheckpointTuple(
            _config(config, ns, item.id),
            loads((item.type, bytes(item.body))),
            loads(("msgpack", bytes(item.metadata))),
            _config(config, ns, item.parent_id) if item.parent_id else None,
            [(write.task_id, write.channel, loads((write.type, bytes(write.body)))) for write in writes],
        )


def _older(items: list[checkpoints.Checkpoint], than: str | None) -> list[checkpoints.Checkpoint]:
    """The checkpoints after the given id in a list that begins with the newest."""
    place = next((place for place, item in enumerate(items, 1) if item.id == than), 0)
    return items[place:]


def _place(config: RunnableConfig) -> tuple[int, int, str]:
    turn, _, epoch = config["configurable"]["thread_id"].partition(".")
    return int(turn), int(epoch), config["configurable"].get("checkpoint_ns", "")


def _config(config: RunnableConfig, ns: str, checkpoint_id: str) -> RunnableConfig:
    thread = config["configurable"]["thread_id"]
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
