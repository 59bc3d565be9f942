"""Storage that is slow on demand: one call on a server's database waits until it is released."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from caesura.core.errors import Unavailable
from tests.api.server import Served

PATIENCE = 60.0


class Held:
    """A held call. `reached` is set when it waits. `release` lets it continue, `refuse` makes it fail."""

    def __init__(self) -> None:
        self.reached, self._going, self._refused = threading.Event(), threading.Event(), False

    def until_reached(self) -> None:
        assert self.reached.wait(PATIENCE)

    def release(self) -> None:
        self._going.set()

    def refuse(self) -> None:
        self._refused = True
        self._going.set()

    async def wait(self) -> None:
        self.reached.set()
        while not self._going.is_set():  # noqa: ASYNC110 - the test runs in another thread
            await asyncio.sleep(0.005)
        if self._refused:
            raise Unavailable


def hold_before(server: Served, monkeypatch: pytest.MonkeyPatch, method: str, work: str = "") -> Held:
    """Hold the next call of this method whose work has `work` in its name, before anything is done."""
    held = Held()
    inner: Callable[..., Any] = getattr(server.database, method)

    async def slow(asked: Any, *args: Any, **options: Any) -> Any:
        if work in getattr(asked, "func", asked).__qualname__ and not held.reached.is_set():
            await held.wait()
        return await inner(asked, *args, **options)

    monkeypatch.setattr(server.database, method, slow)
    return held


def hold_disk(server: Served, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Hold the next message, answer or retry after its commit: the disk takes long to make it safe."""
    held = Held()
    inner = server.database.write_ahead

    async def slow(work: Any, committed: Any) -> Any:
        mine = not held.reached.is_set()
        result = await inner(work, committed)
        if mine and not held.reached.is_set():
            await held.wait()
        return result

    monkeypatch.setattr(server.database, "write_ahead", slow)
    return held
