"""The chat: a conversation at the terminal."""

from __future__ import annotations

import asyncio
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from caesura.cli import conversations, grants, streams
from caesura.cli.answers import Asker
from caesura.cli.keyboard import Keyboard
from caesura.cli.screen import Screen, call_line, one_line
from caesura.cli.session import Refused, Session, opened
from caesura.client import ClientError, Rewound, StoredInterrupt, Unreachable
from caesura.core import events as ev
from caesura.core import shown
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Interrupt

_HELP = """/new      begin another conversation
/list     your newest conversations; with words, those that have them in their title
/open     and the number of a conversation in that list, or its id: go on with it
/turns    the ids of the turns of this conversation, which `caesura events` takes
/retry    try again what failed or was stopped
/again    another answer to the last message, beside the first
/grants   the tools that are always allowed here
/revoke   and the name of a tool: ask for it again
/quit     leave (so does Ctrl-D)
Ctrl-C stops a reply and keeps what was said; once more, and you leave."""


class Left(Exception):
    """The person left while something was running."""


def talk(
    url: str, user: str | None, agent: str | None, message: str | None, go_on: bool, conversation: str | None
) -> int:
    """Returns the exit code: 1 if the given message got no complete reply. With `go_on` the newest
    conversation is continued, or the one that is named."""
    screen = Screen(sys.stdout, can_retry=message is None)
    message = streams.legible(message, "the message") if message is not None else None
    with opened(url, user, screen.waiting) as session:
        chat = Chat(session, screen, Keyboard(), agent)
        sent = False
        try:
            if conversation is not None:
                chat.open(conversation)
            elif go_on:
                chat.go_on()
            if message is None:
                chat.converse()
            else:
                sent = True
                chat.say(message)
        except (Left, KeyboardInterrupt):
            if message is not None and not sent:
                before = ": the question must be answered first" if chat.asked else ""
                screen.fault(f"your message was not sent{before}")
            screen.note(f"`caesura chat {chat.way_back}` goes on from here")
        return 1 if message is not None and (chat.failed or not sent) else 0


