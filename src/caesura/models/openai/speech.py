"""Requests for chat completions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from caesura.core.messages import Message
from caesura.models import histories
from caesura.models.model import Schema
from caesura.models.openai.reply import DETAILS, CompletionReply
from caesura.models.replies import Reply

#: What some servers refuse, and how a request does without.
_NO_STREAM_OPTIONS = "no stream_options"
_NO_TEMPERATURE = "no temperature"
_NO_EFFORT = "no reasoning beside tools"
_REASONING_BACK = "reasoning goes back"
_NO_REASONING_BACK = "reasoning does not go back"
_NO_DETAILS = "reasoning details do not go back"
_LACKING = re.compile(r"must be (passed|sent|provided)|is (required|missing)|missing")


class ChatCompletions:
    """`returns_reasoning`: the provider demands that the reasoning goes back with the calls that it led
    to."""

    path = "/chat/completions"

    def __init__(
        self,
        model: str,
        temperature: float | None,
        options: Mapping[str, Any],
        returns_reasoning: bool = False,
    ) -> None:
        self._model, self._temperature, self._options = model, temperature, options
        self._returns_reasoning = returns_reasoning

    def body(
        self, messages: Sequence[Message], tools: Sequence[Schema], remedies: Collection[str]
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": self._messages(messages, remedies),
            "stream": True,
        }
        if _NO_STREAM_OPTIONS not in remedies:
            body["stream_options"] = {"include_usage": True}
        if self._temperature is not None and _NO_TEMPERATURE not in remedies:
            body["temperature"] = self._temperature
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
            if _NO_EFFORT in remedies:
                body["reasoning_effort"] = "none"
        return body | dict(self._options)

    def remedy(self, refusal: str, remedies: Collection[str]) -> str | None:
        for remedy in self._remedies(refusal):
            if remedy not in remedies:
                return remedy
        return None

    def _remedies(self, refusal: str) -> list[str]:
        found = []
        if "stream_options" in refusal or "include_usage" in refusal:
            found.append(_NO_STREAM_OPTIONS)
        if "reasoning_effort" in refusal and "tool" in refusal and "reasoning_effort" not in self._options:
            found.append(_NO_EFFORT)
        if "temperature" in refusal and self._temperature is not None:
            found.append(_NO_TEMPERATURE)
        if "reasoning_content" in refusal:
            found.append(_REASONING_BACK if _LACKING.search(refusal) else _NO_REASONING_BACK)
        if "reasoning_details" in refusal or "signature" in refusal:
            found.append(_NO_DETAILS)
        return found

    def lasts(self, remedy: str) -> bool:
        return remedy != _NO_DETAILS

    def reply(self, host: str, secrets: tuple[str, ...]) -> Reply:
        return CompletionReply(host, secrets)

    def _messages(self, messages: Sequence[Message], remedies: Collection[str]) -> list[dict[str, Any]]:
        reasoning = self._returns_reasoning or _REASONING_BACK in remedies
        reasoning = reasoning and _NO_REASONING_BACK not in remedies
        system = histories.system_of(messages)
        said: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        for message in histories.sound(messages):
            if message.role == "assistant":
                said.append(_assistant(message, reasoning, _NO_DETAILS not in remedies))
            elif message.role == "tool":
                content = message.content if message.content.strip() else histories.NOTHING
                said.append({"role": "tool", "tool_call_id": message.tool_call_id, "content": content})
            else:
                said.append({"role": "user", "content": message.content})
        return said


def _assistant(message: Message, reasoning: bool, details: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": message.content}
    if not message.tool_calls:
        return said
    if not message.content.strip():
        said["content"] = None
    said["tool_calls"] = [_call(call) for call in message.tool_calls]
    kept = [block["details"] for block in message.kept if block.get("type") == DETAILS] if details else []
    if kept:
        said[DETAILS] = kept[-1]
    elif reasoning:
        said["reasoning_content"] = message.reasoning
    return said


def _call(call: dict[str, Any]) -> dict[str, Any]:
    args = call.get("args") or {}
    arguments = args if isinstance(args, str) else orjson.dumps(args, option=orjson.OPT_NON_STR_KEYS).decode()
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _tool(tool: Schema) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}
