"""Rehearsals: an agent on the demo model, on a server of its own, for the tests of an operator."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, assert_never

from caesura.client.client import Client
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Confirmation, GraphRequest, Interrupt, Questions

_ADDRESS = re.compile(r" is at (http://\S+?),")
#: Seconds that the server may take to start, and to end.
_START, _END = 120.0, 30.0
_LINES = 50


@dataclass
class Rehearsed:
    """What came of a message: the last words of the agent, the results of its tool calls as name, text and
    status, and what a person was asked."""

    text: str = ""
    results: list[tuple[str, str, str]] = field(default_factory=list)
    asked: list[Interrupt] = field(default_factory=list)
    events: list[ev.Event] = field(default_factory=list)


class Rehearsal:
    """While the `with` lasts, a server of this program runs on this machine. It offers the agents of the
    folder and has a database of its own. Agents whose file names no model are on the demo model, which calls
    the tools that a message names: `call find_order {"number": "A-1"}`."""

    def __init__(self, agents: Path | str) -> None:
        self._agents = Path(agents).resolve()
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._address = ""
        self._started = threading.Event()

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="caesura-")
        flags = {"port": "0", "host": "127.0.0.1", "auth": "none", "model": "demo", "drain": "0.1"}
        flags |= {"data-dir": self._folder.name, "agents-dir": str(self._agents)}
        words = [word for name, value in flags.items() for word in (f"--{name}", value)]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
        self._server = subprocess.Popen(  # noqa: S603 - this program
            [sys.executable, "-m", "caesura", "serve", *words],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        threading.Thread(target=self._read, daemon=True).start()
        self._started.wait(_START)
        if not self._address:
            self._close()
            raise RuntimeError(f"the server did not start:\n{self.log}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    @property
    def log(self) -> str:
        """The last lines that the server wrote."""
        return "".join(self._lines)

    def say(self, agent: str, message: str, *answers: str | Answer) -> Rehearsed:
        """Send a message in a new conversation, and answer what is asked, in order: `approve` or `reject` to
        an approval, a text to a question, or an `Answer` of any kind."""
        return asyncio.run(self._say(agent, message, list(answers)))

    async def _say(self, agent: str, message: str, answers: list[str | Answer]) -> Rehearsed:
        found = Rehearsed()
        async with Client(self._address) as client:
            conversation = await client.create(agent)
            turn = await client.send(conversation.id, message)
            async with aclosing(client.events(turn.id)) as events:
                async for received in events:
                    _add(found, received.event)
                    for item in (
                        received.event.interrupts if isinstance(received.event, ev.Interrupted) else ()
                    ):
                        found.asked.append(item)
                        await client.answer(item.id, _next(item, answers))
        return found

    def _read(self) -> None:
        for line in self._server.stderr or ():
            self._lines.append(line)
            if not self._address and (told := _ADDRESS.search(line)):
                self._address = told[1]
                self._started.set()
        self._started.set()

    def _close(self) -> None:
        self._server.terminate()
        try:
            self._server.wait(_END)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._folder.cleanup()


def _add(found: Rehearsed, event: ev.Event) -> None:
    found.events.append(event)
    match event:
        case ev.ModelStarted(parent=None):
            found.text = ""
        case ev.TextDelta(text=text):
            found.text += text
        case ev.ToolFinished(name=name, output=output, status=status):
            found.results.append((name, output, status))
        case _:
            pass


def _next(item: Interrupt, answers: list[str | Answer]) -> Answer:
    if not answers:
        raise AssertionError(f"the agent asks, and no answer is left: {item.description}")
    given = answers.pop(0)
    return given if isinstance(given, Answer) else _answer(item, given)


def _answer(item: Interrupt, text: str) -> Answer:
    match item:
        case Approval():
            if text not in ("approve", "reject"):
                raise AssertionError(f"{item.name} needs approve or reject, not {text!r}")
            return Answer("approve" if text == "approve" else "reject")
        case Questions():
            return Answer("answers", answers=_each(item.questions, text))
        case Confirmation():
            return _form(item, text)
        case GraphRequest():
            return Answer("value", value=text)
        case unreachable:
            assert_never(unreachable)


def _form(item: Confirmation, text: str) -> Answer:
    """`approve` confirms, `reject` refuses, and any other text is what is written into the form."""
    if text == "reject":
        return Answer("reject")
    fields = {field.name: True if field.type == "confirm" else text for field in item.fields}
    return Answer("fields", fields=fields)


def _each(questions: Sequence[object], text: str) -> tuple[str, ...]:
    """The same answer to each question of one form."""
    return (text,) * len(questions)
