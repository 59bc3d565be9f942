"""A pause: what a graph of ours has come to since it was begun or resumed.

It becomes rows only if the turn waits there, in the same transaction as the question. A turn that ends has
nothing to write, and one that is cut off begins again from its last pause, with the log and the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from caesura.store import checkpoints
from caesura.store.checkpoints import Checkpoint, Write


class Pause:
    def __init__(self, fresh: bool = True) -> None:
        #: Nothing of this turn is in the rows yet.
        self.fresh = fresh
        self._known: dict[str, tuple[Checkpoint, list[Write]]] = {}
        self._checkpoints: dict[str, dict[str, Callable[[], Checkpoint]]] = {}
        self._writes: dict[tuple[str, str], dict[tuple[str, int], Write]] = {}

    def remember(self, ns: str, row: Checkpoint, writes: Sequence[Write]) -> None:
        """What was found in the rows need not be looked for again."""
        self._known[ns] = (row, list(writes))

    def known(self, ns: str) -> tuple[Checkpoint, list[Write]] | None:
        return self._known.get(ns)

    def put(self, ns: str, checkpoint_id: str, row: Callable[[], Checkpoint]) -> None:
        """`row` makes the row if it is ever needed: mostly it is not."""
        self._checkpoints.setdefault(ns, {})[checkpoint_id] = row

    def put_writes(self, ns: str, checkpoint_id: str, writes: Sequence[Write]) -> None:
        known = self._writes.setdefault((ns, checkpoint_id), {})
        for write in writes:
            if write.idx < 0 or (write.task_id, write.idx) not in known:
                known[write.task_id, write.idx] = write

    def get(self, ns: str, checkpoint_id: str | None) -> tuple[Checkpoint, list[Write]] | None:
        held = self._checkpoints.get(ns, {})
        newest = checkpoint_id or max(held, default=None)
        if newest not in held:
            return None
        writes = self._writes.get((ns, newest), {}).values()
        return held[newest](), sorted(writes, key=lambda write: (write.path, write.task_id, write.idx))

    def keep(self, connection: Connection, turn: int) -> None:
        for ns, held in self._checkpoints.items():
            for row in held.values():
                checkpoints.put(connection, turn, ns, row())
        for (ns, checkpoint_id), writes in self._writes.items():
            checkpoints.put_writes(connection, turn, ns, checkpoint_id, list(writes.values()))
