"""A short request beside a turn: for a title, for a summary."""

from collections.abc import Callable, Sequence
from contextlib import aclosing

from caesura.core.messages import Message
from caesura.engine.cancellation import strays_fail
from caesura.engine.observers import ModelBegins, Watching
from caesura.engine.speech import counted
from caesura.models.model import Model, Text, Usage


async def ask(
    model: Model,
    prompt: Sequence[Message],
    watching: Watching,
    most: int,
    closed: Callable[[], bool] = lambda: False,
) -> str:
    """The text of the reply. It is read until it has more than `most` characters, or nobody wants it:
    a model may ignore its cancellation."""
    said, size = list[str](), 0
    with strays_fail(), watching.call(ModelBegins(model.label, prompt)) as ended:
        async with aclosing(model.stream(prompt)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Text):
                    said.append(piece.text)
                    size += len(piece.text)
                elif isinstance(piece, Usage):
                    ended.usage = counted(piece.counts)
                if size > most or closed():
                    break
        ended.output = "".join(said)
    return ended.output
