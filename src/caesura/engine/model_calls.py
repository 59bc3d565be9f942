"""Calling the model: every piece of the reply becomes an event when it arrives.

A failed call is retried, then tried on the fallback models, but only before its first word. After the first
word another attempt would repeat text, so the turn fails and keeps the text so far. Arguments of a tool call
are no words: they are void, and another attempt writes them again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from caesura.core import events as ev
from caesura.core.errors import CaesuraError
from caesura.core.language import Language
from caesura.core.messages import Message
from caesura.engine import confirmations, model_failures, speech, texts, view
from caesura.engine.branch import Branch
from caesura.engine.cancellation import strays_fail
from caesura.engine.confirmations import Answered
from caesura.engine.failures import ModelFailed
from caesura.engine.history import valid
from caesura.engine.observers import Ended, ModelBegins
from caesura.engine.run import Scope
from caesura.engine.view import Place, Scene, View
from caesura.engine.windows import Window
from caesura.models.failures import ModelError
from caesura.models.model import CallPart, Model, Reasoning, Text

logger = logging.getLogger(__name__)

#: Yield to the event loop after this many pieces: a model that never waits would block all other runs.
_BREATH = 32
#: How often a history is shortened for a provider that refuses it.
_CUTS = 8
#: Anthropic's reason for an answer that has come to the end of the model's window.
_FULL = "model_context_window_exceeded"
#: What providers say of an answer that has come to the greatest number of tokens for an answer.
_SHORT = ("length", "max_tokens", "MAX_TOKENS")


class Said(NamedTuple):
    """The agent's next message. `asks` are the sentences in which it asks for a confirmation that is still to
    be given. `answers` are what the person has answered to it so far. `full`: it was cut off at the end of
    the model's window."""

    message: Message
    asks: str | None = None
    answers: Sequence[Answered] = ()
    full: bool = False


async def call(scope: Scope, state: Sequence[Message]) -> Said:
    """The agent's next message. A message that is already in the log is taken from there; the model is not
    called."""
    run, parent = scope.run, scope.parent
    said = run.replies_of(parent)
    place = sum(message.role == "assistant" for message in state)
    if place < len(said):
        return await _recorded(scope, said[place])
    branch = run.history if parent is None else Branch()
    scene = Scene(scope.agent, branch, run.turn.id, valid(state), run.summaries)
    with run.step():
        return await _answer(scope, scene)


async def _recorded(scope: Scope, reply: Message) -> Said:
    if scope.parent is not None:
        return Said(reply)
    run = scope.run
    answers = confirmations.answers_to(run, reply)
    is_open = confirmations.is_open(run, reply, answers)
    return Said(reply, await confirmations.reason_in(scope, reply.content) if is_open else None, answers)


async def _answer(scope: Scope, scene: Scene) -> Said:
    label = ""
    failure: Exception | None = None
    for model, window in zip(scope.agent.models, scope.agent.windows, strict=True):
        if failure is not None:
            logger.warning("model %s failed, %s is asked: %s", label, model.label, failure)
        try:
            return await _fitted(scope, scene, model, window)
        except _GivenUp as given_up:
            label, failure = model.label, given_up.cause
    raise ModelFailed(model_failures.told(failure), cause=failure, model=label) from failure


