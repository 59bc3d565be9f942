"""The inbox: a page of it may be megabytes. A person reads one at a time, and it is written in a thread."""

import asyncio
import threading

from caesura.core.stored_interrupts import StoredInterrupt
from caesura.service.inbox import Inbox
from caesura.service.long_reads import LongReads
from caesura.store.database import Database


async def test_an_inbox_is_read_one_page_at_a_time_and_written_in_a_thread(database: Database) -> None:
    long_reads = LongReads()
    inbox = Inbox(database, long_reads)

    def write(found: list[StoredInterrupt], more: bool) -> bytes:
        assert (found, more) == ([], False)
        return threading.current_thread().name.encode()

    async with long_reads.of("alice"):
        second = asyncio.create_task(inbox.waiting("alice", 10, None, write))
        other = await inbox.waiting("bob", 10, None, write)
        assert not second.done()
    assert other.startswith(b"caesura-pages")
    assert (await second).startswith(b"caesura-pages")
