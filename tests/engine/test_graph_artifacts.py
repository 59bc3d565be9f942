"""Artifacts that an operator's own graph writes with the manager that its function gets."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from caesura.core import events as ev
from caesura.store import artifacts as rows
from tests import agent_files
from tests.engine.crash import lose
from tests.engine.world import YES, World
from tests.graph_files import IMPORTS

#: A graph that an async function makes.
MAKER = """
import asyncio
import os
import threading


class Writer:
    def __init__(self, manager):
        self._manager = manager

{work}

async def create_multi_agent_graph(tool_permissions=None, artifact_manager=None, checkpointer=None):
    builder = StateGraph(MessagesState)
    builder.add_node("lead_agent", Writer(artifact_manager).work)
    builder.add_edge(START, "lead_agent")
    return builder.compile(checkpointer=checkpointer)


def leave(line):
    with open("{trace}", "a") as file:
        file.write(line + "\\n")


def done(*results):
    return {{"messages": [AIMessage("; ".join(map(str, results)))]}}
"""


def graph(world: World, work: str) -> None:
    indented = "\n".join(f"    {line}" for line in dedent(work).strip().splitlines())
    text = MAKER.format(work=indented, trace=world.trace)
    (world.agents / "maker.py").write_text(IMPORTS + text)
    agent_files.put(world.agents, "tester", "type: langgraph\ngraph: 'maker:create_multi_agent_graph'\n")
    assert not world.catalog.faults


async def versions(world: World, name: str = "report") -> list[tuple[str, str]]:
    """How each version was made, and what it has."""

    def read(connection: Any) -> list[tuple[str, str]]:
        entries = rows.versions(connection, world.conversation, name)
        found = [rows.version(connection, world.conversation, name, item.version) for item in entries]
        return [(item.update_type, item.content) for item in found]

    return await world.database.read(read)


async def test_what_a_graph_writes_are_versions_of_the_conversation(world: World) -> None:
    graph(
        world,
        """
        async def work(self, state):
            manager = self._manager
            session = manager.current_session_id
            manager.set_session(session)
            made = await manager.create_artifact(session, "report", "text/markdown", "Report", "# One")
            again = await manager.create_artifact(session, "report", "markdown", "Report", "# One")
            changed = await manager.update_artifact(session, "report", "One", "Two")
            spaced = await manager.update_artifact(session, "report", "#  Two", "# Three")
            missing = await manager.update_artifact(session, "report", "absent", "x")
            written = await manager.rewrite_artifact(session, "report", "# Four")
            unknown = await manager.rewrite_artifact(session, "nothing", "x")
            code = await manager.create_artifact(session, "main", "python", "Main", "pass", {"a": 1})
            read = await manager.read_artifact("another", "report")
            first = await manager.read_artifact(session, "report", version=1)
            absent = await manager.read_artifact(session, "nothing")
            listed = await manager.list_artifacts(session, include_content=True)
            oks = [item[0] for item in (made, again, changed, spaced, missing, written, unknown, code)]
            return done(oks, changed[2], spaced[2], missing[2], read, first["content"], absent, listed)
        """,
    )
    said = await world.say("go")
    assert said.finished
    ones = [("create", "# One"), ("update", "# Two"), ("update_fuzzy", "# Three"), ("rewrite", "# Four")]
    assert await versions(world) == ones
    report = {"id": "report", "title": "Report", "content_type": "markdown", "version": 4}
    main = {"id": "main", "title": "Main", "content_type": "code", "version": 1}
    assert said.text == "; ".join(
        map(
            str,
            [
                [True, False, True, True, False, True, False, True],
                {"match_type": "exact"},
                {"match_type": "fuzzy"},
                None,
                {**report, "update_type": "rewrite", "content": "# Four"},
                "# One",
                None,
                [report, main],
            ],
        )
    )
    assert [(item.id, item.version) for item in said.of(ev.ArtifactChanged)] == [
        *(("report", number) for number in range(1, 5)),
        ("main", 1),
    ]
    assert len(said.of(ev.ToolStarted)) == len(said.of(ev.ToolFinished)) == 8
    row = await world.checked(said.turn)
    assert [message.role for message in row.messages or ()] == ["assistant"]


APPENDS = """
async def work(self, state):
    await self._manager.create_artifact("s", "report", "text", "Report", "end")
    for number in range(3):
        await self._manager.update_artifact("s", "report", "end", "a end")
    {then}
    await self._manager.rewrite_artifact("s", "report", "all")
    return done("done")
"""


async def test_a_node_that_runs_again_writes_once(hasty: World) -> None:
    """Also what it writes several times."""
    hang = f'if not os.path.exists("{hasty.trace}"): leave("hangs"); await asyncio.sleep(60)'
    graph(hasty, APPENDS.format(then=hang))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.ArtifactChanged, 4)
    await lose(hasty)
    assert (await hasty.segment(turn)).finished
    made = ["end", "a end", "a a end", "a a a end", "all"]
    assert [content for _, content in await versions(hasty)] == made


async def test_a_node_that_asks_after_it_has_written_writes_once(world: World) -> None:
    ask = 'interrupt({"type": "tool_permission", "tool": "web_fetch", "params": {}})'
    graph(world, APPENDS.format(then=ask))
    assert (await world.resume(await world.say("go"), YES)).finished
    assert len(await versions(world)) == 5
    # Another turn is other calls.
    said = await world.resume(await world.say("again"), YES)
    assert [item.version for item in said.of(ev.ArtifactChanged)] == [6]


async def test_each_conversation_has_its_own(world: World) -> None:
    graph(
        world,
        """
        async def work(self, state):
            made = await self._manager.create_artifact("s", "report", "text", "Report", "x")
            return done(made[0], len(await self._manager.list_artifacts("s")))
        """,
    )
    assert (await world.say("go")).text == "True; 1"
    await world.begin(user="bob")
    assert (await world.say("go")).text == "True; 1"


async def test_the_manager_says_where_it_can_be_used(world: World) -> None:
    graph(
        world,
        """
        async def work(self, state):
            said = []

            def elsewhere():
                try:
                    asyncio.run(self._manager.create_artifact("s", "report", "text", "Report", "x"))
                except RuntimeError as error:
                    said.append(str(error))

            thread = threading.Thread(target=elsewhere)
            thread.start()
            await asyncio.to_thread(thread.join)
            await asyncio.to_thread(elsewhere)
            return done(*said)
        """,
    )
    said = await world.say("go")
    assert said.text == (
        "the artifacts of a conversation are there only while a graph works in it;"
        " another event loop runs here: await this in a graph's node that is async"
    )
