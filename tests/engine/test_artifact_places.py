"""People who use the artifact tools at once: who waits for whom, and how much is held in memory."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from caesura.agents.context import RunContext
from caesura.agents.tools.artifacts import READ_LIMIT, tools  # its own: others' threads would delay these
from caesura.agents.tools.tool import Result, Tool
from caesura.core import artifacts as core
from caesura.core import matching
from caesura.core.errors import BadInput
from caesura.engine.limits import Limits
from caesura.store import artifacts as rows
from caesura.store.database import Database
from tests.engine.world import World
from tests.waiting import until


class Counted:
    """A database that counts the reads of each person that are under way."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.reading, self.most = Counter[str](), Counter[str]()

    def of(self, person: str) -> Database:
        return _Reads(self, person)  # type: ignore[return-value]  # the tools only read

    async def read(self, person: str, *args: Any) -> Any:
        self.reading[person] += 1
        self.most[person] = max(self.most[person], self.reading[person])
        try:
            return await self._database.read(*args)
        finally:
            self.reading[person] -= 1


class _Reads:
    def __init__(self, counted: Counted, person: str) -> None:
        self._counted, self._person = counted, person

    async def read(self, *args: Any) -> Any:
        return await self._counted.read(self._person, *args)


class Office:
    """The tools, a conversation with one artifact for each person, and what they call."""

    def __init__(self, world: World, made: list[Tool]) -> None:
        self._world, self._tools = world, {tool.name: tool for tool in made}
        self.counted = Counted(world.database)
        self._places: dict[str, str] = {}

    async def join(self, person: str, content: str) -> None:
        self._places[person] = await self._world.begin(user=person)
        first = rows.draft(core.create(content))
        where = (self._places[person], "plan")
        await self._world.database.write(rows.create, *where, title="x", content_type="text", first=first)

    async def use(self, person: str, tool: str, **arguments: Any) -> Result:
        place, database = self._places[person], self.counted.of(person)
        run = RunContext(place, "t", person, "a", "en", Path("/nowhere"), database=database)
        with run.active():
            return await self._tools[tool].run(arguments)


@asynccontextmanager
async def calls(*works: Awaitable[Result]) -> AsyncIterator[None]:
    begun = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for work in begun:
            work.cancel()
        await asyncio.wait(begun)


async def test_long_updates_of_two_people_delay_nobody_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their updates last until the other person has got every result."""
    office = Office(world, tools())
    searching, go_on = list[str](), threading.Event()

    def slow(content: str, old: str) -> matching.Match:
        if old == "something else":
            searching.append(content)
            go_on.wait(300)
        return find(content, old)

    find = matching.find
    monkeypatch.setattr(matching, "find", slow)
    for person in ("one", "two", "other"):
        await office.join(person, f"The plan of {person}.")
    updates = [
        office.use(person, "update_artifact", id="plan", old="something else", new="y")
        for person in ("one", "two")
        for _ in range(20)
    ]
    try:
        async with calls(*updates):
            await until(lambda: len(searching) == 2)
            new = {"id": "new", "title": "x", "content_type": "text", "content": "y"}
            created = await office.use("other", "create_artifact", **new)
            updated = await office.use("other", "update_artifact", id="plan", old="The plan", new="A plan")
            rewritten = await office.use("other", "rewrite_artifact", id="plan", content="z")
            read = await office.use("other", "read_artifact", id="plan")
    finally:
        go_on.set()
    assert sorted(searching) == ["The plan of one.", "The plan of two."]
    assert [result.status for result in (created, updated, rewritten, read)] == ["ok"] * 4
    assert updated.text == "updated artifact plan: version 2 (exact match)"
    assert read.text.endswith("The plan of other.")


async def test_a_person_reads_one_content_at_a_time_and_gets_no_more_than_a_result_may_have(
    world: World,
) -> None:
    office = Office(world, tools())
    content = "\U0001f600" + "a" * (core.CONTENT_LIMIT - 10) + "end"
    await office.join("one", content)
    await office.join("other", content)
    people = ["one"] * 30 + ["other"] * 30
    results = await asyncio.gather(*(office.use(person, "read_artifact", id="plan") for person in people))
    assert {result.status for result in results} == {"ok"}
    (text,) = {result.text for result in results}
    assert text.startswith("artifact plan (text), version 1 of 1: x\n\n\U0001f600aaa")
    left_out = len(content) - READ_LIMIT
    assert f"a\n[cut: {left_out} of {len(content)} characters are left out here]\na" in text
    assert text.endswith("aend")
    assert len(text) < Limits().tool_output  # it is not cut again
    assert office.counted.most == {"one": 1, "other": 1}


async def test_updates_that_wait_for_their_turn_hold_no_content(world: World) -> None:
    office = Office(world, tools())
    await office.join("one", "The plan.")
    works = (office.use("one", "update_artifact", id="plan", old=f"{at}", new="y") for at in range(30))
    results = await asyncio.gather(*works, return_exceptions=True)
    assert [result for result in results if not isinstance(result, BadInput)] == []
    assert office.counted.most["one"] == 1
