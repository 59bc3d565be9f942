"""The engine: what a token costs from the model to the committed event, and a turn in a long conversation.

The baseline is bare LangGraph with its own saver for SQLite, in the same process and with the same model.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from sqlalchemy import Connection

from bench import places
from bench.langchain_parrot import LangChainParrot
from bench.measure import Line, Table, on_loop, spent
from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import standard
from caesura.core import events as ev
from caesura.core import ids
from caesura.core.messages import Message
from caesura.engine.engine import Engine
from caesura.log import Log
from caesura.store import conversations, life, users
from caesura.store.open import open_database

TOKEN_GOAL = 0.6
GROWTH_GOAL = 1.2
PLACES = (10, 100, 1000, 3000)
_TOKENS = 50
_AGENT = """
apiVersion: caesura/v1
kind: Agent
metadata: {{name: parrot}}
spec:
  tools: []
  model: {{class: 'bench.parrot:Parrot', options: {{tokens: {tokens}}}}}
"""


def run(quick: bool) -> Iterator[Table]:
    yield on_loop(_tokens(quick))
    yield from on_loop(_turns(quick))


class Ours:
    """An engine over SQLite."""

    def __init__(self, engine: Engine, log: Log, database: Any, catalog: Catalog, agent: Path) -> None:
        self._engine, self._log, self._database = engine, log, database
        self._catalog, self._agent = catalog, agent

    def speak(self, tokens: int) -> None:
        """From now on each answer has so many tokens."""
        self._agent.write_text(_AGENT.format(tokens=tokens))
        self._catalog.refresh()

    async def conversation(self, messages: int = 0) -> str:
        """A new one, with so many messages."""
        name = ids.conversation()
        await self._database.write(_fill, name, messages // 2)
        return name

    async def answer(self, conversation: str) -> None:
        """One turn, until its last event is committed and read."""
        supervisor = self._engine.supervisor
        new = life.New(conversation, "go", owner=supervisor.owner, lease_ms=supervisor.lease_ms)
        turn = await self._database.write(life.create, new)
        supervisor.run(turn)
        async with aclosing(self._log.follow(turn.num)) as batches:
            async for batch in batches:
                if isinstance(batch[-1].event, ev.SegmentEnded):
                    break
        await supervisor.join(turn.num)


@asynccontextmanager
async def ours() -> AsyncIterator[Ours]:
    with places.sqlite() as url, TemporaryDirectory() as folder:
        agent = Path(folder) / "parrot.yaml"
        agent.write_text(_AGENT.format(tokens=1))
        database = await open_database(url)
        log, registry = Log(database), standard()
        catalog = Catalog(Path(folder), registry.names, builtin=None)
        assert not catalog.faults, catalog.faults
        engine = Engine(
            database,
            log,
            catalog,
            registry,
            workspaces=Path(folder) / "workspaces",
            default_model="demo",
            environ={},
        )
        await database.write(users.create, "alice", "hash")
        engine.start()
        yield Ours(engine, log, database, catalog, agent)
        await engine.drain()
        await log.close()
        await database.close()


def _fill(connection: Connection, name: str, count: int) -> None:
    conversations.create(connection, name, "alice", "parrot")
    for number in range(count):
        turn = life.create(connection, life.New(name, f"question {number}", owner="past", lease_ms=0))
        said = [Message("assistant", f"answer {number}, as long as an answer may be", agent="parrot")]
        life.settle(connection, [life.Settled(turn, "done", said, 1, released=True)])


class Bare:
    """LangGraph by itself."""

    def __init__(self, saver: AsyncSqliteSaver, tokens: int) -> None:
        self._graph: Any = create_agent(LangChainParrot(tokens=tokens), [], checkpointer=saver)

    async def conversation(self, messages: int = 0) -> str:
        name = ids.conversation()
        if messages:
            said: list[BaseMessage] = []
            for number in range(messages // 2):
                said += [
                    HumanMessage(f"question {number}"),
                    AIMessage(f"answer {number}, as long as one may be"),
                ]
            await self._graph.aupdate_state(_thread(name), {"messages": said})
        return name

    async def answer(self, conversation: str) -> None:
        given = {"messages": [HumanMessage("go")]}
        async for _ in self._graph.astream(given, _thread(conversation), stream_mode="messages"):
            pass


def _thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


@asynccontextmanager
async def bare(tokens: int) -> AsyncIterator[Bare]:
    with places.sqlite() as url:
        async with AsyncSqliteSaver.from_conn_string(url.removeprefix("sqlite:///")) as saver:
            yield Bare(saver, tokens)


async def _tokens(quick: bool) -> Table:
    table = Table(
        "engine, a token from the model to its committed event; baseline: graph.astream + AsyncSqliteSaver"
    )
    for streams, tokens in ((1, 8000), (20, 500)):
        async with ours() as engine, bare(tokens) as graph:
            engine.speak(tokens)
            # In turn, and the least of each: whatever else the machine does only ever adds to it.
            found = [
                (await _per_token(engine, streams, tokens), await _per_token(graph, streams, tokens))
                for _ in range(3 if quick else 7)
            ]
        mine, theirs = (min(side) for side in zip(*found, strict=True))
        what = f"CPU per token, {streams} stream{'s' * (streams > 1)} of {tokens:,}"
        table.lines.append(Line(what, mine, theirs, "µs", goal_ratio=TOKEN_GOAL))
    return table


async def _per_token(side: Ours | Bare, streams: int, tokens: int) -> float:
    async def all_at_once() -> None:
        # Not the first turn: that one makes a title, which the baseline does not.
        names = [await side.conversation(2) for _ in range(streams)]
        await asyncio.gather(*(side.answer(name) for name in names))

    return (await spent(all_at_once())).cpu / (streams * tokens) * 1e6


class Cost(NamedTuple):
    cpu: float
    written: float


async def _turns(quick: bool) -> list[Table]:
    costs: dict[str, dict[int, Cost]] = {"ours": {}, "bare": {}}
    async with ours() as engine, bare(_TOKENS) as graph:
        engine.speak(_TOKENS)
        for place in PLACES:
            times = 6 if quick else 20
            costs["ours"][place] = await _of_a_turn(engine, place, times)
            costs["bare"][place] = await _of_a_turn(graph, place, max(times // 4, 3))
    return [
        _shown(costs, "cpu", "CPU of a turn", "ms"),
        _shown(costs, "written", "bytes written by a turn", "kB"),
    ]


async def _of_a_turn(side: Ours | Bare, place: int, times: int) -> Cost:
    """The median of turns from this message on; the first one is left out, it reads the past."""
    name = await side.conversation(place)
    await side.answer(name)
    found = [await _once(lambda: side.answer(name)) for _ in range(times)]
    return Cost(
        statistics.median(cost.cpu for cost in found) * 1e3,
        statistics.median(cost.written for cost in found) / 1e3,
    )


async def _once(work: Callable[[], Awaitable[None]]) -> Cost:
    before = _written()
    cpu = (await spent(work())).cpu
    return Cost(cpu, _written() - before)


def _written() -> int:
    """The bytes this process has given to the system to write."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar:")))


def _shown(costs: dict[str, dict[int, Cost]], column: str, what: str, unit: str) -> Table:
    table = Table(f"engine, {what} of {_TOKENS} tokens; baseline: graph.astream + AsyncSqliteSaver")
    mine = {place: getattr(cost, column) for place, cost in costs["ours"].items()}
    theirs = {place: getattr(cost, column) for place, cost in costs["bare"].items()}
    for place in PLACES:
        table.lines.append(Line(f"at message {place:,}", mine[place], theirs[place], unit))
    growth = mine[PLACES[-1]] / mine[PLACES[0]]
    grown = theirs[PLACES[-1]] / theirs[PLACES[0]]
    table.lines.append(Line("growth from first to last", growth, grown, "x", goal=GROWTH_GOAL))
    return table
