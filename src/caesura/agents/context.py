"""What a tool may know about the run it works in, and how it asks the person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from caesura.core.interrupts import Answer, Interrupt
from caesura.core.language import Language


def _nobody(question: Interrupt) -> Answer:
    raise RuntimeError("nobody is there to answer")


@dataclass(frozen=True, slots=True)
class RunContext:
    """One for each call of a tool; the tool gets it with `current`.

    `ask` gives the answer to a question. Until there is one it raises, and the turn waits; then the tool runs
    again from its top. So nothing may happen before a question that must not happen twice.
    """

    conversation_id: str
    turn_id: str
    user_id: str
    agent: str
    language: Language
    workspace: Path
    tool_call_id: str = ""
    ask: Callable[[Interrupt], Answer] = _nobody

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
