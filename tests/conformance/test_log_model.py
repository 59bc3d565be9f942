"""The log compared with a model that is a plain list, for random sequences of operations."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule, run_state_machine_as_test
from sqlalchemy import Connection

from caesura.core.errors import Fenced
from caesura.core.events import Envelope, Event, Finished, TextDelta, ToolStarted
from caesura.log import WINDOW, Log, Stream
from caesura.store import life, users
from caesura.store.database import Database
from caesura.store.open import open_database
from tests.conformance.rows import make_turn
from tests.effort import examples
from tests.log.reading import stored

T = TypeVar("T")
SETTINGS = settings(
    max_examples=examples(16, 100),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
_names = count()
_kinds: list[Callable[[str], Event]] = [
    lambda text: TextDelta(1, text),
    lambda text: ToolStarted(text, "look", {"n": [text]}, "demo"),
    lambda text: Finished(),
]
_events = st.builds(lambda make, text: make(text), st.sampled_from(_kinds), st.text(max_size=5))
_runs = st.lists(_events, max_size=4)


class Refused(Exception):
    """Raised by an `also`."""


@dataclass(eq=False)
class Written:
    """What is known of a turn: `sure` is on disk. Some prefix of `maybe` is on disk or will be."""

    num: int
    stream: Stream
    epoch: int = 1
    sure: list[Event] = field(default_factory=list)
    maybe: list[Event] = field(default_factory=list)
    old: list[Stream] = field(default_factory=list)


@dataclass(eq=False)
class Reader:
    turn: Written
    pieces: AsyncGenerator[list[Envelope], None]
    seen: int
    waiting: asyncio.Task[list[Envelope]] | None = None


class LogModel(RuleBasedStateMachine):
    made = Bundle("made")
    readers = Bundle("readers")

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self.runner = runner
        self.database = database
        # On a shared database there are two logs, and the second gets no wake-ups.
        self.logs = [Log(database, poll=0.005) for _ in range(2 if database.shared else 1)]
        self.open: list[Reader] = []

    @rule(target=made)
    def make(self) -> Written:
        turn = self._run(make_turn(self.database, lease_ms=-1))
        return Written(turn.num, self._run(self._log(1).open(turn.num, 1)))

    @rule(turn=made, event=_events)
    def put(self, turn: Written, event: Event) -> None:
        self._run(_put(turn.stream, event))
        turn.maybe.append(event)

    @rule()
    def breathe(self) -> None:
        self._run(asyncio.sleep(0.001))

    @rule(turn=made, events=_runs, durable=st.booleans())
    def commit(self, turn: Written, events: list[Event], durable: bool) -> None:
        self._run(turn.stream.commit(*events, durable=durable))
        turn.sure += [*turn.maybe, *events]
        turn.maybe = []

    @rule(turn=made, events=_runs)
    def commit_with(self, turn: Written, events: list[Event]) -> None:
        name = f"guest-{next(_names)}"
        assert self._run(turn.stream.commit(*events, also=_create(name))) == name
        assert self._run(self.database.read(users.get, name)) is not None
        turn.sure += [*turn.maybe, *events]
        turn.maybe = []

    @rule(turn=made, events=_runs)
    def commit_in_vain(self, turn: Written, events: list[Event]) -> None:
        name = f"guest-{next(_names)}"
        with pytest.raises(Refused):
            self._run(turn.stream.commit(*events, also=_refuse(name)))
        assert self._run(self.database.read(users.get, name)) is None
        self._settle(turn, may_lose=False)

    @rule(
        several=st.lists(
            st.tuples(made, _events, st.booleans()), max_size=5, unique_by=lambda one: id(one[0])
        )
    )
    def commit_at_once(self, several: list[tuple[Written, Event, bool]]) -> None:
        async def all_of_them() -> list[Any]:
            commits = (t.stream.commit(e, also=_refuse("nobody") if bad else None) for t, e, bad in several)
            return await asyncio.gather(*commits, return_exceptions=True)

        outcomes = self._run(all_of_them())
        for (turn, event, bad), outcome in zip(several, outcomes, strict=True):
            if bad:
                assert isinstance(outcome, Refused)
                self._settle(turn, may_lose=False)
            else:
                assert outcome is None
                turn.sure += [*turn.maybe, event]
                turn.maybe = []

    @rule(turn=made)
    def take_over(self, turn: Written) -> None:
        claimed = self._run(self.database.write(life.claim, turn.num, f"node-{turn.epoch + 1}", -1))
        assert claimed is not None
        assert claimed.epoch == turn.epoch + 1
        turn.old.append(turn.stream)
        turn.epoch = claimed.epoch
        self._settle(turn)
        turn.stream = self._run(self._log(turn.epoch).open(turn.num, turn.epoch))
        assert turn.stream.last == len(turn.sure)

    @rule(turn=made, event=_events)
    def write_as_an_old_owner(self, turn: Written, event: Event) -> None:
        for stream in turn.old:
            with pytest.raises(Fenced):
                self._run(stream.commit(event, also=_refuse("nobody")))
            with pytest.raises(Fenced):
                stream.put(event)

    @rule(turn=made, event=_events)
    def put_as_an_old_owner(self, turn: Written, event: Event) -> None:
        for stream in turn.old:
            with suppress(Fenced):  # the error may come at any step of the loop
                self._run(_put(stream, event))

    @rule(turn=made)
    def pack(self, turn: Written) -> None:
        self._run(turn.stream.commit())
        self._run(self._log(turn.epoch).pack(turn.num, turn.epoch))
        turn.sure += turn.maybe
        turn.maybe = []

    @rule(turn=made, after=st.integers(0, 30), limit=st.integers(1, 10))
    def read(self, turn: Written, after: int, limit: int) -> None:
        found = self._run(self.logs[-1].read(turn.num, after, limit))
        self._assert_next(turn, after, found)
        assert len(found) >= min(limit, len(turn.sure) - after)

    @rule(target=readers, turn=made, back=st.integers(0, 30), log=st.integers(0, 1))
    def come(self, turn: Written, back: int, log: int) -> Reader:
        seen = max(0, len(turn.sure) - back)
        reader = Reader(turn, self.logs[log % len(self.logs)].follow(turn.num, seen), seen)
        self.open.append(reader)
        return reader

    @rule(reader=readers)
    def take(self, reader: Reader) -> None:
        if reader.waiting is None:
            reader.waiting = self.runner.get_loop().create_task(_next(reader.pieces))
        if len(reader.turn.sure) > reader.seen:
            found = self._run(asyncio.wait_for(reader.waiting, 60))
            reader.waiting = None
            assert found
            assert len(found) <= WINDOW
            self._assert_next(reader.turn, reader.seen, found)
            reader.seen = found[-1].seq

    @rule(reader=consumes(readers))
    def leave(self, reader: Reader) -> None:
        self.open.remove(reader)
        self._run(_leave(reader))

    def teardown(self) -> None:
        for reader in self.open:
            if len(reader.turn.sure) > reader.seen:
                self.take(reader)
            self._run(_leave(reader))
        for log in self.logs:
            assert not log._tails
            self._run(log.close())

    def _assert_next(self, turn: Written, after: int, found: list[Envelope]) -> None:
        assert [item.seq for item in found] == list(range(after + 1, after + 1 + len(found)))
        known = [*turn.sure, *turn.maybe]
        assert [item.event for item in found] == known[after : after + len(found)]

    def _settle(self, turn: Written, may_lose: bool = True) -> None:
        """Some prefix of the pending events is on disk. The rest, if any may be lost, never will be."""
        found = self._run(stored(self.logs[-1], turn.num))
        self._assert_next(turn, 0, found)
        assert len(found) >= len(turn.sure) + (0 if may_lose else len(turn.maybe))
        turn.sure, turn.maybe = [item.event for item in found], []

    def _log(self, epoch: int) -> Log:
        return self.logs[epoch % len(self.logs)]

    def _run(self, work: Coroutine[Any, Any, T] | Awaitable[T]) -> T:
        async def main() -> T:
            return await work

        return self.runner.run(main())


def test_the_log_behaves_like_a_list(database_url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(open_database(database_url))

        class Model(LogModel):
            def __init__(self) -> None:
                super().__init__(runner, database)

        try:
            run_state_machine_as_test(Model, settings=SETTINGS)
        finally:
            runner.run(database.close())


def _create(name: str) -> Callable[[Connection], str]:
    def also(connection: Connection) -> str:
        users.create(connection, name, "hash")
        return name

    return also


def _refuse(name: str) -> Callable[[Connection], None]:
    def also(connection: Connection) -> None:
        users.create(connection, name, "hash")
        raise Refused

    return also


async def _put(stream: Stream, event: Event) -> None:
    stream.put(event)


async def _next(pieces: AsyncGenerator[list[Envelope], None]) -> list[Envelope]:
    return await anext(pieces)


async def _leave(reader: Reader) -> None:
    if reader.waiting is not None:
        reader.waiting.cancel()
        await asyncio.wait([reader.waiting])
    await reader.pieces.aclose()
