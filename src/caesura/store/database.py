"""The database interface: work is a plain function of a connection, run in one transaction on either backend.

`Sqlite` and `Postgres` differ only in how such work reaches the database; the URL's scheme picks one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from caesura.core.errors import BadInput, Unavailable

P = ParamSpec("P")
T = TypeVar("T")
_LOCK_NOT_AVAILABLE = "55P03"
Work = Callable[Concatenate[Connection, P], T]


def brief(work: Callable[P, T]) -> Callable[P, T]:
    """Mark work that takes less than a millisecond whatever it is given. SQLite may do it in the event loop's
    own thread."""
    work.brief = True  # type: ignore[attr-defined]
    return work


def is_brief(work: Callable[..., Any]) -> bool:
    return getattr(work, "brief", False)


class Database(Protocol):
    """Rows on one backend. Storage that is locked, full or gone raises `Unavailable` and leaves nothing half
    written. It works again when the storage does."""

    @property
    def shared(self) -> bool:
        """Whether other processes write to the same rows."""
        ...

    @property
    def light(self) -> bool:
        """Whether `write_lightly` leaves anything for `harden` to do."""
        ...

    @property
    def engines(self) -> tuple[Engine, ...]:
        """The engines that statements run on. The first one is for writing."""
        ...

    def listen(self, told: Callable[[Collection[str]], None]) -> None:
        """Call `told` after each commit of this process that has written changes (`store.changes`), with the
        people they belong to, in the thread that commits. It must be quick and not raise."""
        ...

    async def read(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on one consistent snapshot."""
        ...

    async def write(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in one transaction. When this returns, the result is on disk and survives power loss."""
        ...

    async def write_lightly(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, but power loss may undo it. A crash of the process never does."""
        ...

    async def write_statement(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write_lightly`, for work in which only the first statement writes."""
        ...

    async def write_ahead(self, work: Callable[[Connection], T], committed: Callable[[T], None]) -> T:
        """As `write`. `committed` is called in the event loop earlier, as soon as the transaction is
        committed."""
        ...

    async def harden(self) -> None:
        """Make everything written so far survive power loss."""
        ...

    def write_now(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write_lightly`, blocking, for a thread other than the event loop's."""
        ...

    async def close(self) -> None: ...


@contextmanager
def storage_errors() -> Iterator[None]:
    """The only place where a driver's errors become ours. A constraint violation is passed on: the modules of
    the store know what it means."""
    try:
        yield
    except (DBAPIError, PoolTimeout, OSError, UnicodeError) as error:
        ours = mapped(error)
        if ours is error:
            raise
        raise ours from error


def mapped(error: Exception) -> Exception:
    if isinstance(error, DataError | UnicodeError):
        return BadInput("a value cannot be stored")
    if isinstance(error, IntegrityError) or not isinstance(error, DBAPIError | PoolTimeout | OSError):
        return error
    unavailable = Unavailable()
    unavailable.__cause__ = error
    return unavailable


def is_locked(error: BaseException) -> bool:
    """Whether PostgreSQL gave up waiting for a lock."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE


def cause(error: BaseException) -> str:
    """The root cause of an error, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())
