"""The service put together: everything a person may ask, for every dialect alike."""

from __future__ import annotations

from caesura.engine.engine import Engine
from caesura.log import Log
from caesura.service.conversations import Conversations
from caesura.service.inbox import Inbox
from caesura.service.people import People
from caesura.service.presence import Presence
from caesura.service.streams import Streams
from caesura.service.tickets import Tickets
from caesura.service.turns import Turns
from caesura.store.database import Database


class Service:
    def __init__(
        self,
        database: Database,
        log: Log,
        engine: Engine,
        *,
        default_agent: str = "assistant",
        disconnect_grace: float = 5.0,
    ) -> None:
        self.engine = engine
        self.presence = Presence(disconnect_grace, self._left)
        self.people = People(database)
        self.conversations = Conversations(database, log, engine, default_agent)
        self.turns = Turns(database, engine, self.presence)
        self.streams = Streams(database, log, self.presence)
        self.inbox = Inbox(database)
        self.tickets = Tickets(database)
        engine.supervisor.started = self.presence.started

    def _left(self, num: int) -> None:
        self.engine.supervisor.spawn(self.turns.leave(num))
