"""The OpenAPI document is written once."""

import asyncio
import threading

from caesura.http.openapi import Written


async def test_requests_at_once_share_one_document_that_another_thread_writes() -> None:
    threads: list[int] = []

    def write() -> bytes:
        threads.append(threading.get_ident())
        return b"{}"

    written = Written(write)
    assert await asyncio.gather(*(written.body() for _ in range(5))) == [b"{}"] * 5
    assert await written.body() == b"{}"
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
