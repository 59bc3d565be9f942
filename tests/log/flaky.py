"""A wrapper of a real database that loses requests or replies."""

from collections.abc import Callable, Collection, Coroutine
from typing import Any

from sqlalchemy import Connection, Engine

from caesura.core.errors import Unavailable
from caesura.store.database import Database, P, T, Work


class Flaky:
    """Wraps a real database. `before` decides whether a write fails, `after` whether its reply is lost."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.before: Callable[[], bool] = _no
        self.after: Callable[[], bool] = _no
        self.writes = 0

    @property
    def shared(self) -> bool:
        return self._database.shared

    @property
    def light(self) -> bool:
        return self._database.light

    @property
    def engines(self) -> tuple[Engine, ...]:
        return self._database.engines

    def listen(self, told: Callable[[Collection[str]], None]) -> None:
        self._database.listen(told)

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(work, *args, **kwargs)

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._disturb(self._database.write(work, *args, **kwargs))

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._disturb(self._database.write_statement(work, *args, **kwargs))

    async def _disturb(self, write: Coroutine[Any, Any, T]) -> T:
        self.writes += 1
        if self.before():
            write.close()
            raise Unavailable
        result = await write
        if self.after():
            raise Unavailable
        return result

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        result = await self.write(work)
        committed(result)
        return result

    async def harden(self) -> None:
        await self._database.harden()

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return self._database.write_now(work, *args, **kwargs)

    async def close(self) -> None:
        await self._database.close()


def times(number: int) -> Callable[[], bool]:
    """True this many times, then false."""
    left = [True] * number
    return lambda: bool(left) and left.pop()


def _no() -> bool:
    return False
