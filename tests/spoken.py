"""What a model says, as pieces and as one message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from caesura.core.messages import Message
from caesura.engine.speech import Reply
from caesura.models.model import Model, Piece, Reasoning, Schema, Text


def user(text: str) -> Message:
    return Message("user", text)


async def pieces(model: Model, said: Sequence[Message], tools: Sequence[Schema] = ()) -> list[Piece]:
    return [piece async for piece in model.stream(said, tools)]


async def reply(model: Model, said: Sequence[Message], tools: Sequence[Schema] = ()) -> Message:
    return message(await pieces(model, said, tools))


def message(found: Iterable[Piece]) -> Message:
    """The pieces as the engine adds them up."""
    gathered, texts, thoughts = Reply(), list[str](), list[str]()
    for piece in found:
        if isinstance(piece, Text):
            texts.append(piece.text)
        elif isinstance(piece, Reasoning):
            thoughts.append(piece.text)
        else:
            gathered.add(piece)
    return Message(
        "assistant",
        "".join(texts),
        reasoning="".join(thoughts),
        tool_calls=gathered.tool_calls(()),
        kept=gathered.kept,
        usage=gathered.usage,
    )