class Chat:
    def __init__(self, session: Session, screen: Screen, keyboard: Keyboard, agent: str | None) -> None:
        self._session, self._client = session, session.client
        self._screen, self._keyboard = screen, keyboard
        self._asker = Asker(screen, keyboard)
        self._agent = agent
        self._conversation: str | None = None
        self._turn: str | None = None
        #: The conversations of the last list, which can be opened by their numbers.
        self._listed: list[str] = []
        #: Whether the conversation was named, and may be older than others.
        self._named = False
        self.failed = False
        #: Whether the person left at a question.
        self.asked = False

    def go_on(self) -> None:
        """Show the end of the last conversation, and continue with its running or waiting turn."""
        found = self._session.run(self._session.last_conversation())
        if found is None:
            self._screen.note("There is nothing to go on with yet.")
        else:
            self._show_end(found)

    def open(self, conversation_id: str) -> None:
        """Do the same with the conversation of this id."""
        if not conversation_id:
            raise Refused("the id of a conversation is needed: /list in the chat shows them")
        self._show_end(conversation_id, named=True)

    @property
    def way_back(self) -> str:
        """The flag that goes on with this conversation later."""
        named = self._conversation if self._named else None
        return f"--conversation {shlex.quote(named)}" if named else "--continue"

    def converse(self) -> None:
        if self._keyboard.human:
            self._screen.note(f"{self._session.user}: /help says what you can do, Ctrl-D leaves.")
        while True:
            try:
                text = self._keyboard.line("you> ")
            except (EOFError, KeyboardInterrupt):
                return self._screen.line("")
            if text == "/quit":
                return None
            self._attempt(text)

    def say(self, text: str) -> None:
        if self._conversation is None:
            made = self._session.run(self._client.create(self._agent))
            self._conversation = made.id
            self._show_id(made.id)
        sent = self._client.send(self._conversation, text, agent=self._agent)
        self._watch(self._session.run(sent).id)

    def _show_id(self, conversation_id: str) -> None:
        """Other commands and the APIs ask for this id."""
        if self._keyboard.human:
            self._screen.note(f"({conversation_id})")

    def _show_end(self, conversation_id: str, named: bool = False) -> None:
        snapshot = self._session.run(self._client.snapshot(conversation_id))
        if conversation_id != self._conversation:
            self._conversation, self._turn, self._named = conversation_id, None, named
        self._screen.heading(shown.text(snapshot.conversation.title or "(no title yet)"))
        self._show_id(conversation_id)
        if len(snapshot.turns) > 1:
            self._screen.note(f"(earlier messages: {len(snapshot.turns) - 1})")
        if snapshot.turns:
            self._screen.line(f"you> {snapshot.turns[-1].turn.content}")
            self._watch(snapshot.turns[-1].turn.id)

    def _attempt(self, text: str) -> None:
        """Send a message. A fault is reported, and the next message may be sent."""
        try:
            self._obey(text)
        except ClientError as error:
            if isinstance(error, Unreachable):
                raise
            self._screen.fault(error.message)
            if self._conversation and error.code in ("interrupt_pending", "run_in_progress"):
                self._show_end(self._conversation)

    def _obey(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        alone: dict[str, Callable[[], None]] = {
            "/help": lambda: self._screen.line(_HELP),
            "/new": self._begin_anew,
            "/retry": self._retry,
            "/again": self._again,
            "/turns": self._show_turns,
            "/grants": self._show_grants,
        }
        named = {"/list": self._list, "/open": self._open, "/revoke": self._revoke}
        if not text.startswith("/"):
            if text:
                self.say(text)
        elif word in named:
            named[word](rest)
        elif text in alone:
            alone[text]()
        else:
            self._screen.note(f"{text} is not a command: /help lists them")

    def _begin_anew(self) -> None:
        self._conversation, self._turn, self._named = None, None, False

    def _list(self, words: str) -> None:
        found, more = self._session.run(conversations.newest(self._client, words))
        self._listed = [item.id for item in found]
        for line in conversations.lines(found, self._conversation):
            self._screen.line(line)
        if more:
            self._screen.note(f"(the newest {len(found)}: /list and words of a title finds others)")
        if not found:
            self._screen.note("No conversation has this in its title." if words else "There is none yet.")

    def _open(self, which: str) -> None:
        """Open a conversation by its number in the last list, or by its id, which is never a number."""
        if not which:
            return self._screen.note("/open needs the number or the id of a conversation: /list shows them")
        if not (which.isascii() and which.isdigit()):
            return self.open(which)
        # Python does not parse numbers of thousands of digits.
        found = dict(enumerate(self._listed, 1)).get(int(which)) if len(which) < 10 else None
        if found is None:
            known = f"the last /list ended at {len(self._listed)}" if self._listed else "/list numbers them"
            return self._screen.note(f"No conversation has this number: {known}.")
        return self.open(found)

    def _show_turns(self) -> None:
        if self._conversation is None:
            return self._screen.note("Nothing was said yet.")
        turns = self._session.run(self._client.snapshot(self._conversation)).turns
        if len(turns) > conversations.MANY:
            self._screen.note(f"(earlier turns: {len(turns) - conversations.MANY})")
        for seen in turns[-conversations.MANY :]:
            self._screen.line(conversations.turn_line(seen.turn))
        return None

    def _show_grants(self) -> None:
        found = self._session.run(self._client.grants(self._conversation)) if self._conversation else []
        for grant in found:
            self._screen.line(grants.line(grant))
        if not found:
            self._screen.note("No tool is always allowed here.")

    def _revoke(self, tool: str) -> None:
        if not tool:
            return self._screen.note("/revoke needs the name of a tool: /grants lists them")
        if self._conversation is None:
            return self._screen.note("Nothing was said yet.")
        self._session.run(self._client.revoke(self._conversation, tool))
        return self._screen.note(f"{tool} is asked for again.")

    def _retry(self) -> None:
        if (turn_id := self._turn) is None:
            return self._screen.note("Nothing was said yet.")
        last = self._session.run(self._client.seen(turn_id)).cursor
        self._session.run(self._client.retry(turn_id))
        return self._watch(turn_id, last)

    def _again(self) -> None:
        if self._turn is None:
            return self._screen.note("Nothing was said yet.")
        return self._watch(self._session.run(self._client.regenerate(self._turn)).id)

    def _watch(self, turn_id: str, after: int = 0) -> None:
        """Show a turn until it ends, and ask its questions on the way."""
        if turn_id != self._turn:
            self._screen.begin()
        self._turn = turn_id
        while True:
            try:
                waiting, after = self._session.run(self._follow(turn_id, after))
            except Rewound as error:
                self._screen.note("(the server has lost power: the last of it once more)")
                after = error.seq
                continue
            if not waiting:
                return
            self._ask(turn_id, waiting)

    def _ask(self, turn_id: str, waiting: list[StoredInterrupt]) -> None:
        """Ask one question after the other. A tool that the person always allows is not asked for again,
        also where its calls wait already: the question says that it holds for them."""
        allowed = set[tuple[str, str]]()
        try:
            for place, item in enumerate(waiting):
                if _tool(item) in allowed:
                    self._allow(item)
                    continue
                asked = item.interrupt
                tool = (asked.agent, asked.name) if isinstance(asked, Approval) else None
                others = sum(tool is not None and _tool(other) == tool for other in waiting[place + 1 :])
                answer = self._answered(item, others)
                if answer is not None and answer.always_allow and tool is not None:
                    allowed.add(tool)
        except KeyboardInterrupt:
            self._session.run(self._client.stop(turn_id))
        except EOFError as error:
            self.asked = True
            self._screen.note("(it waits for an answer)")
            raise Left from error

    def _answered(self, item: StoredInterrupt, others: int) -> Answer | None:
        """Ask, and send the answer. If the server says that it does not fit, the person is asked again. None
        if somebody else was faster."""
        while True:
            answer = self._asker.ask(item.interrupt, others)
            try:
                return answer if self._sent(item, answer) else None
            except ClientError as error:
                if error.code != "bad_answer":
                    raise
                self._screen.fault(error.message)

    def _allow(self, item: StoredInterrupt) -> None:
        """Approve a call that waited when its tool was allowed, and say so."""
        asked = item.interrupt
        if self._sent(item, Answer("approve")) and isinstance(asked, Approval):
            self._screen.note(f"(allowed too: {call_line(one_line(asked.name), asked.name, asked.args)})")

    def _sent(self, item: StoredInterrupt, answer: Answer) -> bool:
        """Send an answer. False if the question is closed already."""
        try:
            self._session.run(self._client.answer(item.interrupt.id, answer))
        except ClientError as error:
            if error.status != 409 or error.code == "bad_answer":
                raise
            self._screen.note(f"({error.message})")
            return False
        self._screen.answered.add(item.interrupt.id)
        return True

    async def _follow(self, turn_id: str, after: int) -> tuple[list[StoredInterrupt], int]:
        """Show events until the turn has ended or waits. Returns the pending interrupts, and the cursor of
        the last event."""
        shown: tuple[Interrupt, ...] = ()
        self.failed = False
        async with self._stoppable(turn_id), aclosing(self._client.events(turn_id, after)) as found:
            async for received in found:
                after, event = received.cursor, received.event
                self._screen.show(event)
                if isinstance(event, ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped):
                    shown = event.interrupts if isinstance(event, ev.Interrupted) else ()
                    self.failed = not isinstance(event, ev.Finished)
                if isinstance(event, ev.SegmentEnded) and (waiting := await self._waiting(shown)):
                    return waiting, after
        return [], after

    async def _waiting(self, shown: Sequence[Interrupt]) -> list[StoredInterrupt]:
        """The interrupts of these that are still pending: some may have been answered long ago."""
        found = [await self._client.interrupt(item.id) for item in shown]
        return [item for item in found if item.status == "pending"]

    @asynccontextmanager
    async def _stoppable(self, turn_id: str) -> AsyncIterator[None]:
        """Inside, Ctrl-C stops the turn, which is then followed to its end. A second Ctrl-C leaves."""
        loop, reading = asyncio.get_running_loop(), asyncio.current_task()
        stops: list[asyncio.Task[bool]] = []

        def pressed() -> None:
            if stops and reading is not None:
                reading.cancel()
            else:
                self._screen.note("(stopping; Ctrl-C once more leaves)")
                stops.append(loop.create_task(self._client.stop(turn_id)))

        loop.add_signal_handler(signal.SIGINT, pressed)
        try:
            yield
        except asyncio.CancelledError as error:
            raise Left from error
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            for task in stops:
                task.cancel()
            await asyncio.gather(*stops, return_exceptions=True)


def _tool(item: StoredInterrupt) -> tuple[str, str] | None:
    """The agent and the tool whose grant holds for this call. A call that was made or approved before is
    asked for by itself: nobody knows whether it was done, or the file has changed."""
    asked = item.interrupt
    if not isinstance(asked, Approval) or asked.unknown or asked.changed:
        return None
    return asked.agent, asked.name
