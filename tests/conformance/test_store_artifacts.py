"""Artifacts and their versions, on every backend."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from caesura.core.artifacts import Edit, rewrite, update
from caesura.core.errors import BadInput, Conflict, NotFound
from caesura.store import artifacts
from caesura.store.artifacts import Artifact
from caesura.store.database import Database
from tests.conformance.rows import make_conversation

HOSTILE = "line\0one\n中😀\u2028\r\n"


async def test_a_new_artifact_has_one_version(database: Database) -> None:
    conversation_id = await make_conversation(database)
    made = await _create(database, conversation_id, "plan", HOSTILE)
    assert (made.id, made.version, made.content_type) == ("plan", 1, "text/markdown")
    assert await database.read(artifacts.get, conversation_id, "plan") == made
    [version] = await database.read(artifacts.versions, conversation_id, "plan")
    assert version[:5] == (1, "create", [], HOSTILE, "turn-1")
    assert await database.read(artifacts.version, conversation_id, "plan", 1) == version


async def test_an_id_is_used_once_in_a_conversation(database: Database) -> None:
    one, two = await make_conversation(database), await make_conversation(database)
    await _create(database, one, "plan", "a")
    with pytest.raises(Conflict, match="artifact exists already: plan"):
        await _create(database, one, "plan", "b")
    await _create(database, two, "plan", "c")
    assert [item.content for item in await database.read(artifacts.versions, one, "plan")] == ["a"]
    assert len(await database.read(artifacts.of, one)) == 1


async def test_an_edit_adds_a_version_and_leaves_the_others_as_they_were(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "one two")
    before = await database.read(artifacts.versions, conversation_id, "plan")
    edited = await database.write(
        artifacts.edit, conversation_id, "plan", lambda text: update(text, "two", "2"), "turn-2"
    )
    await database.write(artifacts.edit, conversation_id, "plan", lambda text: rewrite(text, "all new"))
    after = await database.read(artifacts.versions, conversation_id, "plan")
    assert after[:1] == before
    assert [item[:5] for item in after[1:]] == [
        (2, "update", [["two", "2"]], "one 2", "turn-2"),
        (3, "rewrite", [["one 2", "all new"]], "all new", None),
    ]
    assert edited.version == 2
    assert (await database.read(artifacts.get, conversation_id, "plan")).version == 3


async def test_concurrent_edits_are_applied_one_after_another(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "log", "")

    def append(number: int) -> Callable[[str], Edit]:
        return lambda text: rewrite(text, f"{text}{number},")

    tries = (database.write(artifacts.edit, conversation_id, "log", append(n)) for n in range(20))
    made = await asyncio.gather(*tries)
    assert sorted(item.version for item in made) == list(range(2, 22))
    versions = await database.read(artifacts.versions, conversation_id, "log")
    assert [item.version for item in versions] == list(range(1, 22))
    assert sorted(int(part) for part in versions[-1].content.split(",")[:-1]) == list(range(20))
    for earlier, later in pairwise(versions):
        assert later.content.startswith(earlier.content)


async def test_an_edit_that_does_not_fit_changes_nothing(database: Database) -> None:
    conversation_id = await make_conversation(database)
    made = await _create(database, conversation_id, "plan", "one")
    with pytest.raises(BadInput, match="old text was not found"):
        await database.write(
            artifacts.edit, conversation_id, "plan", lambda text: update(text, "something else", "x")
        )
    assert await database.read(artifacts.get, conversation_id, "plan") == made
    assert len(await database.read(artifacts.versions, conversation_id, "plan")) == 1


async def test_the_error_names_what_is_missing(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "x")
    for work in (artifacts.get, artifacts.versions):
        with pytest.raises(NotFound, match="artifact not found: other"):
            await database.read(work, conversation_id, "other")
    with pytest.raises(NotFound, match="artifact not found: plan"):
        await database.read(artifacts.get, await make_conversation(database), "plan")
    with pytest.raises(NotFound, match="artifact not found: other"):
        await database.write(artifacts.edit, conversation_id, "other", lambda text: Edit(text, "rewrite", ()))
    for number in (0, 2, -1):
        with pytest.raises(NotFound, match=f"version not found: {number}"):
            await database.read(artifacts.version, conversation_id, "plan", number)


async def test_artifacts_are_listed_in_the_order_they_were_made(database: Database) -> None:
    conversation_id = await make_conversation(database)
    made: list[Artifact] = []
    for name in ("z", "a", "m"):
        made.append(await _create(database, conversation_id, name, name))
        await asyncio.sleep(0.003)
    await database.write(artifacts.edit, conversation_id, "z", lambda text: rewrite(text, "zz"))
    assert [item.id for item in await database.read(artifacts.of, conversation_id)] == ["z", "a", "m"]
    assert await database.read(artifacts.of, "missing") == []


async def test_a_title_and_a_content_may_hold_any_text(database: Database) -> None:
    conversation_id = await make_conversation(database)
    made = await _create(database, conversation_id, "plan", HOSTILE + "\ud800", title="a\0b\ud800中")
    assert made.title == "ab?中"
    [version] = await database.read(artifacts.versions, conversation_id, "plan")
    assert version.content == HOSTILE + "?"


async def test_a_content_that_is_too_long_is_refused(database: Database) -> None:
    conversation_id = await make_conversation(database)
    with pytest.raises(BadInput, match="content is longer than"):
        await _create(database, conversation_id, "plan", "x" * (1024 * 1024 + 1))
    assert await database.read(artifacts.of, conversation_id) == []


async def _create(
    database: Database, conversation_id: str, artifact_id: str, content: str, title: str = "A plan"
) -> Artifact:
    return await database.write(
        artifacts.create,
        conversation_id,
        artifact_id,
        title=title,
        content_type="text/markdown",
        content=content,
        turn_id="turn-1",
    )
