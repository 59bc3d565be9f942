"""What a tool can know about its run, and how it asks the person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from caesura.core.answers import Answer
from caesura.core.interrupts import File, Interrupt
from caesura.core.language import Language
from caesura.store.database import Database


def _unheard(text: str) -> None:
    pass


def _nobody(item: Interrupt) -> Answer:
    raise RuntimeError("nobody is there to answer")


@dataclass(frozen=True, slots=True)
class RunContext:
    """The context of one tool call; the tool gets it with `current`.

    `ask` returns the answer to an interrupt of any kind but `Approval`. Until there is an answer it raises,
    and the turn waits; then the tool runs again from its beginning. So code before the call of `ask` runs
    more than once, and must be safe to repeat. `progress` shows people what the call does now; any thread may
    call it. `parent` is the tool call under which a sub-agent works.
    """

    conversation_id: str
    turn_id: str
    user_id: str
    agent: str
    language: Language
    workspace: Path
    tool_call_id: str = ""
    ask: Callable[[Interrupt], Answer] = _nobody
    progress: Callable[[str], None] = _unheard
    parent: str | None = None
    database: Database | None = None
    #: What a file that the call replaces must still hold: what the person was shown who approved it.
    expected: File | None = None

    @contextmanager
    def active(self) -> Iterator[None]:
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


_CURRENT: ContextVar[RunContext] = ContextVar("caesura_run")


def current() -> RunContext:
    """The context of the tool call that this code runs in."""
    return _CURRENT.get()


def found() -> RunContext | None:
    """The same, or None if this code runs in no tool call."""
    return _CURRENT.get(None)
