"""The client: every operation of the native API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from types import EllipsisType, TracebackType
from typing import Any, Literal, Self

from caesura.client import events, values
from caesura.client.artifacts import Artifacts
from caesura.client.connection import Connection, member, path_of
from caesura.client.errors import ClientError
from caesura.client.events import ReceivedEvent
from caesura.client.files import Files
from caesura.client.patience import Waiting
from caesura.client.values import (
    Agent,
    Conversation,
    Grant,
    Person,
    SeenTurn,
    Snapshot,
    StoredInterrupt,
    Tree,
    Turn,
)
from caesura.core import answers as core_answers
from caesura.core import ids
from caesura.core.answers import Answer


class Client:
    """Takes a token, or a name and a password, or neither for a server that needs no login.

    `patience` is how many seconds a call is retried while the server is unreachable or busy. `silence` is how
    many seconds a stream may send nothing (a server pings) before it is reopened. `waiting` is called before
    each retry.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        patience: float = 120.0,
        silence: float = 60.0,
        waiting: Waiting | None = None,
    ) -> None:
        credentials = (username, password) if username is not None and password is not None else None
        self._connection = Connection(base_url, token, credentials, patience, silence, waiting)
        #: The operations on artifacts.
        self.artifacts = Artifacts(self._connection)
        #: The operations on files of a workspace.
        self.files = Files(self._connection)

    @property
    def token(self) -> str | None:
        return self._connection.token

    @token.setter
    def token(self, token: str | None) -> None:
        self._connection.token = token

    @property
    def patience(self) -> float:
        return self._connection.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._connection.patience = seconds

    async def close(self) -> None:
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- people and agents

    async def register(self, username: str, password: str, invite: str | None = None) -> str:
        """Register a person, and return their id. `invite` is a code, if the server requires one."""
        body = {"username": username, "password": password} | ({"invite": invite} if invite else {})
        made = await self._connection.request("POST", "/api/auth/register", body, repeatable=False)
        return str(made["user_id"])

    async def login(self, username: str, password: str) -> str:
        """Log in, and return the token, which this client uses from now on."""
        return await self._connection.login(username, password)

    async def me(self) -> str:
        return member(await self._get(path_of("me")), "user_id")

    async def agents(self) -> list[Agent]:
        return [values.pick(Agent, item) for item in (await self._get(path_of("agents")))["agents"]]

    async def people(self) -> AsyncGenerator[Person, None]:
        """All people by name, and what they have used. For an admin."""
        async for item in self._pages("people", {}):
            yield values.pick(Person, item)

    # --- conversations

    async def create(
        self, agent: str | None = None, title: str | None = None, key: str | None = None
    ) -> Conversation:
        body = {"agent": agent, "title": title}
        made = await self._post(path_of("conversations"), body, key=key or ids.token())
        return values.pick(Conversation, made)

    async def conversations(
        self, order: Literal["updated", "created"] = "updated", query: str = ""
    ) -> AsyncGenerator[Conversation, None]:
        """All conversations, newest first, or those with this in their title."""
        asked = {"order": order} | ({"query": query} if query else {})
        async for item in self._pages("conversations", asked):
            yield values.pick(Conversation, item)

    async def tree(self, conversation_id: str) -> Tree:
        """The conversation with all its turns."""
        path = path_of("conversations", conversation_id)
        found = page = await self._get(path)
        turns = list(page["turns"])
        while (cursor := page.get("next")) is not None:
            page = await self._get(path, {"cursor": cursor})
            turns += page["turns"]
        return values.tree({**found, "turns": turns})

    async def snapshot(self, conversation_id: str) -> Snapshot:
        """The whole active branch."""
        path = path_of("conversations", conversation_id, "snapshot")
        found = page = await self._get(path)
        pages = [page["turns"]]
        while (cursor := page.get("before")) is not None:
            page = await self._get(path, {"cursor": cursor})
            pages.append(page["turns"])
        turns = [turn for earlier in reversed(pages) for turn in earlier]
        return values.snapshot({**found, "turns": turns})

    async def rename(self, conversation_id: str, title: str) -> Conversation:
        path = path_of("conversations", conversation_id)
        return values.pick(Conversation, await self._connection.request("PATCH", path, {"title": title}))

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation. Stops its running turn, and leaves nothing of it."""
        await self._connection.delete(path_of("conversations", conversation_id))

    async def branch(self, conversation_id: str, turn_id: str) -> Conversation:
        """Make the branch through this turn the active one."""
        moved = await self._post(path_of("conversations", conversation_id, "branch"), {"turn_id": turn_id})
        return values.pick(Conversation, moved)

    async def grants(self, conversation_id: str) -> list[Grant]:
        """The tools that are always allowed on the active branch."""
        found = await self._get(path_of("conversations", conversation_id, "grants"))
        return [values.pick(Grant, item) for item in found["grants"]]

    async def revoke(self, conversation_id: str, tool: str) -> None:
        """Revoke the grant of this tool, on every branch of the conversation: the agent asks again from now
        on."""
        await self._connection.delete(path_of("conversations", conversation_id, "grants", tool))

    # --- turns

    async def send(
        self,
        conversation_id: str,
        content: str,
        *,
        parent: str | EllipsisType | None = ...,
        agent: str | None = None,
        on_disconnect: Literal["stop", "continue"] = "continue",
        supersede: bool = False,
        key: str | None = None,
    ) -> Turn:
        """Send a message. When this returns, the message is stored, and its turn has begun or is queued.
        `parent` defaults to the end of the active branch; None begins a new root; an id branches there.
        `supersede` rejects the pending interrupts."""
        body = {"content": content, "on_disconnect": on_disconnect, "supersede": supersede}
        body |= {"agent": agent} if agent is not None else {}
        body |= {"parent": parent} if parent is not ... else {}
        return await self._turn(path_of("conversations", conversation_id, "turns"), body, key)

    async def turn(self, turn_id: str) -> Turn:
        return values.pick(Turn, await self._get(path_of("turns", turn_id)))

    async def seen(self, turn_id: str) -> SeenTurn:
        """A turn with its messages, its pending interrupts, and the cursor after which its events
        continue."""
        turn = await self.turn(turn_id)
        params = {"cursor": turn.ordinal - 1, "limit": 1}
        found = values.tree(await self._get(path_of("conversations", turn.conversation_id), params))
        if not found.turns:
            raise ClientError(404, "not_found", "turn not found")
        return found.turns[0]

    async def stop(self, turn_id: str) -> bool:
        """Stop a turn, and keep its messages. False if it had already ended."""
        return bool((await self._post(path_of("turns", turn_id, "stop")))["stopped"])

    async def retry(self, turn_id: str, key: str | None = None) -> Turn:
        """Start another attempt at a failed or stopped turn that no other turn follows."""
        return await self._turn(path_of("turns", turn_id, "retry"), None, key)

    async def regenerate(self, turn_id: str, key: str | None = None) -> Turn:
        """Let the agent reply to the same message again, in a turn beside this one: both replies are kept."""
        return await self._turn(path_of("turns", turn_id, "regenerate"), None, key)

    def events(self, turn_id: str, after: int = 0) -> AsyncGenerator[ReceivedEvent, None]:
        """The events of a turn strictly after the cursor (or the number) `after`, until the turn has ended;
        an interrupt does not end it. Reconnects after any break, with no event lost and none repeated. To
        leave early, close the generator: `async with aclosing(client.events(…)) as found`."""
        return events.follow(self._connection, turn_id, after)

    # --- interrupts

    async def inbox(self) -> list[StoredInterrupt]:
        """All pending interrupts of this person, over all conversations, oldest first."""
        found: list[StoredInterrupt] = []
        cursor: str | None = None
        while True:
            page = await self._get(path_of("interrupts"), {"cursor": cursor} if cursor else None)
            found += [values.stored_interrupt(item) for item in page["interrupts"]]
            if (cursor := page.get("next")) is None:
                return found

    async def interrupt(self, interrupt_id: str) -> StoredInterrupt:
        return values.stored_interrupt(await self._get(path_of("interrupts", interrupt_id)))

    async def answer(self, interrupt_id: str, answer: Answer, key: str | None = None) -> Turn:
        """Answer an interrupt. The turn continues once none of its interrupts is pending."""
        return await self._turn(
            path_of("interrupts", interrupt_id, "answer"), core_answers.to_dict(answer), key
        )

    async def answer_all(self, turn_id: str, answers: Mapping[str, Answer], key: str | None = None) -> Turn:
        """Several answers at once: all of them are stored, or none."""
        given = {id: core_answers.to_dict(answer) for id, answer in answers.items()}
        return await self._turn(path_of("turns", turn_id, "answers"), {"answers": given}, key)

    async def _turn(self, path: str, body: Any, key: str | None) -> Turn:
        """Send a request with an idempotency key, so that the server does it once however often it is
        retried."""
        made = await self._post(path, body, key=key or ids.token())
        return values.pick(Turn, made)

    async def _pages(self, name: str, asked: Mapping[str, str]) -> AsyncGenerator[Any, None]:
        """The items of a list, page by page. The list is called what its path is called."""
        cursor: str | None = None
        while True:
            page = await self._get(path_of(name), {**asked, **({"cursor": cursor} if cursor else {})})
            for item in page[name]:
                yield item
            if (cursor := page["next"]) is None:
                return

    async def _get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._connection.request("GET", path, params=params)

    async def _post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        return await self._connection.request("POST", path, body, key=key)
