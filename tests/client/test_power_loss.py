"""Power loss: SQLite's newest commits are lost although clients have seen them, and other events get their
numbers.

The test restores the database files from a moment before the server was killed: a disk that was not synced
may be in that state.
"""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from caesura.client import Client, ReceivedEvent, Rewound
from caesura.core import cursors
from caesura.core import events as ev
from caesura.core.fold import fold
from tests.api.reading import Event, parse
from tests.api.threads.thread import Thread, checked, one, read, said
from tests.client.process import Process

COUNT = "count to 90 delay=0.005"
COUNTED = " ".join(str(number) for number in range(1, 91)) + " done."


class Disk:
    """The files of the database in this folder."""

    def __init__(self, folder: Path) -> None:
        self._files = [folder / "caesura.db", folder / "caesura.db-wal"]
        self._index = folder / "caesura.db-shm"

    def remember(self) -> None:
        self._kept = [path.read_bytes() for path in self._files]

    def forget_what_came_later(self) -> None:
        self._index.unlink(missing_ok=True)
        for path, content in zip(self._files, self._kept, strict=True):
            path.write_bytes(content)


async def test_the_python_client_ends_with_the_same_events_as_a_new_reader(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    with Process(tmp_path, lease=1.0) as server:
        async with Client(server.url) as client:
            turn = await client.send((await client.create()).id, COUNT)
            found, lost = await _read_through_power_loss(client, turn.id, server, disk)
            fresh = [told async for told in client.events(turn.id)]
            assert len(fresh) > len(lost), "the new log must have reached the old cursor"
            assert found == fresh
            assert fold(item.event for item in found).text == COUNTED
            # A reader that comes back later gets the same error. One that has seen no lost event just
            # continues.
            survived = next(i for i, pair in enumerate(zip(lost, fresh, strict=False)) if pair[0] != pair[1])
            assert isinstance(fresh[survived].event, ev.RunStarted)
            for told in lost[survived::8]:
                with pytest.raises(Rewound):
                    await anext(client.events(turn.id, told.cursor))
            for told in lost[survived - 2 : survived]:
                rest = [item.event async for item in client.events(turn.id, told.cursor)]
                assert rest == [item.event for item in fresh[told.seq :]]


async def _read_through_power_loss(
    client: Client, turn_id: str, server: Process, disk: Disk
) -> tuple[list[ReceivedEvent], list[ReceivedEvent]]:
    """The events a reader has in the end, and those it had at the power loss."""
    found: list[ReceivedEvent] = []
    lost: list[ReceivedEvent] = []
    after = 0
    while True:
        try:
            async for told in client.events(turn_id, after):
                found.append(told)
                if len(found) == 15 and not lost:
                    await asyncio.to_thread(disk.remember)
                if len(found) == 45 and not lost:
                    lost = list(found)
                    await asyncio.to_thread(_lose_power, server, disk)
                    _ = [told async for told in client.events(turn_id)]  # until it has ended
        except Rewound as rewound:
            after = rewound.seq
            found = [told for told in found if told.seq <= after]
        else:
            return found, lost


def _lose_power(server: Process, disk: Disk) -> None:
    server.kill()
    disk.forget_what_came_later()
    server.start()


def test_a_stream_of_each_api_is_told_to_restart(tmp_path: Path) -> None:
    disk = Disk(tmp_path)
    with Process(tmp_path, lease=1.0) as server, httpx.Client(base_url=server.url, timeout=30) as client:
        thread = Thread.new(client)
        with thread.chatting(COUNT, on_disconnect="continue") as stream:
            seen = read(stream, 10)
            disk.remember()
            seen += read(stream, 30)
            turn = client.get(f"/api/v2/conversations/{thread.id}/snapshot").json()["turn"]
            path = f"/api/v2/turns/{turn}/events"
            native = _events(client, path, stop_at=30)
            _lose_power(server, disk)
        thread.until_idle()
        rest = thread.join(seen[-1].id)
        assert (rest[0].name, rest[0].data) == ("messages/reset", {"scope": "segment"})
        assert said(checked(rest)) == said(seen + rest) == COUNTED
        assert thread.join(seen[-1].id) == rest
        assert thread.join(rest[5].id) == rest[6:]

        whole = _events(client, path)
        held = {event.seq: event for event in native}
        for event in _events(client, path, native[-1].id):
            held = {seq: kept for seq, kept in held.items() if seq < event.seq} | {event.seq: event}
        assert list(held.values()) == whole
        assert one(thread.join(), "end") == {}


def _events(client: httpx.Client, path: str, after: str = "0", stop_at: int = 1 << 30) -> list[Event]:
    found: list[Event] = []
    with client.stream("GET", path, headers={"Last-Event-ID": after}) as response:
        for event in parse(response.iter_lines()):
            found.append(event)
            if len(found) == stop_at:
                break
    return found


def test_an_event_has_the_cursor_to_resume_with() -> None:
    told = ReceivedEvent(7, 0, ev.Finished())
    told.cursor = cursors.make(2, 7)
    seq, at, event = told
    assert (seq, at, event) == (7, 0, ev.Finished())
    assert json.dumps(told.cursor) == str(2 * 2**24 + 7)
