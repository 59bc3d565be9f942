"""The artifact tools, as an agent uses them."""

from __future__ import annotations

import asyncio

from caesura.core import artifacts as core
from caesura.core import events as ev
from caesura.service.artifacts import Artifacts
from caesura.service.locks import PersonLocks
from caesura.store import artifacts
from tests.accounts import accounts
from tests.engine.world import World
from tests.openai_server import Call, Say

TOOLS = "tools: [create_artifact, update_artifact, rewrite_artifact, read_artifact]"
PLAN = {"id": "plan", "title": "A plan", "content_type": "markdown", "content": "# Plan\n\nfirst\nsecond\n"}


def create(call: str = "c0", **given: str) -> Call:
    return Call("create_artifact", {**PLAN, **given}, call)


def update(old: str, new: str, call: str, id: str = "plan") -> Call:
    return Call("update_artifact", {"id": id, "old": old, "new": new}, call)


async def contents(world: World, name: str = "plan") -> list[str]:
    entries = await world.database.read(artifacts.versions, world.conversation, name)
    found = [
        await world.database.read(artifacts.version, world.conversation, name, entry.version)
        for entry in entries
    ]
    return [version.content for version in found]


async def test_an_agent_writes_and_revises_an_artifact(world: World) -> None:
    world.agent(TOOLS)
    world.desk.script(
        Say("", [create()]),
        Say("", [update("first", "1st", "c1")]),
        Say("", [update("1st second\n", "1st\n2nd\n", "c2")]),
        Say("", [Call("rewrite_artifact", {"id": "plan", "content": "new"}, "c3")]),
        Say("", [Call("read_artifact", {"id": "plan"}, "c4")]),
        Say("", [Call("read_artifact", {"id": "plan", "version": 2}, "c5")]),
        Say("done"),
    )
    said = await world.say("go")
    assert said.finished
    assert [text for _, text, _ in said.results()] == [
        "created artifact plan: version 1",
        "updated artifact plan: version 2 (exact match)",
        "updated artifact plan: version 3. The old text stands there with other white space; this text was"
        " replaced:\n1st\nsecond\n",
        "rewrote artifact plan: version 4",
        "artifact plan (markdown), version 4 of 4: A plan\n\nnew",
        "artifact plan (markdown), version 2 of 4: A plan\n\n# Plan\n\n1st\nsecond\n",
    ]
    kinds = ["create", "update", "update_fuzzy", "rewrite"]
    assert said.of(ev.ArtifactChanged) == [
        ev.ArtifactChanged("plan", number, kind, "tester") for number, kind in enumerate(kinds, 1)
    ]
    assert await contents(world) == [
        PLAN["content"],
        "# Plan\n\n1st\nsecond\n",
        "# Plan\n\n1st\n2nd\n",
        "new",
    ]
    entries = await world.database.read(artifacts.versions, world.conversation, "plan")
    assert {entry.turn_id for entry in entries} == {said.turn.id}
    await world.checked(said.turn)
    known, counted = await world.database.read(accounts)
    assert known == counted


async def test_the_model_is_told_what_is_wrong_and_can_go_on(world: World) -> None:
    world.agent(TOOLS)
    world.desk.script(
        Say("", [create()]),
        Say("", [create("c1")]),
        Say("", [create("c2", id="a/b")]),
        Say("", [create("c3", content_type="text/html")]),
        Say("", [create("c4", title="a\nb")]),
        Say("", [update("x", "y", "c5", id="other")]),
        Say("", [update("something else", "y", "c6")]),
        Say("", [Call("read_artifact", {"id": "plan", "version": 9}, "c7")]),
        Say("", [update("first", "1st", "c8")]),
        Say("done"),
    )
    said = await world.say("go")
    assert said.finished
    first, *wrong, last = said.results()
    assert (first[2], last[2]) == ("ok", "ok")
    assert {status for _, _, status in wrong} == {"error"}
    told = [text for _, text, _ in wrong]
    assert told[0] == (
        "artifact exists already: plan; change it with update_artifact, or replace it with rewrite_artifact"
    )
    assert told[1].startswith("an artifact's id has 1 to 100 letters")
    assert "content_type" in told[2]
    assert told[3:] == [
        "an artifact's title is one line",
        "artifact not found: other",
        "old text was not found: read the artifact and quote the text as it stands there",
        "version not found: 9",
    ]
    assert len(await contents(world)) == 2
    await world.checked(said.turn)


async def test_updates_at_once_are_all_kept(world: World) -> None:
    world.agent(TOOLS)
    letters = "abcdef"
    world.desk.script(
        Say("", [create(content=" ".join(letters))]),
        Say("", [update(letter, letter.upper(), f"u-{letter}") for letter in letters]),
        Say("done"),
    )
    said = await world.say("go")
    assert said.finished
    assert {status for _, _, status in said.results()} == {"ok"}
    found = await contents(world)
    assert len(found) == 7
    assert found[-1] == "A B C D E F"
    assert [event.version for event in said.of(ev.ArtifactChanged)] == list(range(1, 8))
    await world.checked(said.turn)


async def test_two_branches_and_a_person_change_an_artifact_at_once(world: World) -> None:
    world.agent(TOOLS)
    words = [f"w{number}" for number in range(12)]
    world.desk.script(Say("", [create(content=" ".join(words))]), Say("done"))
    first = await world.say("go")
    service = Artifacts(world.database, PersonLocks(world.database.shared))

    async def edit(word: str) -> None:
        await service.edit(
            "alice",
            world.conversation,
            "plan",
            lambda text: core.update(text, f"{word} ", f"{word.upper()} "),
        )

    calls = [update(f"{word} ", f"{word.upper()} ", f"u-{word}") for word in words[:8]]
    world.desk.script(Say("", calls[:4]), Say("", calls[4:]), Say("done"), Say("done"))
    turns = [await world.send(text, parent=first.turn.id) for text in ("one branch", "another")]
    await asyncio.gather(*(edit(word) for word in words[8:11]))
    for turn in turns:
        said = await world.segment(turn)
        assert said.finished
        assert {status for _, _, status in said.results()} <= {"ok"}
        await world.checked(turn)
    found = await contents(world)
    assert found[-1] == " ".join([*(word.upper() for word in words[:11]), words[11]])
    assert len(found) == 12


async def test_a_sub_agent_is_named_with_the_call_that_began_it(world: World) -> None:
    world.agent(TOOLS, name="helper")
    world.agent("tools: []\nsub_agents: [{ref: helper, description: Helps}]")
    world.desk.script(
        Say("", [Call("helper", {"task": "write"}, "lead-1")]),
        Say("", [create()]),
        Say("written"),
        Say("done"),
    )
    said = await world.say("go")
    assert said.finished
    assert said.of(ev.ArtifactChanged) == [ev.ArtifactChanged("plan", 1, "create", "helper", "lead-1")]
