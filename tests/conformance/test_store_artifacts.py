"""Artifacts and their versions, on every backend."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy import update as sql_update

from caesura.core import artifacts as core
from caesura.core.artifacts import Artifact, Edit
from caesura.core.errors import BadInput, Conflict, NotFound, Outdated
from caesura.store import artifacts
from caesura.store.database import Database
from caesura.store.schema import artifact_versions, now_ms
from caesura.store.schema import artifacts as artifact_rows
from tests.accounts import accounts
from tests.conformance.rows import make_conversation

HOSTILE = "line\0one\n中😀\u2028\r\n"
Change = Callable[[str], Edit]


async def test_a_new_artifact_has_one_version(database: Database) -> None:
    conversation_id = await make_conversation(database)
    made = await _create(database, conversation_id, "plan", HOSTILE)
    assert (made.id, made.title, made.version, made.content_type) == ("plan", "A plan", 1, "markdown")
    assert await database.read(artifacts.get, conversation_id, "plan") == made
    found, version = await database.read(artifacts.current, conversation_id, "plan")
    assert found == made
    assert version[:5] == (1, "create", [], HOSTILE, "turn-1")
    assert await database.read(artifacts.version, conversation_id, "plan", 1) == version


async def test_an_id_is_used_once_in_a_conversation(database: Database) -> None:
    one, two = await make_conversation(database), await make_conversation(database)
    await _create(database, one, "plan", "a")
    with pytest.raises(Conflict, match="artifact exists already: plan"):
        await _create(database, one, "plan", "b")
    await _create(database, two, "plan", "c")
    assert await _contents(database, one, "plan") == ["a"]
    assert len(await database.read(artifacts.of, one)) == 1


async def test_an_edit_adds_a_version_and_leaves_the_others_as_they_were(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "one two")
    before = await database.read(artifacts.version, conversation_id, "plan", 1)
    two = await _edit(database, conversation_id, "plan", lambda text: core.update(text, "two", "2"), "turn-2")
    await _edit(database, conversation_id, "plan", lambda text: core.rewrite("all new"))
    assert await database.read(artifacts.version, conversation_id, "plan", 1) == before
    second = await database.read(artifacts.version, conversation_id, "plan", 2)
    third = await database.read(artifacts.version, conversation_id, "plan", 3)
    assert second[:5] == (2, "update", [["two", "2"]], "one 2", "turn-2")
    assert third[:5] == (3, "rewrite", [], "all new", None)
    listed = await database.read(artifacts.versions, conversation_id, "plan")
    assert [entry[:3] for entry in listed] == [
        (1, "create", "turn-1"),
        (2, "update", "turn-2"),
        (3, "rewrite", None),
    ]
    assert two.version == 2
    assert (await database.read(artifacts.get, conversation_id, "plan")).version == 3


async def test_of_edits_of_the_same_version_one_is_kept(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "one")
    base = await database.read(artifacts.base, conversation_id, "plan")
    drafts = [artifacts.draft(core.rewrite(f"by {number}"), base) for number in range(8)]
    tries = (database.write(artifacts.add, conversation_id, "plan", made) for made in drafts)
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert Counter(type(item) for item in done) == {Artifact: 1, Outdated: 7}
    assert len(await database.read(artifacts.versions, conversation_id, "plan")) == 2
    assert str(next(item for item in done if isinstance(item, Outdated))) == (
        "artifact plan has changed: its version is 2 now"
    )


async def test_every_version_is_read_as_it_was_written(database: Database) -> None:
    """Changes, whole copies in between, rewrites, and texts that share nothing."""
    conversation_id = await make_conversation(database)
    pick = random.Random(7)
    lines = [f"line {pick.random()}" for _ in range(200)]
    written = ["\n".join(lines)]
    await _create(database, conversation_id, "plan", written[0])
    for number in range(80):
        lines[pick.randrange(len(lines))] = f"中 {number}😀"
        if number % 30 == 29:
            lines = [f"other {pick.random()}" for _ in range(pick.randrange(300))] or ["x"]
        written.append("\n".join(lines))
        await _edit(database, conversation_id, "plan", lambda text: core.rewrite(written[-1]))
    assert await _contents(database, conversation_id, "plan") == written
    copies = select(func.count()).where(artifact_versions.c.whole == artifact_versions.c.version)
    count = await database.read(lambda connection: connection.execute(copies).scalar_one())
    assert 5 <= count <= 9
    known, counted = await database.read(accounts)
    assert known == counted


async def test_a_version_of_an_older_release_is_read_and_followed(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "x")
    old = {"version": 2, "update_type": "rewrite", "changes": b'[["x","older"]]', "content": b"older"}
    where = {"conversation_id": conversation_id, "artifact_id": "plan"}
    added = insert(artifact_versions).values(**where, **old, created_at=now_ms())
    moved = sql_update(artifact_rows).where(artifact_rows.c.id == "plan").values(version=2)
    await database.write(lambda connection: connection.execute(added).rowcount)
    await database.write(lambda connection: connection.execute(moved).rowcount)
    await _edit(database, conversation_id, "plan", lambda text: core.update(text, "er", "est"))
    assert await _contents(database, conversation_id, "plan") == ["x", "older", "oldest"]
    second = await database.read(artifacts.version, conversation_id, "plan", 2)
    assert (second.update_type, second.changes) == ("rewrite", [])


async def test_the_error_names_what_is_missing(database: Database) -> None:
    conversation_id = await make_conversation(database)
    await _create(database, conversation_id, "plan", "x")
    for work in (artifacts.get, artifacts.versions, artifacts.current, artifacts.base):
        with pytest.raises(NotFound, match="artifact not found: other"):
            await database.read(work, conversation_id, "other")
    with pytest.raises(NotFound, match="artifact not found: plan"):
        await database.read(artifacts.get, await make_conversation(database), "plan")
    second = artifacts.draft(core.rewrite("x"), artifacts.Base(1, "", 1))
    with pytest.raises(NotFound, match="artifact not found: other"):
        await database.write(artifacts.add, conversation_id, "other", second)
    for number in (0, 2, -1, 2**70):
        with pytest.raises(NotFound, match=f"version not found: {number}"):
            await database.read(artifacts.version, conversation_id, "plan", number)


async def test_artifacts_are_listed_in_the_order_they_were_made(database: Database) -> None:
    conversation_id = await make_conversation(database)
    for name in ("z", "a", "m"):
        await _create(database, conversation_id, name, name)
        await asyncio.sleep(0.003)
    await _edit(database, conversation_id, "z", lambda text: core.rewrite("zz"))
    assert [item.id for item in await database.read(artifacts.of, conversation_id)] == ["z", "a", "m"]
    assert await database.read(artifacts.of, "missing") == []


async def test_the_number_of_artifacts_and_versions_is_bounded(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation_id = await make_conversation(database)
    monkeypatch.setattr(artifacts, "MOST_ARTIFACTS", 2)
    monkeypatch.setattr(artifacts, "MOST_VERSIONS", 2)
    await _create(database, conversation_id, "one", "1")
    await _create(database, conversation_id, "two", "2")
    with pytest.raises(BadInput, match="a conversation has at most 2 artifacts"):
        await _create(database, conversation_id, "three", "3")
    await _edit(database, conversation_id, "one", lambda text: core.rewrite("2"))
    with pytest.raises(BadInput, match="an artifact has at most 2 versions"):
        await _edit(database, conversation_id, "one", lambda text: core.rewrite("3"))


async def _create(database: Database, conversation_id: str, artifact_id: str, content: str) -> Artifact:
    return await database.write(
        artifacts.create,
        conversation_id,
        artifact_id,
        title="A plan",
        content_type="markdown",
        first=artifacts.draft(core.create(content)),
        turn_id="turn-1",
    )


async def _edit(
    database: Database, conversation_id: str, artifact_id: str, change: Change, turn_id: str | None = None
) -> Artifact:
    base = await database.read(artifacts.base, conversation_id, artifact_id)
    made = artifacts.draft(change(base.content), base)
    return await database.write(artifacts.add, conversation_id, artifact_id, made, turn_id)


async def _contents(database: Database, conversation_id: str, artifact_id: str) -> list[str]:
    entries = await database.read(artifacts.versions, conversation_id, artifact_id)
    return [
        (await database.read(artifacts.version, conversation_id, artifact_id, entry.version)).content
        for entry in entries
    ]
