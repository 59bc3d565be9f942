"""A process with a whole engine and a simulated person, to be killed at any commit.

As a program it imports everything, lives once itself and keeps nothing open. It forks a child for each line
of JSON on its input, and answers with how the child ended.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, assert_never

from sqlalchemy import Connection, NullPool, create_engine, func, make_url, select, update
from sqlalchemy import Engine as SqlEngine

from caesura.agents.loader import Catalog
from caesura.agents.tools import artifacts
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.tool import Tool
from caesura.core.answers import Answer
from caesura.core.errors import AlreadyAnswered, NotFound, NothingPending, Unavailable
from caesura.core.interrupts import Approval, Confirmation, GraphRequest, Interrupt, Questions
from caesura.core.turns import Turn
from caesura.engine.engine import Engine
from caesura.engine.limits import Limits
from caesura.log import Log
from caesura.store import conversations, interrupts, life, postgres, schema, turns, users
from caesura.store.database import Database
from caesura.store.open import open_database
from tests.chaos.engine_agents import deadly, write_agents
from tests.chaos.kinds import Kinds
from tests.chaos.process import Program, wait_for
from tests.conformance.rows import turns_of
from tests.engine.tools import tools

USER = "alice"
CONVERSATION = "conv-1"
#: Seconds after which a child counts as hung.
PATIENCE = 60


@dataclass(frozen=True)
class Orders:
    """The orders of a child: bring the conversation's turn to its end, unless it is killed before."""

    url: str
    folder: str
    agent: str
    #: Die right after the commit with this number, before anybody is notified; 0 is never.
    commit: int = 0
    #: Die right after the first commit of this kind.
    kind: str = ""
    #: Die at the first commit after which the log of a turn has this many events; 0 is never.
    events: int = 0
    #: Die inside this tool, right after its effect.
    tool: str = ""
    #: The person's answer when the outcome of a call is unknown.
    unknown: str = "approve"
    #: The person's messages to the agent, in order.
    messages: tuple[str, ...] = ("go",)
    lease: float = 60.0
    #: Whether the conversation already has a title. Making one runs concurrently, so its commits vary.
    titled: bool = True
    #: Whether earlier owners are known to be dead; otherwise their leases have to expire.
    alone: bool = True
    poll: float = 60.0
    #: Whether to tell how long the log was after each commit.
    told: bool = False

    @property
    def counts(self) -> bool:
        return self.told or self.events > 0


class Commit(NamedTuple):
    """`events` is the length of the log after it, if the orders ask for it."""

    kind: str
    events: int


class Reaper:
    """Counts commits, and ends the process at one of them, once it is armed."""

    def __init__(self, orders: Orders) -> None:
        self.commits: list[Commit] = []
        self.armed = False
        self._orders = orders
        self._rows = rows_of(orders.url, isolation_level="AUTOCOMMIT")
        self._kinds = Kinds()

    def __call__(self) -> None:
        kind = self._kinds.take()
        if self.armed:
            self.commits.append(Commit(kind, self._length() if self._orders.counts else 0))
            if self._due():
                os.kill(os.getpid(), signal.SIGKILL)

    def _due(self) -> bool:
        orders, last = self._orders, self.commits[-1]
        return (
            len(self.commits) == orders.commit
            or bool(orders.kind and last.kind == orders.kind)
            or bool(orders.events and last.events >= orders.events)
        )

    def _length(self) -> int:
        with self._rows.connect() as connection:
            return connection.execute(select(func.max(schema.events.c.last))).scalar() or 0


def rows_of(url: str, **options: Any) -> SqlEngine:
    """For a look at the rows of a database that others may use."""
    target = make_url(url)
    if target.get_backend_name() == "postgresql":
        return postgres.engine(target, **options)
    return create_engine(target, poolclass=NullPool, **options)


@cache
def _artifact_tools() -> list[Tool]:
    """Made once, for all children: their schemas take a third of the processor time of a short life."""
    return artifacts.tools()


def engine_in(database: Database, orders: Orders) -> tuple[Engine, Log]:
    folder = Path(orders.folder)
    write_agents(folder / "agents", orders.agent)
    trace = folder / "trace.txt"
    registry = Registry([*tools(trace), *deadly(trace, orders.tool), *_artifact_tools()])
    log = Log(database)
    engine = Engine(
        database,
        log,
        Catalog(folder / "agents", registry.names, builtin=None),
        registry,
        workspaces=folder / "workspaces",
        default_model="demo",
        environ={},
        limits=Limits(backoff=0.01, title=2.0),
        lease=orders.lease,
        poll=orders.poll,
    )
    return engine, log


async def live(orders: Orders) -> list[Commit]:
    """Open the database, adopt the turn, send the remaining messages and answer the questions. Returns the
    commits."""
    reaper = Reaper(orders)
    database = await open_database(orders.url, after_commit=reaper)
    await database.write(_settle_in, orders)
    engine, log = engine_in(database, orders)
    reaper.armed = True
    engine.start()
    for place, message in enumerate(orders.messages):
        turn = await _turn(database, engine, place, message)
        await _see_through(database, engine, turn, orders.unknown)
    commits = list(reaper.commits)
    await engine.drain()
    await log.close()
    await database.close()
    return commits


