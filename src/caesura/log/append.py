"""Writing batches of many streams in one transaction, with an outcome for each batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError

from caesura.core.errors import Fenced
from caesura.log.bulk import Bulk
from caesura.log.stream import Batch, Stream
from caesura.store import events as rows
from caesura.store import fence
from caesura.store.database import is_locked
from caesura.store.statements import savepoint

#: The outcome of a batch that was not tried, because an earlier batch of its stream was refused.
UNTRIED = object()
#: The outcome of a batch that was not written because somebody else holds a row it needs.
LOCKED = object()
_ITS_OWN_FAULT = (DataError, IntegrityError, ProgrammingError)


def append(connection: Connection, batches: Sequence[Batch]) -> list[Any]:
    """Write the batches. Each outcome is the result of its `also`, the error that refused it, `UNTRIED` or
    `LOCKED`."""
    # Lock the rows before checking whether a batch has landed: its first try may still be running on a
    # connection that was cut.
    wanted = {(batch.stream.turn, batch.stream.epoch) for batch in batches}
    stopped = _stopped(batches, fence.hold_some(connection, wanted))
    outcomes = {batch: stopped.get(batch.stream, batch.result) for batch in batches}
    todo = [
        batch
        for batch in batches
        if batch.stream not in stopped and not (batch.again and _landed(connection, batch))
    ]
    outcomes |= _write(connection, todo)
    return [outcomes[batch] for batch in batches]


def append_words(connection: Connection, batches: Sequence[Batch]) -> list[Any]:
    """As `append`, with one statement, for batches without an `also` that are written for the first time."""
    stopped = _stopped(batches, _insert(connection, batches))
    return [stopped.get(batch.stream, batch.result) for batch in batches]


def _stopped(batches: Iterable[Batch], refused: fence.Refused) -> dict[Stream, Any]:
    found: dict[Stream, Any] = {}
    for stream in {batch.stream for batch in batches} if refused.fenced or refused.locked else ():
        if (stream.turn, stream.epoch) in refused.fenced:
            found[stream] = Fenced()
        elif (stream.turn, stream.epoch) in refused.locked:
            found[stream] = LOCKED
    return found


def _write(connection: Connection, batches: Sequence[Batch]) -> dict[Batch, Any]:
    """Write all batches with few statements, or each on its own if one is refused. Their turns are held."""
    try:
        with savepoint(connection):
            results = _write_together(connection, batches)
    except Exception as error:
        if _of_storage(error):
            raise
        return _write_each(connection, batches)
    for batch, result in results.items():
        batch.result = result
    return results


def _write_together(connection: Connection, batches: Sequence[Batch]) -> dict[Batch, Any]:
    results: dict[Batch, Any] = {}
    for step in _steps(batches):
        _insert(connection, step)
        alike: defaultdict[type[Bulk], list[Bulk]] = defaultdict(list)
        for batch in step:
            if isinstance(batch.also, Bulk):
                alike[type(batch.also)].append(batch.also)
            results[batch] = (
                None if batch.also is None or isinstance(batch.also, Bulk) else batch.also(connection)
            )
        for kind, items in alike.items():
            kind.write_all(connection, items)
    return results


def _steps(batches: Iterable[Batch]) -> list[list[Batch]]:
    """Each step has at most one batch with an `also` per stream: an `also` sees the events up to its own and
    none after."""
    steps: list[list[Batch]] = []
    place: defaultdict[Stream, int] = defaultdict(int)
    for batch in batches:
        if place[batch.stream] == len(steps):
            steps.append([])
        steps[place[batch.stream]].append(batch)
        if batch.also is not None:
            place[batch.stream] += 1
    return steps


def _write_each(connection: Connection, batches: Sequence[Batch]) -> dict[Batch, Any]:
    first, rest = _parted(batches)
    _insert(connection, first)
    outcomes: dict[Batch, Any] = {batch: batch.result for batch in first}
    stopped: dict[Stream, Any] = {}
    for batch in rest:
        if batch.stream in stopped:
            outcomes[batch] = stopped[batch.stream]
            continue
        outcomes[batch] = result = _write_one(connection, batch)
        if result is LOCKED or isinstance(result, Fenced):
            stopped[batch.stream] = result
        elif isinstance(result, Exception):
            stopped[batch.stream] = UNTRIED
        else:
            batch.result = result
    return outcomes


def _parted(batches: Iterable[Batch]) -> tuple[list[Batch], list[Batch]]:
    """The batches before the first `also` of their stream, which one statement writes, and all others, which
    are written one by one."""
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


def _write_one(connection: Connection, batch: Batch) -> Any:
    """Write a batch and its `also`, or neither."""
    try:
        with savepoint(connection):
            _insert(connection, [batch])
            return batch.also(connection) if batch.also is not None else None
    except Exception as error:
        if _of_storage(error):
            raise
        return LOCKED if is_locked(error) else error


def _of_storage(error: Exception) -> bool:
    """Whether the storage failed, rather than the batch."""
    return isinstance(error, DBAPIError) and not isinstance(error, _ITS_OWN_FAULT) and not is_locked(error)


def _insert(connection: Connection, batches: Iterable[Batch]) -> fence.Refused:
    made = [row for batch in batches if batch.envelopes for row in batch.rows()]
    return rows.insert_fenced(connection, made) if made else fence.NONE_REFUSED


def _landed(connection: Connection, batch: Batch) -> bool:
    # Events under another epoch belong to another owner.
    stream = batch.stream
    return (
        bool(batch.envelopes) and rows.last(connection, stream.turn, stream.epoch) >= batch.envelopes[-1].seq
    )
