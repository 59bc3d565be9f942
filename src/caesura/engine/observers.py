"""Observers of runs: they are told of each run, and under it of every model and tool call with its tokens.

An observer sends what it sees elsewhere, such as to Langfuse. It must not wait. What it raises is logged, and
changes nothing in the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from caesura.core.messages import Message
from caesura.models.model import Schema

logger = logging.getLogger(__name__)

T = TypeVar("T")


class RunBegins(NamedTuple):
    agent: str
    input: str
    user_id: str
    conversation_id: str
    turn_id: str


class ModelBegins(NamedTuple):
    """`parent` is the tool call under which a sub-agent works."""

    model: str
    messages: Sequence[Message]
    agent: str = ""
    tools: Sequence[Schema] = ()
    parent: str | None = None


class ToolBegins(NamedTuple):
    name: str
    id: str
    args: dict[str, Any]
    agent: str = ""
    parent: str | None = None


@dataclass(slots=True)
class Ended:
    """How a run or a call came out. What pauses, because it asks a person, has not failed."""

    output: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    usage: dict[str, int] | None = None
    finish_reason: str | None = None
    failed: bool = False
    pauses: bool = False
    error: BaseException | None = None


class Watch(Protocol):
    """A run or a call that an observer follows."""

    def begin(self, call: ModelBegins | ToolBegins) -> Watch:
        """A call under this run begins."""

    def end(self, ended: Ended) -> None: ...


class Observer(Protocol):
    def begin(self, run: RunBegins) -> Watch:
        """A run begins: a segment of a turn."""

    def callbacks(self) -> Sequence[Any]:
        """Callbacks of LangChain with which an operator's own graph is observed."""


class Watching:
    """A run as all observers follow it."""

    def __init__(self, watches: Sequence[Watch] = ()) -> None:
        self._watches = watches

    @contextmanager
    def call(self, begins: ModelBegins | ToolBegins) -> Iterator[Ended]:
        """While this lasts, the call goes on. The caller fills in how it came out."""
        ended = Ended()
        if not self._watches:
            yield ended
            return
        begun = [found for watch in self._watches if (found := _safely(lambda w=watch: w.begin(begins)))]  # type: ignore[misc]
        with _ending(begun, ended):
            yield ended


class Observers:
    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(observers)

    @contextmanager
    def run(self, begins: RunBegins) -> Iterator[tuple[Watching, Ended]]:
        """While this lasts, the run goes on."""
        ended = Ended()
        if not self._observers:
            yield NOT_WATCHED, ended
            return
        begun = [found for item in self._observers if (found := _safely(lambda o=item: o.begin(begins)))]  # type: ignore[misc]
        with _ending(begun, ended):
            yield Watching(begun), ended

    def callbacks(self) -> list[Any]:
        found = [_safely(observer.callbacks) or () for observer in self._observers]
        return [callback for callbacks in found for callback in callbacks]


@contextmanager
def _ending(begun: Sequence[Watch], ended: Ended) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if not ended.pauses:
            ended.failed, ended.error = True, error
        raise
    finally:
        for watch in begun:
            _safely(lambda w=watch: w.end(ended))  # type: ignore[misc]


def _safely(tell: Callable[[], T]) -> T | None:
    try:
        return tell()
    except Exception:
        logger.warning("an observer failed", exc_info=True)
        return None


NOT_WATCHED = Watching()
NOBODY = Observers()
