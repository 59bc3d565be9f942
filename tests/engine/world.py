"""An engine with everything that it needs, and a simulated person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select

from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import Registry, standard
from caesura.core import events as ev
from caesura.core import ids
from caesura.core.answers import Answer
from caesura.core.fold import Transcript, fold
from caesura.core.interrupts import Interrupt
from caesura.core.turns import Turn
from caesura.engine.engine import Engine
from caesura.engine.limits import Limits
from caesura.engine.workspaces import Workspaces
from caesura.log import Log
from caesura.service.agents import Agents
from caesura.service.conversations import Refused
from caesura.service.locks import PersonLocks
from caesura.service.presence import Presence
from caesura.service.service import Service
from caesura.service.turns import Message, Turns
from caesura.store import conversations, life, schema, turns, users
from caesura.store.database import Database
from caesura.store.shares import UNBOUNDED, Share
from tests import agent_files
from tests.engine import tools
from tests.engine.grammar import check
from tests.openai_server import Desk

PATIENCE = 60.0
QUICK = Limits(backoff=0.01, title=1.0, tool=5.0)
YES = Answer("approve")
NO = Answer("reject")
KEY = {"TEST_KEY": "secret-key"}
STANDARD = standard()

E = TypeVar("E", bound=ev.Event)
K = TypeVar("K", bound=Interrupt)


class World:
    """`say` and `answer` are what a person does; `segment` is what they then read."""

    def __init__(self, database: Database, folder: Path, desk: Desk, limits: Limits, lease: float) -> None:
        self.database, self.folder, self.desk = database, folder, desk
        self.limits, self.lease = limits, lease
        self.environ: Mapping[str, str] = KEY
        self.replaced_models: Mapping[str, str] = {}
        self.agents = folder / "agents"
        self.agents.mkdir(exist_ok=True)
        self.trace = folder / "trace.txt"
        self.workspaces = folder / "workspaces"
        self.log = Log(database, poll=0.2)
        self.catalog = Catalog(self.agents, self.registry().names, interval=0)
        self.offered = Agents(self.catalog, "tester")
        self.engine = self.new_engine()
        self.user = "alice"
        self.conversation = ""
        self._cursors: dict[int, int] = {}

    def registry(self) -> Registry:
        return STANDARD.extended(tools.tools(self.trace))

    def new_engine(self, log: Log | None = None) -> Engine:
        return Engine(
            self.database,
            log or self.log,
            self.catalog,
            self.registry(),
            workspaces=self.workspaces,
            default_model="demo",
            environ=self.environ,
            replaced_models=self.replaced_models,
            limits=self.limits,
            lease=self.lease,
            poll=0.2,
        )

    def agent(self, spec: str = "", name: str = "tester", model: str = "openai:test") -> None:
        """Put an agent's file into the folder. Its model is the test's own unless `spec` names another."""
        text = dedent(spec)
        if "model:" not in text:
            text += dedent(
                f"""
                model:
                  primary: {model}
                  base_url: {self.desk.base_url}
                  api_key_env: TEST_KEY
                """
            )
        agent_files.put(self.agents, name, text)

    def load_anew(self) -> None:
        """Act as if the engine's process had been started with the code that is in the folder now."""
        agent_files.forget()
        self.catalog._readings.clear()
        self.engine._builder._compiled.clear()
        self.engine._builder._earlier.clear()
        self.catalog.refresh()

    async def begin(self, agent: str = "tester", user: str = "alice") -> str:
        """A new conversation."""
        self.user = user
        await self.database.write(_person, user)
        self.conversation = ids.conversation()
        await self.database.write(conversations.create, self.conversation, user, agent)
        return self.conversation

    async def send(self, text: str, parent: Any = ..., engine: Engine | None = None) -> Turn:
        """Send a message, and start its turn."""
        if not self.conversation:
            await self.begin()
        return await self.turns(engine).send(self.user, self.conversation, Message(text, parent))

    async def say(self, text: str, parent: Any = ...) -> Said:
        """Send a message, and read its segment."""
        turn = await self.send(text, parent)
        return await self.segment(turn)

    async def answer(self, turn: Turn, answers: Mapping[str, Answer]) -> bool:
        """Answer these. True when nothing is left open: then the turn goes on."""
        answered = await self.turns().answer(self.user, answers)
        return answered.turn.status != "waiting"

    async def close(self, turn: Turn, reason: ev.StopReason = "user") -> Said:
        """Stop a waiting turn, and read its segment."""
        assert await self.database.write(life.request_stop, turn.num, reason)
        self.engine.supervisor.nudge()
        return await self.segment(turn)

    async def retry(self, turn: Turn) -> Said:
        """Retry a turn that ended, and read its segment."""
        await self.database.write(life.reopen, turn.id)
        self.engine.supervisor.nudge()
        return await self.segment(turn)

    def turns(self, engine: Engine | None = None) -> Turns:
        """What a person may ask of the turns, as the server has it."""
        presence = Presence(PATIENCE, lambda _: None)
        locks = PersonLocks(self.database.shared)
        return Turns(self.database, engine or self.engine, self.offered, presence, locks)

    def service(self, share: Share = UNBOUNDED, refused: Refused = lambda error: None) -> Service:
        """What a person may ask of the server as a whole."""
        return Service(
            self.database,
            self.log,
            self.engine,
            self.offered,
            Workspaces(self.workspaces),
            disconnect_grace=PATIENCE,
            share=share,
            refused=refused,
        )

    async def resume(self, said: Said, *answers: Answer) -> Said:
        """Answer all waiting interrupts in order (the last answer is used for all others), and read the next
        segment."""
        given = {item.id: answers[min(place, len(answers) - 1)] for place, item in enumerate(said.interrupts)}
        assert await self.answer(said.turn, given)
        return await self.segment(said.turn)

    async def segment(self, turn: Turn) -> Said:
        """The events of a turn from the last event that was read to the end of the segment."""
        found: list[ev.Envelope] = []
        after = self._cursors.get(turn.num, 0)
        async with asyncio.timeout(PATIENCE), aclosing(self.log.follow(turn.num, after)) as batches:
            async for batch in batches:
                for item in batch:
                    found.append(item)
                    if isinstance(item.event, ev.SegmentEnded):
                        self._cursors[turn.num] = item.seq
                        await self.settled(turn)
                        return Said(turn, [item.event for item in found], await self.row(turn))
        raise AssertionError("the log ended")

    async def until(self, turn: Turn, kind: type[E], number: int = 1) -> E:
        """Wait for the n-th event of a kind since the last segment that was read."""
        after = self._cursors.get(turn.num, 0)
        async with asyncio.timeout(PATIENCE), aclosing(self.log.follow(turn.num, after)) as batches:
            async for batch in batches:
                for item in batch:
                    if isinstance(item.event, kind):
                        number -= 1
                        if number == 0:
                            return item.event
        raise AssertionError("the log ended")

    async def settled(self, turn: Turn) -> None:
        """Wait until the turn has no owner, or another run continues it."""
        async with asyncio.timeout(PATIENCE):
            while (row := await self.row(turn)).owner is not None and row.epoch == turn.epoch:  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def row(self, turn: Turn) -> Turn:
        return await self.database.read(turns.get, turn.id)

    async def events(self, turn: Turn) -> list[ev.Event]:
        """The whole log of a turn, checked against the grammar."""
        envelopes = await self.log.read(turn.num, 0, 1 << 30)
        assert [item.seq for item in envelopes] == list(range(1, len(envelopes) + 1))
        events = [item.event for item in envelopes]
        check(events)
        return events

    async def transcript(self, turn: Turn) -> Transcript:
        return fold(await self.events(turn))

    async def checked(self, turn: Turn) -> Turn:
        """The row of an ended turn, which must say what its log says."""
        row, transcript = await self.row(turn), await self.transcript(turn)
        assert row.ended
        assert not transcript.open
        assert row.messages == transcript.closed()
        return row

    def traces(self) -> list[str]:
        """The traces of the tools, one for each effect."""
        return self.trace.read_text().splitlines() if self.trace.exists() else []


