"""The demo model, `demo (no AI)`: rules that stream, think, call tools, ask and fail like a model does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from caesura.agents.aside import Aside
from caesura.core.messages import Message
from caesura.models.failures import ModelError
from caesura.models.model import CallPart, Finish, Piece, Reasoning, Schema, Text, Usage

if TYPE_CHECKING:
    from caesura.agents.demo.scene import Call, Reply, Scene

#: The tokens: words with the space after them, and Chinese text two characters at a time.
_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]{1,2}|[^\s\u3400-\u9fff\uf900-\ufaff]+\s*|\s+")
_MOST_TRIES = 1000
#: Arguments that are not longer come in two pieces. Longer ones come word by word like a text, but in no more
#: pieces than this.
_SHORT_ARGUMENTS, _MOST_PIECES = 200, 1000
#: The rules take a while for a longer message, so it is matched in a thread.
_LONG = 1024

LABEL = "demo (no AI)"


class DemoFailure(ModelError):
    """The demo model fails because it was asked to, as a busy provider would."""

    def __init__(self) -> None:
        super().__init__("provider", "the demo model failed, as it was asked to")


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model_name: str = LABEL
    delay: float = Field(default=0.01, ge=0, le=60)
    think: bool = True
    temperature: float | None = None


class DemoModel:
    """Acts on the last thing the person said and on what followed it. The same input gives the same output,
    but for `fail 2 times`, which counts."""

    def __init__(self, **options: Any) -> None:
        """Raises `ValueError` for options that `Options` does not have."""
        self._options = Options(**options)
        self._tries: dict[str, int] = {}
        self._aside = Aside("caesura-demo")

    @property
    def label(self) -> str:
        return self._options.model_name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        if max((len(message.content) for message in messages), default=0) > _LONG:
            scene, reply = await self._aside.run(_planned, messages, tools)
        else:
            scene, reply = _planned(messages, tools)
        delay = self._options.delay if scene.delay is None else scene.delay
        await asyncio.sleep(reply.wait)
        for piece in self._pieces(messages, scene, reply):
            yield piece
            await asyncio.sleep(delay)
        yield Finish("tool_calls" if reply.calls else "stop")

    def _pieces(self, messages: Sequence[Message], scene: Scene, reply: Reply) -> Iterator[Piece]:
        """The reply in pieces. The last piece has the usage."""
        thoughts = _TOKEN.findall(reply.thinking) if self._options.think and scene.think else []
        tokens = _TOKEN.findall(reply.text)
        breaks = self._breaking_point(scene, reply, len(tokens))
        for thought in thoughts if breaks != 0 else ():
            yield Reasoning(thought)
        for index, token in enumerate(tokens):
            if index == breaks:
                raise DemoFailure
            yield Text(token)
        parts = [part for index, call in enumerate(reply.calls) for part in _parts(call, index, scene.key)]
        yield from parts
        yield _usage(messages, len(thoughts), len(tokens) + len(parts))

    def _breaking_point(self, scene: Scene, reply: Reply, length: int) -> int | None:
        """The token before which this attempt fails; None for an attempt that succeeds."""
        if reply.breaks is None:
            return None
        if reply.failures is not None:
            if len(self._tries) > _MOST_TRIES:
                self._tries.clear()
            self._tries[scene.key] = self._tries.get(scene.key, 0) + 1
            if self._tries[scene.key] > reply.failures:
                del self._tries[scene.key]
                return None
        return int(length * reply.breaks)


def _planned(messages: Sequence[Message], tools: Sequence[Schema]) -> tuple[Scene, Reply]:
    from caesura.agents.demo import plan  # with many patterns, which only replies need
    from caesura.agents.demo.scene import scene_of

    scene = scene_of(messages, {tool.name: tool.parameters for tool in tools})
    return scene, plan.reply(scene)


def _parts(call: Call, index: int, key: str) -> list[CallPart]:
    """A call as a provider streams it: its name first, then its arguments in parts."""
    args = json.dumps(call.args, ensure_ascii=False) if call.raw is None else call.raw
    head = CallPart(index, id=f"call_{key}_{index}", name=call.name)
    return [head, *(CallPart(index, part) for part in _split(args) if part)]


def _split(args: str) -> list[str]:
    if len(args) <= _SHORT_ARGUMENTS:
        middle = len(args) // 2
        return [args[:middle], args[middle:]]
    tokens = _TOKEN.findall(args)
    step = -(-len(tokens) // _MOST_PIECES)
    return ["".join(tokens[place : place + step]) for place in range(0, len(tokens), step)]


def _usage(messages: Sequence[Message], thoughts: int, tokens: int) -> Usage:
    read = sum(len(message.content) // 4 + 1 for message in messages)
    written = thoughts + tokens
    counts = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    return Usage(counts | ({"reasoning_tokens": thoughts} if thoughts else {}))