async def _turn(database: Database, engine: Engine, place: int, message: str) -> Turn:
    known = await database.read(turns_of, CONVERSATION)
    if place < len(known):
        return known[place]
    supervisor = engine.supervisor
    new = life.New(CONVERSATION, message, owner=supervisor.owner, lease_ms=supervisor.lease_ms)
    turn = await database.write(life.create, new)
    supervisor.run(turn)
    return turn


async def _see_through(database: Database, engine: Engine, turn: Turn, unknown: str) -> None:
    while not ((row := await _row(database, turn)).ended and row.owner is None):
        if row.status == "waiting" and (asked := await database.read(interrupts.pending, turn.num)):
            answers = {item.interrupt.id: answer_to(item.interrupt, unknown) for item in asked}
            with suppress(AlreadyAnswered, NothingPending):
                await database.write(life.answer, USER, answers)
            engine.supervisor.hurry(row)
            engine.supervisor.nudge()
        await asyncio.sleep(0.003)


async def _row(database: Database, turn: Turn) -> Turn:
    try:
        return await database.read(turns.get, turn.id)
    except Unavailable:  # the connections were closed while the process slept
        return await database.read(turns.get, turn.id)


def answer_to(item: Interrupt, unknown: str = "approve") -> Answer:
    """The answer of the simulated person."""
    match item:
        case Approval():
            return Answer("reject") if item.unknown and unknown == "reject" else Answer("approve")
        case Questions():
            return Answer("answers", answers=tuple(q.options[0].value for q in item.questions))
        case Confirmation():
            return Answer("fields", fields={field.name: True for field in item.fields})
        case GraphRequest():
            return Answer("value", value="yes")
        case unreachable:
            assert_never(unreachable)


def _settle_in(connection: Connection, orders: Orders) -> None:
    """Create the person and the conversation, once, and expire the leases of dead owners."""
    if users.get(connection, USER) is None:
        users.create(connection, USER, "hash")
    try:
        conversations.find(connection, CONVERSATION)
    except NotFound:
        conversations.create(connection, CONVERSATION, USER, orders.agent)
        if orders.titled:
            conversations.set_title(connection, CONVERSATION, "A title")
    if orders.alone:
        held = schema.turns.c.owner.is_not(None)
        connection.execute(update(schema.turns).where(held).values(lease_until=0))


class Lives(Program):
    """The tests' end of the program: children on demand."""

    def __init__(self) -> None:
        super().__init__("tests.chaos.engine_life")
        self._alive: set[int] = set()

    def run(self, orders: Orders) -> list[Commit] | None:
        """The commits of a child that finished; None when it was killed as ordered."""
        return self.end(self.start(orders))

    def start(self, orders: Orders) -> int:
        """The process id of a new child."""
        pid = self.ask({"orders": asdict(orders)})
        assert isinstance(pid, int)
        self._alive.add(pid)
        return pid

    def end(self, pid: int) -> list[Commit] | None:
        """Wait for a child; returns the same as `run`."""
        wait_for(pid)
        answer = self.ask({"pid": pid})
        self._alive.discard(pid)
        if answer["said"] is None:
            assert answer["status"] == -signal.SIGKILL, answer
            return None
        assert isinstance(answer["said"], list), answer["said"]
        return [Commit(*commit) for commit in answer["said"]]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pid in self._alive:
            os.kill(pid, signal.SIGKILL)
        super().__exit__(kind, error, trace)


def _child(orders: Orders, out: int) -> None:
    signal.alarm(PATIENCE)
    logging.disable()
    said: Any
    try:
        said = asyncio.run(live(orders))
    except Exception:  # noqa: BLE001 - whatever it is, the test wants to know
        said = traceback.format_exc()
    os.write(out, json.dumps(said).encode())


class _Children:
    """The program's side: forks children and waits for them."""

    def __init__(self) -> None:
        self._pipes: dict[int, int] = {}

    def do(self, what: dict[str, Any]) -> Any:
        if "pid" in what:
            return self._wait(what["pid"])
        return self._fork(Orders(**{**what["orders"], "messages": tuple(what["orders"]["messages"])}))

    def _fork(self, orders: Orders) -> int:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reading)
                _child(orders, writing)
            finally:
                os._exit(0)
        os.close(writing)
        self._pipes[child] = reading
        return child

    def _wait(self, child: int) -> dict[str, Any]:
        with os.fdopen(self._pipes.pop(child)) as lines:
            said = lines.read()
        _, status = os.waitpid(child, 0)
        return {"said": json.loads(said) if said else None, "status": os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    import langgraph.prebuilt  # noqa: F401 - once, for all children

    import caesura.engine.graphs.drive
    import caesura.store.postgres  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:  # what is made on first use is made once, for all children
        asyncio.run(live(Orders(f"sqlite:///{folder}/caesura.db", folder, "tools")))
    gc.freeze()  # so that no child copies pages just to look for garbage there
    children = _Children()
    for line in sys.stdin:
        print(json.dumps(children.do(json.loads(line))), flush=True)
