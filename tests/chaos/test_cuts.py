"""kill -9 at any time, with many open streams: everything that was read or acknowledged is there."""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from caesura.log import Log
from caesura.store import life
from caesura.store.open import open_database
from tests.chaos.crowd import STREAMS
from tests.chaos.forks import Forks
from tests.log.reading import check, stored, write


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
async def test_after_a_kill_at_any_time_all_events_that_were_read_are_there(
    forks: Forks, request: pytest.FixtureRequest, tmp_path: Path, backend: str
) -> None:
    url = f"sqlite:///{tmp_path}/caesura.db"
    if backend == "postgresql":
        url = request.getfixturevalue("postgres_url")
    for number in range(6):
        ended = forks.crowd(url, f"user-{number}", 0.05 + random.random() / 4)
        assert ended.killed
        await _assert_all_is_there(url, _newest(ended.said))


async def _assert_all_is_there(url: str, newest: dict[int, int]) -> None:
    database = await open_database(url)
    try:
        log = Log(database)
        for turn, last in newest.items():
            found = await stored(log, turn)
            assert len(found) >= last
            await check(log, turn, len(found))
            claimed = await database.write(life.claim, turn, "node-2", 60_000)
            assert claimed is not None
            await write(await log.open(turn, claimed.epoch), len(found) + 5)
            await check(log, turn, len(found) + 5)
    finally:
        await database.close()


def _newest(said: list[str]) -> dict[int, int]:
    """The last event number of each turn that was read or acknowledged. The last line may be cut off."""
    newest: dict[int, int] = defaultdict(int)
    for line in said[:-1]:
        kind, turn, seq = line.split()
        assert kind in ("seen", "told")
        newest[int(turn)] = max(newest[int(turn)], int(seq))
    assert len(newest) <= STREAMS
    return newest
