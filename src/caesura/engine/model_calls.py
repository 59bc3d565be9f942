"""Calling the model: every piece of the reply becomes an event when it arrives.

A failed call is retried, then tried on the fallback models, but only before its first word. After the first
word another attempt would repeat text, so the turn fails and keeps the text so far. Arguments of a tool call
are no words: they are void, and another attempt writes them again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple, cast

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from caesura.core import events as ev
from caesura.core.errors import CaesuraError
from caesura.core.messages import Message
from caesura.engine import confirmations, history, speech
from caesura.engine.agent import BoundModel, Compiled
from caesura.engine.cancellation import strays_fail
from caesura.engine.confirmations import Answered
from caesura.engine.failures import ModelFailed
from caesura.engine.run import Scope
from caesura.engine.speech import reasoning_of, text_of, usage_of

logger = logging.getLogger(__name__)

_LONGEST_PAUSE = 20.0
#: Yield to the event loop after this many pieces: a model that never waits would block all other runs.
_BREATH = 32


class Said(NamedTuple):
    """The agent's next message. `asks` are the sentences in which it asks for a confirmation that is still to
    be given. `answers` are what the person has answered to it so far."""

    message: AIMessage
    asks: str | None = None
    answers: Sequence[Answered] = ()


async def call(scope: Scope, state: Sequence[BaseMessage]) -> Said:
    """The agent's next message. A message that is already in the log is taken from there; the model is not
    called."""
    run, agent, parent = scope.run, scope.agent, scope.parent
    said = run.replies_of(parent)
    place = sum(isinstance(message, AIMessage) for message in state)
    if place < len(said):
        return await _recorded(scope, said[place])
    prompt = _prompt(agent, run.history if parent is None else [], state)
    with run.step():
        return await _answer(scope, prompt)


async def _recorded(scope: Scope, reply: Message) -> Said:
    run, message = scope.run, cast(AIMessage, history.message(reply))
    if scope.parent is not None:
        return Said(message)
    answers = confirmations.answers_to(run, reply)
    is_open = confirmations.is_open(run, reply, answers)
    return Said(message, await confirmations.reason_in(scope, reply.content) if is_open else None, answers)


async def _answer(scope: Scope, prompt: list[BaseMessage]) -> Said:
    run = scope.run
    failure: Exception | None = None
    for model in scope.agent.models:
        for attempt in range(run.limits.attempts):
            speaker = _Speaker(scope, model.label)
            try:
                with strays_fail(run.is_broken_off):
                    return await speaker.speak(model, prompt)
            except CaesuraError:
                raise
            except Exception as error:
                failure = error
                logger.warning("model %s failed: %s", model.label, error)
                if speaker.spoke:
                    raise ModelFailed("the model broke off", cause=error) from error
                speaker.void()
                if not transient(error):
                    break
                if attempt + 1 < run.limits.attempts:
                    await asyncio.sleep(_pause(error, run.limits.backoff * 2**attempt))
    raise ModelFailed("the model is not available", cause=failure) from failure


class _Speaker:
    """One try of a model call."""

    def __init__(self, scope: Scope, label: str) -> None:
        self._run, self._scope, self._label = scope.run, scope, label
        self._call = 0
        self.spoke = False
        self._live = frozenset(name for name, tool in scope.agent.tools.items() if tool.shown_live)
        self._listener = confirmations.scanner(scope)

    def void(self) -> None:
        """What this try has written of tool calls does not count."""
        if self._call:
            self._run.say(ev.TextVoided(self._call))

    async def speak(self, model: BoundModel, prompt: list[BaseMessage]) -> Said:
        run, reply, held, words, listener = self._run, speech.Reply(), 0, False, self._listener
        async with aclosing(speech.pieces(model.runnable, prompt, run.config)) as said:
            async for piece in said:
                run.check()
                chunk = speech.chunk(piece)
                reply.add(chunk)
                if reasoning := reasoning_of(chunk):
                    self.spoke = True
                    run.say(ev.ReasoningDelta(self._begin(), _clean(reasoning)))
                shown = False
                if text := _clean(text_of(chunk)):
                    self.spoke = shown = True
                    run.say(ev.TextDelta(self._begin(), text))
                    if listener is not None:
                        await confirmations.feed(listener, text, run.aside)
                if chunk.tool_call_chunks:
                    held += sum(len(call["args"] or "") for call in chunk.tool_call_chunks)
                    run.bound(held)
                    shown = self._show_calls(reply) or shown
                if shown and not words:
                    # A model that never waits would hold the interpreter lock and delay the thread that
                    # writes.
                    await run.stream.commit()
                    words = True
                if reply.pieces % _BREATH == 0:
                    await run.stream.breathe()
        run.check()
        if not reply.pieces:
            raise ValueError("the model said nothing at all")
        message = speech.with_own_ids(reply.message(), run.call_ids())
        run.reserve(call["id"] or "" for call in message.tool_calls)
        run.say(
            ev.ModelFinished(
                self._begin(),
                speech.tool_calls(message),
                usage_of(message),
                speech.finish_reason(message),
            )
        )
        return Said(message, listener.end() if listener is not None else None)

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
            self._run.say(ev.ModelStarted(self._call, scope.agent.name, self._label, scope.parent))
        return self._call


def transient(error: Exception) -> bool:
    """Whether the same call may succeed a little later."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in (408, 409, 425, 429) or status >= 500
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    names = [kind.__name__ for kind in type(error).__mro__]  # each provider's library has its own classes
    return any(word in name for name in names for word in ("Connection", "Timeout", "TransportError"))


def _pause(error: Exception, otherwise: float) -> float:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(max(float(headers.get("retry-after", "")), 0.0), _LONGEST_PAUSE)
    except ValueError:
        return otherwise


def _prompt(agent: Compiled, history: list[BaseMessage], state: Sequence[BaseMessage]) -> list[BaseMessage]:
    system = [SystemMessage(agent.system_prompt)] if agent.system_prompt else []
    return [*system, *history, *state]


def _clean(text: str) -> str:
    # A NUL in a reply could pass for a signal on the wire.
    return text.replace("\0", "") if "\0" in text else text
