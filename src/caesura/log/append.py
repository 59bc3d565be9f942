"""Writing batches of many streams in one transaction: for each, what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from caesura.core.errors import Fenced
from caesura.log.stream import Batch, Stream
from caesura.store import events as rows
from caesura.store import turns
from caesura.store.prepared import savepoint

#: The outcome of a batch that was not tried: one before it in its stream was refused.
LATER = object()
_ITS_OWN_FAULT = (DataError, IntegrityError, ProgrammingError)


def append(connection: Connection, batches: Sequence[Batch], again: bool) -> list[Any]:
    """Write the batches; for each, what its `also` gave or the error that refused it. `again` is for a
    second try: a commit whose answer got lost may have happened, and must not happen twice."""
    if (again or any(batch.also for batch in batches)) and connection.dialect.name != "sqlite":
        # All of them in one order, as every other writer of several turns locks them. Before the look at what
        # has landed: the first try may still be under way in a connection that was cut.
        turns.lock(connection, {batch.stream.turn for batch in batches})
    todo = [batch for batch in batches if not (again and _landed(connection, batch))]
    outcomes: dict[Batch, Any] = {batch: batch.result for batch in batches}
    first, rest = _parted(todo)
    refused = _insert(connection, first)
    stopped: dict[Stream, Any] = {
        batch.stream: Fenced() for batch in todo if (batch.stream.turn, batch.stream.epoch) in refused
    }
    outcomes |= {batch: stopped[batch.stream] for batch in first if batch.stream in stopped}
    for batch in rest:
        if batch.stream in stopped:
            outcomes[batch] = stopped[batch.stream]
            continue
        outcomes[batch] = batch.result = _append_with(connection, batch)
        if isinstance(batch.result, Exception):
            stopped[batch.stream] = batch.result if isinstance(batch.result, Fenced) else LATER
    return [outcomes[batch] for batch in batches]


def _parted(batches: Iterable[Batch]) -> tuple[list[Batch], list[Batch]]:
    """What streams begin with goes in with one statement; an `also`, and what follows one, on its own."""
    behind: set[Stream] = set()
    first: list[Batch] = []
    rest: list[Batch] = []
    for batch in batches:
        if batch.also is None and batch.stream not in behind:
            first.append(batch)
        else:
            behind.add(batch.stream)
            rest.append(batch)
    return first, rest


def _insert(connection: Connection, batches: Sequence[Batch]) -> set[tuple[int, int]]:
    made = [row for batch in batches if batch.envelopes for row in batch.rows()]
    return rows.insert_fenced(connection, made) if made else set()


def _append_with(connection: Connection, batch: Batch) -> Any:
    """Write a batch with what goes with it, or neither."""
    try:
        with savepoint(connection):
            turns.hold(connection, batch.stream.turn, batch.stream.epoch)
            _insert(connection, [batch])
            return batch.also(connection) if batch.also is not None else None
    except Exception as error:
        if isinstance(error, DBAPIError) and not isinstance(error, _ITS_OWN_FAULT):
            raise  # the storage failed, not this batch
        return error


def _landed(connection: Connection, batch: Batch) -> bool:
    # What stands there under another epoch is another owner's.
    stream = batch.stream
    return (
        bool(batch.envelopes) and rows.last(connection, stream.turn, stream.epoch) >= batch.envelopes[-1].seq
    )
