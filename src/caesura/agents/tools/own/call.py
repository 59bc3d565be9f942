"""Calling an operator's function: with its context, on the event loop or in a thread."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from caesura.agents import context
from caesura.agents.context import RunContext
from caesura.agents.tools import ask_user
from caesura.agents.tools.own import returned
from caesura.agents.tools.own.context import Context, Declined, Option, Question, Waiting, key_of
from caesura.agents.tools.own.parameters import Parameters
from caesura.agents.tools.own.returned import Unwritable
from caesura.agents.tools.own.threads import OwnThreads
from caesura.agents.tools.tool import ToolError, wrong_arguments
from caesura.core.interrupts import Questions
from caesura.core.language import Language

logger = logging.getLogger(__name__)

_OWN_WORDS: dict[Language, str] = {"en": "Something else", "zh": "其他"}


class OwnCall:
    def __init__(self, function: Callable[..., Any], parameters: Parameters, threads: OwnThreads) -> None:
        self._function, self._parameters, self._threads = function, parameters, threads

    async def __call__(self, args: dict[str, Any]) -> str:
        asking = _Asking(context.current(), self._function.__name__)
        try:
            text = await self._text(args, asking)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            asking.check()
            raise self._told(error) from error
        asking.check()
        return text

    def _told(self, error: BaseException) -> BaseException:
        """The error as the engine handles it."""
        if isinstance(error, Declined):
            return ToolError(str(error))
        if isinstance(error, Unwritable):
            logger.warning("%s: %s", self._function.__name__, error)
        return error

    async def _text(self, args: dict[str, Any], asking: _Asking) -> str:
        if not inspect.iscoroutinefunction(self._function):
            copied, person = contextvars.copy_context(), context.current().user_id
            value = await self._threads.do(person, lambda: copied.run(self._plain, args, asking))
            if not inspect.isawaitable(value):
                return str(value)
        else:
            name = self._function.__name__
            value = self._function(**await self._threads.check(name, lambda: self._checked(args, asking)))
        found = await _apart(self._threads.steps.watched(self._function.__name__, value))
        if returned.is_small(found):
            return returned.text(found)
        return await self._threads.write(lambda: returned.text(found))

    def _plain(self, args: dict[str, Any], asking: _Asking) -> Any:
        """The result of a plain function as text. One that returns a coroutine is awaited elsewhere."""
        value = self._function(**self._checked(args, asking))
        return value if inspect.isawaitable(value) else returned.text(value)

    def _checked(self, args: dict[str, Any], asking: _Asking) -> dict[str, Any]:
        """The arguments as the function takes them. An operator's validators may take any time."""
        model, names, contexts = self._parameters
        try:
            checked = model.model_validate(args)
        except ValidationError as error:
            raise ToolError(wrong_arguments(error)) from error
        given = {name: getattr(checked, field) for field, name in names.items()}
        return given | dict.fromkeys(contexts, asking.context()) if contexts else given


async def _apart(work: Awaitable[Any]) -> Any:
    """The result of this work, which gets a task of its own: what it does to its task, such as cancelling it,
    must not happen to the turn."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_outcome(work))
    value, error = task.result()
    if error is not None:
        raise error
    return value


async def _outcome(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - a task that raised it would end the server
        return None, error


class _Asking:
    """The function's questions. Where it has to wait for an answer, it remembers what the engine raised: the
    function might catch it."""

    def __init__(self, run: RunContext, name: str) -> None:
        self._run, self._name = run, name
        self._raised: Exception | None = None

    def context(self) -> Context:
        run = self._run
        return Context(
            user_id=run.user_id,
            conversation_id=run.conversation_id,
            turn_id=run.turn_id,
            agent=run.agent,
            workspace=_made(run.workspace),
            language=run.language,
            idempotency_key=key_of(run.turn_id, run.tool_call_id),
            on_ask=self._ask,
            on_progress=run.progress,
        )

    def check(self) -> None:
        """Raise what the engine raised, if a question waits for its answer."""
        if self._raised is not None:
            raise self._raised

    def _ask(self, question: str | Sequence[Question], options: Sequence[Option], allow_custom: bool) -> Any:
        language = self._run.language
        own_words = _OWN_WORDS[language] if allow_custom and options else None
        if isinstance(question, str):
            item = _questions([_entry(question, options, own_words)])
            item = replace(item, label=self._name, description=question)
        else:
            if options or allow_custom:
                raise TypeError("ask: each question of a list has options of its own")
            entries = [_entry(entry.get("question"), entry.get("options") or ()) for entry in question]
            item = _questions(entries)
            label, description, _ = ask_user.describe({"questions": entries}, language)
            item = replace(item, label=label, description=description)
        try:
            answer = self._run.ask(item)
        except Exception as error:  # noqa: BLE001 - the engine's, raised again when the function has ended
            self._raised = error
            raise Waiting from None
        if answer.decision == "reject":
            raise Declined(answer.message)
        return answer.answers[0] if isinstance(question, str) else answer.answers


def _questions(entries: list[dict[str, Any]]) -> Questions:
    try:
        return Questions("", questions=ask_user.parse(entries))
    except ToolError as error:
        raise ValueError(f"ask: {error}") from error


def _entry(question: Any, options: Sequence[Option], own_words: str | None = None) -> dict[str, Any]:
    """`own_words` is one more option, which stands for whatever the person writes."""
    offered: list[dict[str, Any]] = [_offered(option) for option in options]
    if own_words is not None:
        offered.append({"label": own_words, "value": own_words, "allow_custom": True})
    return {"question": question, "options": offered}


def _offered(option: Option) -> dict[str, Any]:
    if isinstance(option, str):
        return {"label": option, "value": option}
    if isinstance(option, Mapping):
        return {"value": option.get("label"), **option}
    given: object = option  # an operator's code may give anything
    if isinstance(given, Sequence) and len(given) == 2:
        return {"label": given[0], "value": given[1]}
    raise TypeError(
        "ask: an option is a text, a pair of what the person sees and what is returned, or a dict of both as"
        f" label and value, not {type(given).__name__}"
    )


def _made(workspace: Path) -> Path:
    workspace.mkdir(0o700, parents=True, exist_ok=True)
    return workspace
