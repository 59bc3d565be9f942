"""A PostgreSQL behind a network that lets nothing through: its connections are cut, and opened anew."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from caesura.core.errors import Unavailable
from caesura.store import postgres
from caesura.store.postgres import Postgres
from tests import effort
from tests.relay import Relay

Use = Callable[[Postgres, Callable[[Connection], None]], Awaitable[None]]
#: Guards against a hang, which is what happens if no connection is cut.
PATIENCE = 60.0
USES: dict[str, Use] = {
    "read": lambda database, work: database.read(work),
    "write": lambda database, work: database.write(work),
    "write_lightly": lambda database, work: database.write_lightly(work),
    "write_statement": lambda database, work: database.write_statement(work),
    "write_now": lambda database, work: asyncio.to_thread(database.write_now, work),
}


@pytest.fixture
def relay(postgres_url: str) -> Iterator[Relay]:
    with Relay(postgres_url) as relay:
        yield relay


@pytest_asyncio.fixture
async def database(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Postgres]:
    """Only the cut ends a wait: every other limit is far away."""
    database = await Postgres.open(relay.url)
    _limit(monkeypatch, PATIENCE)
    yield database
    await database.close()


def _limit(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let a statement take this long."""
    for name in ("_LIMIT", "_BEAT"):
        patch.setattr(postgres, name, seconds)


@pytest.mark.parametrize("use", USES)
async def test_a_silent_connection_is_cut_and_the_next_statement_gets_a_new_one(
    database: Postgres, relay: Relay, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await _sessions(database, use)
    relay.silence()
    with monkeypatch.context() as patch:
        _limit(patch, 0.5)
        with pytest.raises(Unavailable):
            await _sessions(database, use, 1)
    relay.restore()
    assert not await _sessions(database, use) & old


async def _sessions(database: Postgres, use: str, count: int = 2) -> set[int]:
    """The numbers of the sessions in PostgreSQL that this many statements at once got."""
    found: set[int] = set()

    def look(connection: Connection) -> None:
        found.add(connection.exec_driver_sql("SELECT pg_backend_pid() FROM pg_sleep(0.1)").scalar_one())

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(USES[use](database, look) for _ in range(1 if use == "write_now" else count)))
    return found


@pytest.mark.parametrize("use", USES if effort.thorough() else ["read", "write_statement"])
async def test_a_unit_of_work_never_hangs_whichever_of_its_messages_gets_no_answer(
    database: Postgres, relay: Relay, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that begin and end its transaction are messages, too."""
    await _sessions(database, use, 1)
    relay.watch()
    await _sessions(database, use, 1)
    for number in range(1, len(relay.asked) + 1):
        with monkeypatch.context() as patch:
            _limit(patch, 0.3)
            relay.watch(number)
            refused = False
            while not refused:  # an end that nobody waits for is missed by the next unit of work
                try:
                    await _sessions(database, use, 1)
                except Unavailable:
                    refused = True
        relay.watch()
        await _sessions(database, use, 1)
