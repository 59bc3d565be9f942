"""Confirmations that an agent asks for in words: who is listened to, what is asked, what was answered.

A reply that asks ends the segment. The tool calls of the reply are not made before the person has answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from caesura.agents import phrases
from caesura.agents.aside import Aside
from caesura.agents.phrases import Scanner
from caesura.core import described, ids
from caesura.core.answers import refuses
from caesura.core.interrupts import Confirmation
from caesura.core.messages import Message
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.engine import texts
from caesura.engine.run import Run, Scope

#: The graph id of an interrupt that comes from no graph: a confirmation that the agent asked for in its text.
IN_WORDS = "words"
#: The characters of a reply, from its end, that are shown with the confirmation for which it asks.
_CONTEXT = 2000


class Answered(NamedTuple):
    """The message in which the agent reads a person's answer to a confirmation, and whether they refuse.
    `lapsed`: they have stopped the turn since."""

    message: str
    refuses: bool
    lapsed: bool


def scanner(scope: Scope) -> Scanner | None:
    """What listens to a reply. A sub-agent is not listened to: its words are a result for its caller, and
    the person is not spoken to."""
    spec = scope.agent.spec.interrupt
    return Scanner(spec.phrases) if spec.enabled and scope.parent is None else None


async def feed(listener: Scanner, text: str, aside: Aside) -> None:
    if len(text) > phrases.LONG:
        await aside.run(listener.feed, text)
    else:
        listener.feed(text)


async def reason_in(scope: Scope, text: str) -> str | None:
    """The sentences of a whole text that ask for a confirmation."""
    listener = scanner(scope)
    if listener is None:
        return None
    await feed(listener, text, scope.run.aside)
    return listener.end()


def confirmation(run: Run, reason: str, said: str) -> Confirmation:
    """A confirmation for which the agent asks by these sentences, in what it `said`."""
    label = texts.confirm_label(run.language)
    text = described.text(reason, run.language)
    return Confirmation(
        ids.interrupt(),
        label=label,
        description=described.sentence(label, text, run.language) if text.size else text.text,
        reason=reason,
        context=_end_of(said),
        fields=run.agent.spec.interrupt.form(run.language),
        agent=run.agent.name,
    )


def _end_of(said: str) -> str:
    text = said.strip()
    return text if len(text) <= _CONTEXT else f"…{text[1 - _CONTEXT :]}"


def answers_to(run: Run, reply: Message) -> list[Answered]:
    """The person's answers to the confirmation that a reply of the agent asked for. There is more than one if
    they stopped the turn after the first."""
    messages = run.transcript.finished
    place = 1 + next(index for index, message in enumerate(messages) if message is reply)
    answered = given(run)[sum(message.role == "user" for message in messages[:place]) :]
    told = [message.content for message in _until_next(messages[place:]) if message.role == "user"]
    lapsed = run.transcript.lapsed
    return [
        Answered(text, refuses(item.interrupt, item.answer), item.interrupt.id in lapsed)
        for text, item in zip(told, answered, strict=False)
        if item.answer is not None
    ]


def is_open(run: Run, reply: Message, answers: Sequence[Answered]) -> bool:
    """Whether a confirmation that the reply asks for is still to be given. Nothing follows the reply then.
    Or the person has stopped the turn since they answered, and not all of its calls have come to an end: what
    they allowed and what was not done is allowed no longer."""
    if not answers:
        return run.transcript.finished[-1] is reply
    ended = {message.tool_call_id for message in run.transcript.finished if message.role == "tool"}
    return answers[-1].lapsed and any(call["id"] not in ended for call in reply.tool_calls)


def unanswered(run: Run) -> Sequence[Message]:
    """The agent's own replies since the person's last message. What earlier replies asked for has been
    answered."""
    own = [message for message in run.transcript.finished if message.parent is None]
    asked = max((place + 1 for place, message in enumerate(own) if message.role == "user"), default=0)
    return [message for message in own[asked:] if message.role == "assistant"]


def given(run: Run) -> list[StoredInterrupt]:
    """The answered confirmations of the turn, in the order of the messages that they became."""
    return [item for item in run.interrupts if item.graph_id == IN_WORDS and item.answer is not None]


def trailing(run: Run) -> Iterator[Message]:
    """The person's answers after which nobody has said anything, the last one first."""
    return takewhile(lambda item: item.role == "user", reversed(run.transcript.finished))


def _until_next(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages before the next reply of the agent itself."""
    return takewhile(lambda item: item.role != "assistant" or item.parent is not None, messages)
