"""Many streams with their readers, written to until the end of the process."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable

from sqlalchemy import Connection

from caesura.core import ids
from caesura.log import Log, Stream
from caesura.store import conversations, life, users
from caesura.store.database import Database
from tests.log.reading import word

STREAMS = 6
Say = Callable[[str], None]


async def write_until_killed(database: Database, name: str, life: float, say: Say) -> None:
    """Say `seen turn number` for each event that a reader got and `told turn number` for each that was
    acknowledged to a writer. This process is killed after `life` seconds."""
    log = Log(database)
    numbers = await database.write(_make, name)
    threading.Timer(life, os.kill, (os.getpid(), signal.SIGKILL)).start()
    async with asyncio.TaskGroup() as group:
        for number in numbers:
            group.create_task(_write(await log.open(number, 1), say))
            group.create_task(_read(log, number, say))


def _make(connection: Connection, name: str) -> list[int]:
    users.create(connection, name, "hash")
    numbers: list[int] = []
    for _ in range(STREAMS):
        place = conversations.create(connection, ids.conversation(), name, "demo")
        new = life.New(place.id, "hello", owner="node-1", lease_ms=-1)
        numbers.append(life.create(connection, new).num)
    return numbers


async def _write(stream: Stream, say: Say) -> None:
    seq = 0
    while True:
        for _ in range(7):
            seq += 1
            stream.put(word(stream.turn, seq))
            await asyncio.sleep(0)
        await stream.commit(durable=seq % 2 == 0)
        say(f"told {stream.turn} {stream.last}")


async def _read(log: Log, turn: int, say: Say) -> None:
    async for envelopes in log.follow(turn):
        say(f"seen {turn} {envelopes[-1].seq}")
