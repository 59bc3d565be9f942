"""A database whose disk takes as long as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from caesura.core.errors import Unavailable
from caesura.store.database import Database, T


class SlowDisk:
    """Writes are in the database at once, but are durable only once `safe` is set, and never while the disk
    is `broken`."""

    light = True

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.safe = asyncio.Event()
        self.safe.set()
        self.broken = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        result = await self._inner.write_ahead(work, committed)
        await self.safe.wait()
        return result

    async def harden(self) -> None:
        if self.broken:
            raise Unavailable
        await self._inner.harden()
        await self.safe.wait()
