"""kill -9 at every commit, one after the other: right before it, and right after it before anybody is
notified."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from caesura.core import events as ev
from caesura.core.messages import Message
from caesura.store.open import open_database
from tests import effort
from tests.chaos.forks import Forks, When
from tests.chaos.lanes import LANES, at_places
from tests.chaos.scene import Scene
from tests.chaos.story import FIRST_WORDS, LAST_WORDS, Story

Place = Callable[[str], str]


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.fixture
async def place(bare_url: str, tmp_path: Path) -> Place:
    """Where a story runs: a separate file for each, or one database with all of them."""
    await (await open_database(bare_url)).close()
    if not bare_url.startswith("sqlite"):
        return lambda name: bare_url

    def copy(name: str) -> str:
        shutil.copy(tmp_path / "caesura.db", tmp_path / f"{name}.db")
        return f"sqlite:///{tmp_path}/{name}.db"

    return copy


@pytest.fixture
def shared(bare_url: str) -> bool:
    return not bare_url.startswith("sqlite")


@pytest.mark.timeout(600)  # about fifty processes live and die
@pytest.mark.parametrize("when", ["before", "after"])
async def test_after_a_kill_at_any_commit_all_acknowledged_data_is_there(
    forks: Forks, place: Place, shared: bool, when: When
) -> None:
    """On PostgreSQL at a sample of the commits, unless the tests are thorough."""
    unbroken = forks.run(place("unbroken"), "unbroken", when)
    assert not unbroken.killed
    *steps, last = unbroken.said
    commits = json.loads(last)
    assert len(commits) > len(steps)

    async def kill(lane: int, number: int) -> None:
        name = f"cut-{number}"
        url = place(name)
        ended = await asyncio.to_thread(forks.run, url, name, when, number)
        assert ended.killed
        assert ended.said == steps[: len(ended.said)]
        await _assert_told(url, name, ended.said)

    # Before its commit nothing of a transaction is there, whatever it writes.
    kinds = commits if when == "after" else [when] * len(commits)
    step = (1, 8) if when == "after" else (4, 16)
    tried = effort.sample(kinds, step[shared])
    await at_places(range(LANES), (place + 1 for place in tried), kill)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_after_a_kill_during_migration_the_next_process_starts(
    forks: Forks, bare_url: str, when: When
) -> None:
    ended = forks.run(bare_url, "first", when, 1)
    assert ended.killed
    await _assert_told(bare_url, "first", ended.said)


async def _assert_told(url: str, name: str, acknowledged: list[str]) -> None:
    """Assert that all acknowledged steps are there, no step is half done, and the story continues to its
    end."""
    database = await open_database(url)
    try:
        story = Story(database, name)
        scene = await story.look()
        scene.assert_whole()
        steps = story.steps()
        done = [step for step in steps if steps[step][0](scene)]
        assert [step for step in acknowledged if step not in done] == []
        assert len(done) - len(acknowledged) in (0, 1)
        await story.tell()
        _assert_ended(await story.look())
    finally:
        await database.close()


def _assert_ended(scene: Scene) -> None:
    scene.assert_whole()
    assert scene.ended
    assert scene.rows == 1
    assert scene.text == "".join([*FIRST_WORDS, *LAST_WORDS])
    assert scene.other is None
    assert [version.content for version in scene.versions] == ["1", "2"]
    assert [item.status for item in scene.asked] == ["answered"]
    assert scene.turn is not None
    assert scene.turn.messages is not None
    assert [message.role for message in scene.turn.messages] == ["assistant", "tool", "assistant"]
    assert scene.turn.messages[-1] == Message("assistant", "".join(LAST_WORDS), agent="demo")
    assert isinstance(scene.events[-1], ev.SegmentEnded)
