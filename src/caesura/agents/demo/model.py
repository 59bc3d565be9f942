"""The demo model, `demo (no AI)`: rules that stream, think, call tools, ask and fail like a model does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, PrivateAttr

from caesura.agents.aside import Aside
from caesura.agents.demo import plan
from caesura.agents.demo.scene import Call, Reply, Scene, scene_of

#: The tokens: words with the space after them, and Chinese text two characters at a time.
_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]{1,2}|[^\s\u3400-\u9fff\uf900-\ufaff]+\s*|\s+")
_MOST_TRIES = 1000
#: Arguments that are not longer come in two pieces. Longer ones come word by word like a text, but in no more
#: pieces than this.
_SHORT_ARGUMENTS, _MOST_PIECES = 200, 1000
#: The rules take a while for a longer message, so it is matched in a thread.
_LONG = 1024


class DemoFailure(Exception):
    """The demo model fails because it was asked to. `status_code` is what a busy provider would say."""

    status_code = 503


class DemoModel(BaseChatModel):
    """Acts on the last thing the person said and on what followed it. The same input gives the same output,
    but for `fail 2 times`, which counts."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    model_name: str = "demo (no AI)"
    delay: float = Field(default=0.01, ge=0, le=60)
    think: bool = True
    temperature: float | None = None

    _tries: dict[str, int] = PrivateAttr(default_factory=dict)
    _aside: Aside = PrivateAttr(default_factory=lambda: Aside("caesura-demo"))

    @property
    def _llm_type(self) -> str:
        return "demo"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        schemas = _schemas(kwargs)
        if max((len(message.text) for message in messages), default=0) > _LONG:
            scene, reply = await self._aside.run(_planned, messages, schemas)
        else:
            scene, reply = _planned(messages, schemas)
        delay = self.delay if scene.delay is None else scene.delay
        await asyncio.sleep(reply.wait)
        for chunk in self._chunks(messages, scene, reply):
            yield chunk
            await asyncio.sleep(delay)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        chunks = [chunk async for chunk in self._astream(messages, stop, run_manager, **kwargs)]
        return generate_from_stream(iter(chunks))

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        scene, reply = _planned(messages, _schemas(kwargs))
        return generate_from_stream(self._chunks(messages, scene, reply))

    def _chunks(
        self, messages: Sequence[BaseMessage], scene: Scene, reply: Reply
    ) -> Iterator[ChatGenerationChunk]:
        """The reply in pieces. The last piece has the usage."""
        thoughts = _TOKEN.findall(reply.thinking) if self.think and scene.think else []
        tokens = _TOKEN.findall(reply.text)
        breaks = self._breaking_point(scene, reply, len(tokens))
        for thought in thoughts if breaks != 0 else ():
            yield _chunk(additional_kwargs={"reasoning_content": thought})
        for index, token in enumerate(tokens):
            if index == breaks:
                raise DemoFailure("the demo model failed, as it was asked to")
            yield _chunk(content=token)
        pieces = [
            piece for index, call in enumerate(reply.calls) for piece in _pieces(call, index, scene.key)
        ]
        for piece in pieces:
            yield _chunk(tool_call_chunks=[piece])
        yield _last(reply, _usage(messages, len(thoughts), len(tokens) + len(pieces)))

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


def _planned(messages: list[BaseMessage], schemas: dict[str, dict[str, Any]]) -> tuple[Scene, Reply]:
    scene = scene_of(messages, schemas)
    return scene, plan.reply(scene)


def _schemas(kwargs: dict[str, Any]) -> dict[str, dict[str, Any]]:
    functions = [tool["function"] for tool in kwargs.get("tools") or () if "function" in tool]
    return {function["name"]: function.get("parameters", {}) for function in functions}


def _pieces(call: Call, index: int, key: str) -> list[ToolCallChunk]:
    """A call as a provider streams it: its name first, then its arguments in parts."""
    args = json.dumps(call.args, ensure_ascii=False) if call.raw is None else call.raw
    head = tool_call_chunk(name=call.name, args="", id=f"call_{key}_{index}", index=index)
    return [head, *(tool_call_chunk(args=part, index=index) for part in _parts(args) if part)]


def _parts(args: str) -> list[str]:
    if len(args) <= _SHORT_ARGUMENTS:
        middle = len(args) // 2
        return [args[:middle], args[middle:]]
    tokens = _TOKEN.findall(args)
    step = -(-len(tokens) // _MOST_PIECES)
    return ["".join(tokens[place : place + step]) for place in range(0, len(tokens), step)]


def _last(reply: Reply, usage: UsageMetadata) -> ChatGenerationChunk:
    reason = "tool_calls" if reply.calls else "stop"
    metadata = {"finish_reason": reason, "model_name": "demo"}
    return _chunk(response_metadata=metadata, usage_metadata=usage, chunk_position="last")


def _usage(messages: Sequence[BaseMessage], thoughts: int, tokens: int) -> UsageMetadata:
    read = sum(len(message.text) // 4 + 1 for message in messages)
    written = thoughts + tokens
    return UsageMetadata(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        output_token_details={"reasoning": thoughts},
    )


def _chunk(content: str = "", **fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=content, **fields))
