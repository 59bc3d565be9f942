"""A reader that resumes after power loss, with any cursor that it ever had, ends with what a new reader sees.

The logs are written by the test, and lose their ends as SQLite may lose them. The readers are real.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, delete

from caesura.client.events import decode
from caesura.core import cursors, fold
from caesura.core import events as ev
from caesura.core.events import Envelope
from caesura.core.interrupts import Approval
from caesura.core.turns import Turn
from caesura.dialects.threads import encode
from caesura.engine.supervisor import Supervisor
from caesura.http.frames import encoded
from caesura.log import Log
from caesura.store import life, schema
from caesura.store.database import Database
from caesura.store.sqlite import Sqlite
from tests import effort
from tests.api.reading import Event, conversation, parse, send, to_segment_end
from tests.api.server import Served
from tests.conformance.rows import settled

#: How many events of the first attempt are left, and how many of the second.
LOSSES = [(6, 1), (0, 0), (9, 5), *list(product(range(12), range(6)))[: effort.examples(0, 72)]]
ASKED = Approval("int-1", tool_call_id="c9", name="write_file")


def answer(word: str, epoch: int, log: Sequence[Envelope], cause: ev.Cause | None = None) -> list[ev.Event]:
    """The events of an attempt: some text, a tool, more text. It voids the text of the attempt that was cut
    before it."""
    past = fold.fold(item.event for item in log)
    first, second = past.last_call + 1, past.last_call + 2
    cause = cause or ("adopt" if past.open else "start")
    started = ev.RunStarted("demo", max(past.segment, 1) + (cause == "resume"), cause, epoch)
    return [
        started,
        *(ev.TextVoided(call) for call in past.drafts),
        ev.ModelStarted(first, "demo"),
        ev.TextDelta(first, f"{word}1 "),
        ev.TextDelta(first, f"{word}2 "),
        ev.ModelFinished(first, ({"id": f"{word}-c", "name": "list_files", "args": {}},)),
        ev.ToolStarted(f"{word}-c", "list_files", {}, "demo"),
        ev.ToolFinished(f"{word}-c", "list_files", word, "ok", "demo"),
        ev.ModelStarted(second, "demo"),
        ev.TextDelta(second, f"{word}3 "),
        ev.TextDelta(second, f"{word}4 "),
    ]


class Turns:
    """A turn whose log is written here, an attempt at a time."""

    def __init__(self, database: Database, turn: Turn) -> None:
        self._database, self._log = database, Log(database)
        self.turn = turn
        self.log: list[Envelope] = []
        #: The events of each reader, and the cursor of its last event.
        self.readers: list[tuple[list[Envelope], int]] = []

    async def attempt(
        self, word: str, *more: ev.Event, cause: ev.Cause | None = None, says: int | None = None
    ) -> None:
        """`says` is the epoch that `RunStarted` carries, if it is not that of the turn."""
        epoch, written = self.turn.epoch, len(self.log)
        said = answer(word, epoch if says is None else says, self.log, cause)
        stream = await self._log.open(self.turn.num, epoch)
        for event in [*said, *more]:
            await stream.commit(event)  # in a separate row: any of them may be the last one left
        start = said[0]
        if isinstance(start, ev.RunStarted) and start.cause != "adopt":
            await self._database.write(_begin, self.turn, start.segment, written)
        self.log = await self._log.read(self.turn.num)
        seen = range(written, len(self.log) + 1)
        self.readers += [(self.log[:seq], named(self.log, seq)) for seq in seen]

    async def lose(self, kept: int) -> None:
        """Simulate power loss that keeps only the first events; then claim the turn."""
        await self._database.write(_cut, self.turn.num, kept)
        self.log = self.log[:kept]
        await self.claim()

    async def claim(self) -> None:
        claimed = await self._database.write(life.seize, self.turn.num, self.turn.epoch, 1 << 30)
        assert claimed is not None
        self.turn = claimed

    async def end(self) -> None:
        await self._database.write(life.settle, [settled(self.turn)])
        await self._log.pack(self.turn.num, self.turn.epoch)


def named(log: Sequence[Envelope], seq: int) -> int:
    """The cursor of this event, as docs/protocol.md says."""
    epochs = [item.event.epoch for item in log[:seq] if isinstance(item.event, ev.RunStarted)]
    return (epochs[-1] if epochs else 0) * 2**24 + seq


def _begin(connection: Connection, turn: Turn, segment: int, after: int) -> None:
    life.begin_segment(connection, turn, segment, after)


def _cut(connection: Connection, num: int, kept: int) -> None:
    rows = schema.events
    connection.execute(delete(rows).where(rows.c.turn == num, rows.c.first > kept))


async def lost_twice(database: Database, conversation_id: str, first: int, second: int) -> Turns:
    """The first attempt is cut after some events, the second after some more, the third asks, and the fourth
    continues after the answer."""
    new = life.New(conversation_id, "hello", owner="test", lease_ms=1 << 30)
    written = Turns(database, await database.write(life.create, new))
    await written.attempt("a")
    await written.lose(first)
    await written.attempt("b")
    await written.lose(first + second)
    await written.attempt("c", ev.Interrupted((ASKED,)), ev.SegmentEnded())
    await written.claim()
    await written.attempt("d", ev.Finished(), ev.SegmentEnded(), cause="resume")
    await written.end()
    return written


@pytest.fixture
def serve(database_url: str, tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "served", database_url=database_url) as server:
        server.token("alice")
        yield server


def test_resumed_at_any_cursor_of_any_attempt_equals_unbroken(serve: Served) -> None:
    with serve.client() as client:
        for first, second in LOSSES:
            written = serve.call(lost_twice(serve.database, conversation(client), first, second))
            assert len(written.readers) > 40
            check(client, written, 1 if serve.database.light else 5)


async def begun_by_an_older_version(database: Database, conversation_id: str) -> Turns:
    """The first segment says no epoch in its `RunStarted`, as before cursors named the attempt."""
    new = life.New(conversation_id, "hello", owner="test", lease_ms=1 << 30)
    written = Turns(database, await database.write(life.create, new))
    await written.attempt("a", ev.Interrupted((ASKED,)), ev.SegmentEnded(), says=0)
    return written


async def continued(written: Turns) -> None:
    await written.claim()
    await written.attempt("b", ev.Finished(), ev.SegmentEnded(), cause="resume")
    await written.end()


def test_a_log_that_an_older_version_began_is_resumed_without_a_gap(serve: Served) -> None:
    with serve.client() as client:
        written = serve.call(begun_by_an_older_version(serve.database, conversation(client)))
        whole = to_segment_end(client, written.turn.id)
        assert [int(event.id) for event in whole] == list(range(1, len(written.log) + 1))
        for seq in range(1, len(whole)):
            assert to_segment_end(client, written.turn.id, seq) == whole[seq:]
        serve.call(continued(written))
        check(client, written, 1 if serve.database.light else 3)
        # Some servers gave out native cursors of such a log that name the attempt 1.
        unbroken = {item.seq: item.event for item in written.log}
        for seq in range(1, len(whole) + 1):
            assert native(client, written.turn.id, written.log[:seq], 2**24 + seq) == unbroken, seq


def test_a_void_cursor_is_never_answered_with_a_later_segment(serve: Served) -> None:
    with serve.client() as client:
        written = serve.call(lost_twice(serve.database, conversation(client), 9, 5))
        streams = serve.context.service.streams
        for attempt, item in product((2, 3, 255), written.log):
            place = serve.call(streams.place("alice", written.turn.id, cursors.make(attempt, item.seq)))
            assert place.after <= item.seq, (attempt, item)


def check(client: httpx.Client, written: Turns, step: int) -> None:
    screen = shown(frames(written.turn.ordinal, written.log))
    unbroken = [(item.seq, item.event) for item in written.log]
    for held, cursor in written.readers[::step]:
        assert list(native(client, written.turn.id, held, cursor).items()) == unbroken, cursor
        seen = frames(written.turn.ordinal, held)
        assert shown(seen, rejoined(client, written.turn, cursor)) == screen, cursor


def native(client: httpx.Client, turn_id: str, held: Sequence[Envelope], cursor: int) -> dict[int, ev.Event]:
    """The events that a reader of the native API has in the end. An event that is not the next one replaces
    all events from its number on."""
    found = {item.seq: item.event for item in held}
    for event in _read(client, f"/api/v2/turns/{turn_id}/events", cursor):
        kept = {seq: item for seq, item in found.items() if seq < event.seq}
        found = kept | {event.seq: decoded(event)}
    return found


def decoded(event: Event) -> ev.Event:
    made = decode(event.name, {name: value for name, value in event.data.items() if name != "at"})
    assert made is not None
    return made


def rejoined(client: httpx.Client, turn: Turn, cursor: int) -> list[Event]:
    """All events that API A sends to a reader that reconnects until nothing is left."""
    found: list[Event] = []
    id = cursors.along(turn.ordinal, cursor)
    while more := _read(client, f"/api/chat/{turn.conversation_id}/stream", id):
        found += more
        id = int(more[-1].id)
    return found


def frames(ordinal: int, log: Sequence[Envelope]) -> list[Event]:
    return list(parse(iter(encoded(encode, encode.State(ordinal), log)[1].decode().split("\n"))))


def shown(*streams: list[Event]) -> list[list[Any]]:
    """The content of a front end, as docs/api-threads.md says: the tool events and the text of each
    segment."""
    segments: list[list[Any]] = [[]]
    for event in [event for stream in streams for event in stream]:
        items = segments[-1]
        if event.name == "messages/reset" and event.data:
            items.clear()
        elif event.name == "messages/reset":
            while items and isinstance(items[-1], str):
                items.pop()
        elif event.name == "messages/partial":
            items.append(event.data["content"])
        elif event.name == "end":
            segments.append([])
        else:
            items.append((event.name, event.data))
    return segments


def _read(client: httpx.Client, path: str, after: int) -> list[Event]:
    with client.stream("GET", path, headers={"Last-Event-ID": str(after)}) as response:
        assert response.status_code in (200, 204), response.read()
        return list(parse(response.iter_lines()))


def test_a_cursor_of_an_attempt_that_never_was_begins_at_the_newest_segment(alice: httpx.Client) -> None:
    thread = conversation(alice)
    turn = send(alice, thread, "echo a b c")
    whole = to_segment_end(alice, turn["id"])
    path = f"/api/v2/turns/{turn['id']}/events"
    for attempt in (2, 9, 255, 256, 2**29 - 1):
        for seq in (0, 1, len(whole), len(whole) + 1, 2**24 - 1):
            assert _read(alice, path, attempt * 2**24 + seq) == whole, (attempt, seq)
            id = cursors.along(1, min(attempt, 255) * 2**24 + seq)
            found = _read(alice, f"/api/chat/{thread}/stream", id)
            assert found[0].data == {"scope": "segment"}
            assert found[-1].name == "end"
    assert _read(alice, path, 2**53) == whole


def test_a_bare_number_is_still_accepted_as_a_cursor(alice: httpx.Client) -> None:
    thread = conversation(alice)
    turn = send(alice, thread, "echo a b c")
    whole = to_segment_end(alice, turn["id"])
    for seq in range(1, len(whole)):
        assert _read(alice, f"/api/v2/turns/{turn['id']}/events", seq) == whole[seq:]
        joined = _read(alice, f"/api/chat/{thread}/stream", cursors.along(1, seq))
        assert joined == _read(alice, f"/api/chat/{thread}/stream", cursors.along(1, int(whole[seq - 1].id)))
    assert _read(alice, f"/api/v2/turns/{turn['id']}/events", len(whole)) == []


def test_the_cursor_of_a_page_names_the_attempt(alice: httpx.Client) -> None:
    thread = conversation(alice)
    turn = send(alice, thread, "write a.txt")
    asking = to_segment_end(alice, turn["id"])
    shown = alice.get(f"/api/v2/conversations/{thread}/snapshot").json()
    assert shown["cursor"] == int(asking[-1].id) == cursors.make(1, len(asking))


def test_an_epoch_is_durable_before_its_run_begins(
    server: Served, alice: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    harden, run = Sqlite.harden, Supervisor.run

    async def hardened(database: Sqlite) -> None:
        await harden(database)
        done.append("hardened")

    def begun(supervisor: Supervisor, turn: Turn, *past: Any) -> None:
        done.append("begun")
        run(supervisor, turn, *past)

    thread = conversation(alice)
    monkeypatch.setattr(Sqlite, "harden", hardened)
    monkeypatch.setattr(Supervisor, "run", begun)
    queued = server.call(server.database.write(life.create, life.New(thread, "echo x")))
    assert to_segment_end(alice, queued.id)
    assert done.index("hardened") < done.index("begun")