class _GivenUp(Exception):
    """A model did not reply."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _fitted(scope: Scope, scene: Scene, model: Model, window: Window) -> Said:
    """The reply of this model, or `_GivenUp`. If its provider finds the history too long, it is shown less of
    it: people notice nothing of that."""
    run, conversation_id = scope.run, scope.run.turn.conversation_id
    place = run.places.setdefault((scope.parent, id(window)), Place())
    refused: View | None = None
    failure: Exception | None = None
    for _ in range(_CUTS):
        try:
            shown = view.make(scene, model.label, window, conversation_id, place)
        except ModelError as error:
            raise _GivenUp(error) from error
        if refused is not None:
            if shown.tokens >= refused.tokens:
                break
            logger.warning("model %s failed, it is shown less: %s", model.label, failure)
        try:
            said = await _persist(scope, model, shown)
        except _TooLong as error:
            failure, refused = error.cause, shown
            window.refuse(conversation_id, shown.tokens, error.cause.context_tokens)
            continue
        window.count(conversation_id, shown.tokens, said.message.usage)
        if said.full:
            window.fill(conversation_id, shown.tokens, said.message.usage)
        if scope.parent is None:
            run.last_view = model, window, shown
        return said
    assert failure is not None  # noqa: S101 - no other way leads here
    raise _GivenUp(failure) from failure


class _TooLong(Exception):
    """The provider finds the history too long for the model."""

    def __init__(self, cause: ModelError) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _persist(scope: Scope, model: Model, shown: View) -> Said:
    """The reply of this model, or `_GivenUp` after a few attempts."""
    run = scope.run
    for attempt in range(run.limits.attempts):
        speaker = _Speaker(scope, model.label, shown.first)
        try:
            with strays_fail(run.is_broken_off):
                return await speaker.speak(model, shown.messages)
        except CaesuraError:
            raise
        except Exception as error:
            if speaker.spoke:
                raise ModelFailed("the model broke off", cause=error, model=model.label) from error
            speaker.void()
            if (too_long := model_failures.too_long(error)) is not None:
                raise _TooLong(too_long) from error
            pause = model_failures.pause(error, run.limits.backoff * 2**attempt)
            if pause is None or attempt + 1 == run.limits.attempts:
                raise _GivenUp(error) from error
            logger.warning("model %s failed, it is asked again: %s", model.label, error)
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


class _Speaker:
    """One try of a model call."""

    def __init__(self, scope: Scope, label: str, context_from: str | None) -> None:
        self._run, self._scope, self._label = scope.run, scope, label
        self._context_from = context_from
        self._call = 0
        self.spoke = self._wrote = False
        self._began = time.monotonic()
        self._thought: int | None = None
        self._live = frozenset(name for name, tool in scope.agent.tools.items() if tool.shown_live)
        self._listener = confirmations.scanner(scope)

    def void(self) -> None:
        """What this try has written of tool calls does not count."""
        if self._call:
            self._run.say(ev.TextVoided(self._call))

    async def speak(self, model: Model, prompt: list[Message]) -> Said:
        agent = self._scope.agent
        begins = ModelBegins(self._label, prompt, agent.name, agent.schemas, self._scope.parent)
        with self._run.watching.call(begins) as ended:
            reply = await self._hear(model, prompt)
            self._run.check()
            message = self._finish(reply, ended)
        asks = self._listener.end() if self._listener is not None else None
        return Said(message, asks, full=reply.finish_reason == _FULL)

    async def _hear(self, model: Model, prompt: list[Message]) -> speech.Reply:
        run, reply, pieces, held, words = self._run, speech.Reply(), 0, 0, False
        async with aclosing(model.stream(prompt, self._scope.agent.schemas)) as said:
            async for piece in said:
                run.check()
                pieces += 1
                shown = False
                if isinstance(piece, Text):
                    if piece.text:
                        shown = await self._say(piece.text)
                elif isinstance(piece, Reasoning):
                    if piece.text:
                        self.spoke = True
                        if not self._wrote:
                            self._thought = round((time.monotonic() - self._began) * 1000)
                        run.say(ev.ReasoningDelta(self._begin(), _clean(piece.text)))
                else:
                    reply.add(piece)
                    if isinstance(piece, CallPart):
                        held += len(piece.args)
                        run.bound(held)
                        shown = self._show_calls(reply)
                if shown and not words:
                    # A model that never waits would hold the interpreter lock and delay the thread that
                    # writes.
                    await run.stream.commit()
                    words = True
                if pieces % _BREATH == 0:
                    await run.stream.breathe()
        if not pieces:
            raise ModelError("broken", "the model said nothing at all")
        if reply.finish_reason == _FULL and not self.spoke:
            raise ModelError("context", "the model's window was full before its first word")
        return reply

    async def _say(self, given: str) -> bool:
        text = _clean(given)
        if not text:
            return False
        self.spoke = self._wrote = True
        self._run.say(ev.TextDelta(self._begin(), text))
        if self._listener is not None:
            await confirmations.feed(self._listener, text, self._run.aside)
        return True

    def _finish(self, reply: speech.Reply, ended: Ended) -> Message:
        """End the call in the log. The transcript has the message then."""
        run, number = self._run, self._begin()
        calls = reply.tool_calls(run.call_ids())
        run.reserve(call["id"] for call in calls)
        if not calls and (note := _note(reply.finish_reason, run.language)):
            run.say(ev.TextDelta(number, ("\n\n" if self._wrote else "") + note))
        ended_as = (reply.usage, reply.finish_reason, reply.kept, self._thought)
        run.say(ev.ModelFinished(number, calls, *ended_as))
        _, message = run.transcript.calls[number]
        ended.output, ended.tool_calls = message.content, calls
        ended.usage, ended.finish_reason = reply.usage, reply.finish_reason
        return message

    def _show_calls(self, reply: speech.Reply) -> bool:
        """Show what is new in tool calls that people see while they are written. Returns whether there was
        anything."""
        shown = False
        for place, text, name in reply.new_arguments(self._live):
            self._run.say(ev.CallDelta(self._begin(), place, _clean(text), name))
            shown = True
        return shown

    def _begin(self) -> int:
        if not self._call:
            scope, self._call = self._scope, self._run.next_call()
            started = ev.ModelStarted(
                self._call, scope.agent.name, self._label, scope.parent, context_from=self._context_from
            )
            self._run.say(started)
        return self._call


def _note(finish_reason: str | None, language: Language) -> str | None:
    """What people are told of an answer that ended too early."""
    if finish_reason == _FULL:
        return texts.cut_off(language)
    return texts.cut_short(language) if finish_reason in _SHORT else None


def _clean(text: str) -> str:
    # A NUL in a reply could pass for a signal on the wire.
    return text.replace("\0", "") if "\0" in text else text
