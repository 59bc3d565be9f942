"""The life of a conversation, step by step. After a crash it continues where the rows say it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import Connection

from caesura.core import events as ev
from caesura.core import fold
from caesura.core.answers import Answer
from caesura.core.artifacts import create, rewrite
from caesura.core.interrupts import Approval
from caesura.core.turns import Turn
from caesura.log import Log, Stream
from caesura.store import artifacts, conversations, fence, interrupts, life, tool_calls, users
from caesura.store.database import Database
from tests.chaos.scene import THE_END, Scene, look
from tests.conformance.rows import set_columns, settled, turns_of

FIRST_WORDS = ("Let ", "me ", "look.")
LAST_WORDS = ("Found ", "it.")
#: A lease that expires at once: the next process after a crash may claim the turn.
NO_LEASE = -1


Done = Callable[[Scene], bool]


class Story:
    """`name` keeps it apart from other stories in the same database; `say` is called after each step."""

    def __init__(self, database: Database, name: str, say: Callable[[str], None] = lambda step: None) -> None:
        self.database = database
        self.name = name
        self.log = Log(database)
        self._say = say
        self._stream: Stream | None = None

    async def tell(self) -> None:
        scene = await self.look()
        for step, (done, do) in self.steps().items():
            if not done(scene):
                await do()
                self._say(step)

    async def look(self) -> Scene:
        return await self.database.read(look, self.name)

    def steps(self) -> dict[str, tuple[Done, Callable[[], Awaitable[object]]]]:
        """Each step: whether the rows say it was done, and how to do it."""
        deltas = {
            f"words {n}": (_said("".join(FIRST_WORDS[: n + 1])), self._saying(1, word))
            for n, word in enumerate(FIRST_WORDS)
        }
        last_deltas = {
            f"last words {n}": (
                _said("".join(FIRST_WORDS) + "".join(LAST_WORDS[: n + 1])),
                self._saying(2, word),
            )
            for n, word in enumerate(LAST_WORDS)
        }
        return {
            "user": (lambda s: s.user is not None, self._make_user),
            "conversation": (lambda s: s.conversation is not None, self._make_conversation),
            "turn": (lambda s: s.turn is not None, self._make_turn),
            "started": (lambda s: s.has(ev.RunStarted) >= 1, self._start),
            **deltas,
            "model finished": (lambda s: s.has(ev.ModelFinished) >= 1, self._finish_model),
            "tool began": (lambda s: s.has(ev.ToolStarted) == 1, self._begin_tool),
            "tool ended": (lambda s: s.has(ev.ToolFinished) == 1, self._end_tool),
            "artifact": (lambda s: len(s.versions) >= 1, self._make_artifact),
            "artifact edited": (lambda s: len(s.versions) >= 2, self._edit_artifact),
            "asked": (lambda s: s.has(ev.Interrupted) == 1, self._ask),
            "segment ended": (lambda s: s.has(ev.SegmentEnded) >= 1, self._end_segment),
            "answered": (lambda s: [item.status for item in s.asked] == ["answered"], self._answer),
            "resumed": (lambda s: s.has(ev.InterruptClosed) == 1, self._resume),
            **last_deltas,
            "finished": (lambda s: s.has(ev.Finished) == 1, self._finish),
            "title": (lambda s: s.has(ev.TitleChanged) == 1, self._title),
            "released": (lambda s: s.has(ev.SegmentEnded) == 2, self._end_segment),
            "packed": (lambda s: s.has(ev.SegmentEnded) == 2 and s.rows == 1, self._pack),
            "other made": (lambda s: s.ended or s.other is not None, self._make_other),
            "other written": (lambda s: s.ended or s.other_events == 2, self._write_other),
            "other gone": (lambda s: s.ended, self._remove_other),
        }

    async def _make_user(self) -> None:
        await self.database.write(users.create, self.name, "hash")

    async def _make_conversation(self) -> None:
        await self.database.write(conversations.create, f"{self.name}-kept", self.name, "demo")

    async def _make_turn(self) -> None:
        new = life.New(f"{self.name}-kept", "hello", owner="node-1", lease_ms=NO_LEASE)
        turn = await self.database.write(life.create, new)
        self._stream = await self.log.open(turn.num, turn.epoch)

    async def _start(self) -> None:
        await self._commit(ev.RunStarted("demo", 1), ev.ModelStarted(1, "demo"), segment=1)

    def _saying(self, call: int, text: str) -> Callable[[], Awaitable[object]]:
        async def say() -> None:
            stream = await self._open()
            stream.put(ev.TextDelta(call, text))
            await stream.commit()

        return say

    async def _finish_model(self) -> None:
        await self._commit(ev.ModelFinished(1, ({"id": "call-1", "name": "look", "args": {}},)))

    async def _begin_tool(self) -> None:
        began = ev.ToolStarted("call-1", "look", {}, "demo")
        await self._commit(began, also=lambda c, num: tool_calls.begin(c, num, "call-1", "look", {}))

    async def _end_tool(self) -> None:
        ended = ev.ToolFinished("call-1", "look", "found", "ok", "demo")
        await self._commit(ended, also=lambda c, num: tool_calls.finish(c, num, "call-1", {"text": "found"}))

    async def _make_artifact(self) -> None:
        def make(connection: Connection, num: int) -> None:
            where = f"{self.name}-kept"
            first = artifacts.draft(create("1"))
            artifacts.create(connection, where, "notes", title="Notes", content_type="text", first=first)

        await self._commit(ev.ArtifactChanged("notes", 1, "create"), also=make)

    async def _edit_artifact(self) -> None:
        def edit(connection: Connection, num: int) -> None:
            where = f"{self.name}-kept"
            made = artifacts.draft(rewrite("2"), artifacts.base(connection, where, "notes"))
            artifacts.add(connection, where, "notes", made)

        await self._commit(ev.ArtifactChanged("notes", 2, "rewrite"), also=edit)

    async def _ask(self) -> None:
        item = Approval(f"int-{self.name}", tool_call_id="call-2", name="write")

        def ask(connection: Connection, num: int) -> None:
            interrupts.ask(connection, num, self.name, {"graph-1": item})

        await self._commit(ev.Interrupted((item,)), also=ask, status="waiting")

    async def _end_segment(self) -> None:
        await self._commit(ev.SegmentEnded(), owner=None, lease_until=None)
        self._stream = None

    async def _answer(self) -> None:
        assert await self.database.write(life.answer, self.name, {f"int-{self.name}": Answer("approve")})

    async def _resume(self) -> None:
        closed = ev.InterruptClosed(f"int-{self.name}", "answered", {"decision": "approve"})
        begun = (ev.RunStarted("demo", 2, "resume"), closed, ev.ModelStarted(2, "demo"))
        await self._commit(*begun, segment=2, status="running")

    async def _finish(self) -> None:
        await self._open()
        scene, turn = await self.look(), await self._turn()
        finished = ev.ModelFinished(2)
        messages = fold.fold([*scene.events, finished]).closed()

        def end(connection: Connection, num: int) -> None:
            life.settle(connection, [settled(turn, "done", *messages, released=False)])

        await self._commit(finished, ev.Finished(), also=end)

    async def _title(self) -> None:
        def keep(connection: Connection, num: int) -> None:
            conversations.set_title(connection, f"{self.name}-kept", "A title")

        await self._commit(ev.TitleChanged("A title"), also=keep)

    async def _pack(self) -> None:
        turn = await self._turn()
        await self.log.pack(turn.num, turn.epoch)

    async def _make_other(self) -> None:
        def make(connection: Connection) -> None:
            conversations.create(connection, f"{self.name}-gone", self.name, "demo")
            new = life.New(f"{self.name}-gone", "hello", owner="node-1", lease_ms=NO_LEASE)
            life.create(connection, new)

        await self.database.write(make)

    async def _write_other(self) -> None:
        (turn,) = await self.database.read(turns_of, f"{self.name}-gone")
        await self.log.append(turn.num, 1, [ev.RunStarted("demo", 1), ev.TextDelta(1, "secret")])

    async def _remove_other(self) -> None:
        def remove(connection: Connection) -> None:
            conversations.remove(connection, f"{self.name}-gone", self.name)
            conversations.set_title(connection, f"{self.name}-kept", THE_END)

        await self.database.write(remove)

    async def _commit(
        self, *events: ev.Event, also: Callable[[Connection, int], Any] | None = None, **values: Any
    ) -> None:
        """Events, rows and columns of the turn, together or not at all."""
        stream = await self._open()

        def rows(connection: Connection) -> None:
            if also is not None:
                also(connection, stream.turn)
            if values:
                fence.hold(connection, stream.turn, stream.epoch)
                set_columns(connection, stream.turn, **values)

        await stream.commit(*events, also=rows, durable=True)

    async def _open(self) -> Stream:
        """The stream of the turn. A process that did not create the turn takes it over."""
        if self._stream is None:
            turn = await self._turn()
            owner = f"node-{turn.epoch + 1}"
            claimed = await self.database.write(life.claim, turn.num, owner, NO_LEASE)
            assert claimed is not None
            self._stream = await self.log.open(claimed.num, claimed.epoch)
        return self._stream

    async def _turn(self) -> Turn:
        (turn,) = await self.database.read(turns_of, f"{self.name}-kept")
        return turn


def _said(text: str) -> Done:
    return lambda scene: scene.text.startswith(text)
