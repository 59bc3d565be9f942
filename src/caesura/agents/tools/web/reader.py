"""Reading a fetched page: each in a process of its own, so that no page can hold up or break the server."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from caesura.agents.tools.child import Child, unnamed_file
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.web import extract
from caesura.agents.tools.web.address import Refused
from caesura.agents.tools.web.extract import Text
from caesura.agents.tools.web.fetcher import Page

#: A healthy program writes less: JSON needs up to six bytes for a character, twelve for a rare one.
_MOST = 16 * extract.LONGEST
_SECONDS = 20.0
_PATIENCE = 30.0


class Reader:
    """A few pages are read at once. People take turns, and one person has at most half of the places."""

    def __init__(self, at_once: int | None = None, seconds: float = _SECONDS) -> None:
        count = at_once or max(2, os.cpu_count() or 1)
        self._places, self._seconds = Places(count, each=max(count // 2, 1)), seconds

    async def read(self, page: Page, person: str) -> Text:
        try:
            async with self._places.one(person, _PATIENCE), asyncio.timeout(self._seconds):
                return await _read(page)
        except Busy:
            raise Refused("not read: too many other pages are being read, try again later") from None
        except TimeoutError:
            raise Refused("not read: the page takes too long to read") from None


async def _read(page: Page) -> Text:
    with _handed_over(page) as descriptor:
        child = await Child.start([sys.executable, "-I", extract.__file__, str(descriptor)], [descriptor])
    try:
        written = await _output(child)
        code = await child.wait()
    finally:
        child.kill()
        child.close()
        await child.wait()
    try:
        return Text(**orjson.loads(written))
    except (orjson.JSONDecodeError, TypeError):
        raise Refused(f"not read: the page cannot be read (exit code {code})") from None


async def _output(child: Child) -> bytes:
    output = bytearray()
    while len(output) < _MOST and (part := await child.output.read(65_536)):
        output += part
    return bytes(output)


@contextmanager
def _handed_over(page: Page) -> Iterator[int]:
    about = {"kind": page.kind, "charset": page.charset, "url": page.url}
    descriptor = unnamed_file(orjson.dumps(about) + b"\n" + page.body)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
