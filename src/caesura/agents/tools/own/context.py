"""`caesura.Context`: what an operator's function can know about its call, how it asks and what it reports."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, overload

from caesura.core.language import Language

#: Makes idempotency keys. It must never change: a call that is made again after an update has the same key.
_NAMESPACE = uuid.UUID("5b0c5a43-5f0e-4d7c-9d4b-6f3f6d1e9a27")

#: What the person sees and what is returned: one text for both, a pair, or `label` and `value`, and
#: `allow_custom` if the option stands for whatever the person writes.
Option = str | tuple[str, str] | Mapping[str, str | bool]
#: `question`, and `options` if it has some.
Question = Mapping[str, Any]


class Declined(Exception):
    """The person declined to answer."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(f"The person declined to answer: {reason}" if reason else str(self.__doc__))
        self.reason = reason


class Waiting(BaseException):
    """The function stops here until the person has answered. No `except Exception` catches this."""


class Reply(str):
    """An answer. An `async` function may also await it."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, str]:
        yield from ()
        return str(self)


class Replies(list[str]):
    """Answers, in the order of the questions. An `async` function may also await them."""

    def __await__(self) -> Generator[None, None, list[str]]:
        yield from ()
        return self


class Told:
    """The progress was told. An `async` function may also await this."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


def _nobody(question: Any, options: Sequence[Option], allow_custom: bool) -> Any:
    raise RuntimeError("nobody is there to answer")


def _unheard(text: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Context:
    """A function gets one by a parameter of this type, which is no part of the tool's schema.

    `idempotency_key` is the same whenever this call is made again, after a question as after a crash, and
    differs from that of every other call.
    """

    user_id: str = ""
    conversation_id: str = ""
    turn_id: str = ""
    agent: str = ""
    workspace: Path = field(default_factory=Path)
    language: Language = "en"
    idempotency_key: str = ""
    on_ask: Callable[[Any, Sequence[Option], bool], Any] = field(default=_nobody, repr=False)
    on_progress: Callable[[str], None] = field(default=_unheard, repr=False)

    @overload
    def ask(self, question: str, options: Sequence[Option] = (), *, allow_custom: bool = False) -> Reply: ...

    @overload
    def ask(self, question: Sequence[Question]) -> Replies: ...

    def ask(
        self,
        question: str | Sequence[Question],
        options: Sequence[Option] = (),
        *,
        allow_custom: bool = False,
    ) -> Reply | Replies:
        """The person's answer. An option is a text, or a pair of what the person sees and what is returned,
        or a dict of both as `label` and `value`. Without options, and with `allow_custom`, the person may
        write any text. A list of questions is one form, and gives a list of answers.

        Until there is an answer the function stops here, and nothing of it runs. Then it runs again from its
        beginning, and this call returns the answer. So code before it runs more than once. If the person
        declines, `Declined` is raised.
        """
        given = self.on_ask(question, options, allow_custom)
        return Reply(given) if isinstance(question, str) else Replies(given)

    def progress(self, text: str) -> Told:
        """Show people what the call does now. Only the newest text counts, and not every one is shown."""
        self.on_progress(text)
        return Told()


def is_context(hint: Any) -> bool:
    """Whether a parameter of this type gets the context. Also `Context | None`, for a function that its own
    tests call without one."""
    if get_origin(hint) is Annotated:
        return is_context(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return {*get_args(hint)} == {Context, type(None)}
    return hint is Context


def key_of(turn_id: str, tool_call_id: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{turn_id}/{tool_call_id}"))
