"""All rows of one story, and what must be true of them at any time."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from caesura.core import codec, fold
from caesura.core import events as ev
from caesura.core.artifacts import Version
from caesura.core.conversations import Conversation
from caesura.core.errors import NotFound
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import Status, Turn
from caesura.store import artifacts, conversations, interrupts, schema, tool_calls, users
from tests.conformance.rows import turns_of

THE_END = "The end"


@dataclass
class Scene:
    user: users.User | None = None
    conversation: Conversation | None = None
    turn: Turn | None = None
    events: list[ev.Event] = field(default_factory=list)
    rows: int = 0
    asked: list[StoredInterrupt] = field(default_factory=list)
    calls: dict[str, tool_calls.ToolCall] = field(default_factory=dict)
    versions: list[Version] = field(default_factory=list)
    #: The conversation that is deleted at the end.
    other: Conversation | None = None
    other_events: int = 0
    #: The number of events of deleted turns.
    orphans: int = 0

    def has(self, kind: type[ev.Event]) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ev.TextDelta))

    @property
    def ended(self) -> bool:
        return self.conversation is not None and self.conversation.title == THE_END

    def assert_whole(self) -> None:
        """Assert that no step is half done: the events and the rows agree."""
        fold.fold(self.events)
        assert self.orphans == 0
        assert len(self.asked) == self.has(ev.Interrupted)
        assert len(self.calls) == self.has(ev.ToolStarted)
        ended = [call for call in self.calls.values() if call.status == "ended"]
        assert len(ended) == self.has(ev.ToolFinished)
        assert [version.version for version in self.versions] == list(range(1, len(self.versions) + 1))
        assert len(self.versions) == self.has(ev.ArtifactChanged)
        if self.user is not None:
            assert self.user.conversation_count == sum(c is not None for c in (self.conversation, self.other))
        if self.conversation is not None:
            assert self.conversation.turn_count == (self.turn is not None)
            assert (self.conversation.title is not None) == bool(self.has(ev.TitleChanged))
        if self.turn is not None:
            self._assert_turn(self.turn)

    def _assert_turn(self, turn: Turn) -> None:
        assert self.conversation is not None
        assert self.conversation.active_turn == turn.id
        assert turn.segment == max(1, self.has(ev.RunStarted))
        assert turn.status == self._status()
        assert (turn.messages is not None) == turn.ended
        assert (turn.ended_at is not None) == turn.ended
        if turn.messages is not None:
            assert turn.messages == fold.fold(self.events).closed()

    def _status(self) -> Status:
        if self.has(ev.Finished):
            return "done"
        if self.asked and not self.has(ev.InterruptClosed):
            return "waiting" if self.asked[0].status == "pending" else "queued"
        return "running"


def look(connection: Connection, name: str) -> Scene:
    scene = Scene(user=users.get(connection, name))
    scene.conversation = _conversation(connection, f"{name}-kept", name)
    scene.other = _conversation(connection, f"{name}-gone", name)
    if scene.conversation is not None:
        for turn in turns_of(connection, scene.conversation.id):
            scene.turn = turn
            scene.asked = interrupts.of(connection, turn.num)
            scene.calls = tool_calls.of(connection, turn.num)
            scene.rows, scene.events = _events(connection, turn.num)
        if artifacts.of(connection, scene.conversation.id):
            place = scene.conversation.id
            scene.versions = [
                artifacts.version(connection, place, "notes", entry.version)
                for entry in artifacts.versions(connection, place, "notes")
            ]
    if scene.other is not None:
        scene.other_events = sum(
            len(_events(connection, turn.num)[1]) for turn in turns_of(connection, scene.other.id)
        )
    lost = select(func.count()).where(schema.events.c.turn.not_in(select(schema.turns.c.num)))
    scene.orphans = connection.execute(lost).scalar_one()
    return scene


def _conversation(connection: Connection, number: str, user: str) -> Conversation | None:
    try:
        return conversations.get(connection, number, user)
    except NotFound:
        return None


def _events(connection: Connection, turn: int) -> tuple[int, list[ev.Event]]:
    """How many rows there are, and what is in them: each begins where the one before it ended."""
    table = schema.events
    rows = connection.execute(select(table).where(table.c.turn == turn).order_by(table.c.first)).all()
    found: list[ev.Event] = []
    for row in rows:
        assert row.first == len(found) + 1
        found += [item.event for item in codec.decode(row.version, bytes(row.body), row.first, row.at)]
        assert row.last == len(found)
    return len(rows), found
