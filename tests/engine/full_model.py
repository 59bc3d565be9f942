"""Models that end their answers too early: at the end of the window, as Anthropic's newer ones do, or for
another reason."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from caesura.agents import titles
from caesura.core.messages import Message
from caesura.engine import tokens
from caesura.models.model import CallPart, Finish, Piece, Reasoning, Schema, Text, Usage

FULL = "model_context_window_exceeded"
WORDS = "some words of an answer " * 30  # about 200 tokens


class Full:
    """Its window takes `window` tokens. What does not fit of an answer is not said. With `thinks` and `calls`
    it has thought, or has begun a call, before it notices."""

    def __init__(self, window: int, thinks: bool = False, calls: bool = False) -> None:
        self._window, self._thinks, self._calls = window, thinks, calls

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if titles.message_in(messages[-1].content) is not None:
            yield Text("A title")
            return
        taken = tokens.of_messages(messages)
        room = max(self._window - taken, 0)
        answer = WORDS if room >= tokens.of_text(WORDS) else WORDS[: room * 3]
        if self._thinks and answer != WORDS:
            yield Reasoning("hm")
        if self._calls and answer != WORDS:
            yield CallPart(0, '{"text": ', "call-1", "note")
        if answer:
            yield Text(answer)
        spoken = tokens.of_text(answer) if answer == WORDS else room
        yield Usage({"input_tokens": taken, "output_tokens": spoken, "total_tokens": taken + spoken})
        yield Finish("end_turn" if answer == WORDS else FULL)


class Ends:
    """It `says` a text, and gives this `reason` for its end."""

    def __init__(self, says: str, reason: str) -> None:
        self._says, self._reason = says, reason

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text(self._says)
        yield Finish(self._reason)