class Said:
    """One segment, as a reader got it."""

    def __init__(self, turn: Turn, events: list[ev.Event], row: Turn) -> None:
        self.turn, self.events, self.row = turn, events, row

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.of(ev.TextDelta))

    @property
    def thought(self) -> str:
        return "".join(event.text for event in self.of(ev.ReasoningDelta))

    @property
    def outcome(self) -> ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped:
        found = [
            e for e in self.events if isinstance(e, ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped)
        ]
        assert len(found) == 1
        return found[0]

    @property
    def interrupts(self) -> tuple[Interrupt, ...]:
        assert isinstance(self.outcome, ev.Interrupted), self.outcome
        return self.outcome.interrupts

    def waiting(self, kind: type[K]) -> list[K]:
        """The interrupts, which must all be of this kind."""
        items: list[K] = [item for item in self.interrupts if isinstance(item, kind)]
        assert len(items) == len(self.interrupts)
        return items

    @property
    def failure(self) -> ev.Failed:
        assert isinstance(self.outcome, ev.Failed), self.outcome
        return self.outcome

    @property
    def finished(self) -> bool:
        return isinstance(self.outcome, ev.Finished)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def results(self) -> list[tuple[str, str, str]]:
        """The results of the tool calls: name, output, status."""
        return [(event.name, event.output, event.status) for event in self.of(ev.ToolFinished)]


@asynccontextmanager
async def world_over(
    database: Database, folder: Path, desk: Desk, limits: Limits = QUICK, lease: float = 5.0
) -> AsyncIterator[World]:
    world = World(database, folder, desk, limits, lease)
    world.engine.start()
    try:
        yield world
    finally:
        await world.engine.drain(0.5)
        await world.log.close()


def limits(**bounds: Any) -> Limits:
    return replace(QUICK, **bounds)


def checkpoint_count(connection: Connection) -> int:
    tables = (schema.checkpoints, schema.checkpoint_writes)
    return sum(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)


def roles(messages: Sequence[Any] | None) -> list[str]:
    return [message.role for message in messages or ()]


def _person(connection: Any, name: str) -> None:
    if users.get(connection, name) is None:
        users.create(connection, name, "hash")
