"""The conversation so far, as the model reads it: the branch above a turn, in memory while it is used."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage
from sqlalchemy import Connection

from caesura.core import tree
from caesura.core.messages import Message
from caesura.engine import translate
from caesura.store import turns
from caesura.store.database import Database
from caesura.store.turns import Turn

_KEPT = 200_000


class _Path(NamedTuple):
    """What was said up to and with a turn, as it ended under this epoch."""

    epoch: int
    messages: list[BaseMessage]


class History:
    """Messages up to and with a turn, by that turn's id. A turn that has ended never changes its messages
    unless it is tried again: `forget` is for that, and the epoch tells when another process did it."""

    def __init__(self, database: Database, kept: int = _KEPT) -> None:
        """`kept` bounds how many messages are held."""
        self._database = database
        self._kept = kept
        self._size = 0
        self._paths: OrderedDict[str, _Path] = OrderedDict()

    async def before(self, turn: Turn) -> list[BaseMessage]:
        """What was said on this turn's branch before it."""
        if turn.parent_id is None:
            return []
        path = self._paths.get(turn.parent_id)
        if path is not None and self._database.shared:
            parent = await self._database.read(turns.get, turn.parent_id)
            path = path if parent.epoch == path.epoch else None
        if path is None:
            above = await self._database.read(_branch, turn.conversation_id, turn.parent_id)
            said = [message for item in above for message in said_in(item, item.messages or [])]
            path = _Path(above[-1].epoch, said)
        self._keep(turn.parent_id, path)
        return path.messages

    def extend(self, turn: Turn, before: list[BaseMessage], messages: list[Message]) -> None:
        """The turn has ended: its branch goes on from here. The path above it is handed on, not copied."""
        if turn.parent_id is not None and turn.parent_id in self._paths:
            self._drop(turn.parent_id)
        self._keep(turn.id, _Path(turn.epoch, [*before, *said_in(turn, messages)]))

    def forget(self, turn_id: str) -> None:
        if turn_id in self._paths:
            self._drop(turn_id)

    def _keep(self, turn_id: str, path: _Path) -> None:
        self.forget(turn_id)
        self._paths[turn_id] = path
        self._size += len(path.messages)
        while self._size > self._kept and len(self._paths) > 1:
            self._drop(next(iter(self._paths)))

    def _drop(self, turn_id: str) -> None:
        self._size -= len(self._paths.pop(turn_id).messages)


def said_in(turn: Turn, messages: list[Message]) -> list[BaseMessage]:
    return [HumanMessage(turn.content), *translate.to_langchain(messages)]


def _branch(connection: Connection, conversation_id: str, leaf: str) -> list[Turn]:
    return tree.branch(turns.of(connection, conversation_id), leaf)
