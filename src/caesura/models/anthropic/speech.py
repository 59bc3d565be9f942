"""Requests for Anthropic's messages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from caesura.core.messages import Message
from caesura.models import histories
from caesura.models.anthropic import blocks
from caesura.models.anthropic.reply import MessageReply
from caesura.models.model import Schema
from caesura.models.replies import Reply

#: The newer version refuses `temperature`, `top_p` and `top_k` for every model.
VERSIONS = ("2023-06-01", "2026-10-21")
_CACHED = {"type": "ephemeral"}
_NO_TEMPERATURE = "no temperature"
_NO_THOUGHTS = "thoughts do not go back"
_LESS = "max_tokens "
#: `claude-3-5-haiku-latest`, `claude-opus-4-20250514`, `claude-sonnet-5-5`, and the same with points.
_NAME = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
#: From this version on models refuse `temperature`.
_WITHOUT_TEMPERATURE = (4, 7)
_MOST_TOKENS = re.compile(r"max_tokens: \d+ > (\d+)")


class Messages:
    path = "/v1/messages"

    def __init__(
        self, model: str, temperature: float | None, options: Mapping[str, Any], version: str = VERSIONS[0]
    ) -> None:
        self._model, self._options = model, options
        takes = version == VERSIONS[0] and takes_temperature(model) and not _thinks(options)
        self._temperature = temperature if takes else None

    def body(
        self, messages: Sequence[Message], tools: Sequence[Schema], remedies: Collection[str]
    ) -> dict[str, Any]:
        said = blocks.messages_of(messages, thoughts=_NO_THOUGHTS not in remedies)
        _mark(said)
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._most(remedies),
            "messages": said,
            "stream": True,
        }
        system = histories.system_of(messages)
        if system:
            body["system"] = [{"type": "text", "text": system, "cache_control": _CACHED}]
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
            if not system:
                body["tools"][-1]["cache_control"] = _CACHED
        if self._temperature is not None and _NO_TEMPERATURE not in remedies:
            body["temperature"] = self._temperature
        return body | dict(self._options)

    def _most(self, remedies: Collection[str]) -> int:
        for remedy in remedies:
            if remedy.startswith(_LESS):
                return int(remedy.removeprefix(_LESS))
        thinking = self._options.get("thinking")
        budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
        usual = most_tokens(self._model)
        return usual + budget if isinstance(budget, int) else usual

    def remedy(self, refusal: str, remedies: Collection[str]) -> str | None:
        if "temperature" in refusal and self._temperature is not None and _NO_TEMPERATURE not in remedies:
            return _NO_TEMPERATURE
        fewer = _MOST_TOKENS.search(refusal)
        if fewer and "max_tokens" not in self._options and not any(r.startswith(_LESS) for r in remedies):
            return f"{_LESS}{fewer[1]}"
        # Thoughts are bound to their model: another one, to which a turn has fallen back, may refuse them.
        about_thoughts = "thinking" in refusal and ("block" in refusal or "signature" in refusal)
        return _NO_THOUGHTS if about_thoughts and _NO_THOUGHTS not in remedies else None

    def lasts(self, remedy: str) -> bool:
        return remedy != _NO_THOUGHTS

    def reply(self, host: str, secrets: tuple[str, ...]) -> Reply:
        return MessageReply(host, secrets)


def takes_temperature(model: str) -> bool:
    version = _version(model)
    return version is None or version < _WITHOUT_TEMPERATURE


def most_tokens(model: str) -> int:
    """The bound of a reply, which a request must name."""
    version = _version(model)
    if version is None or version >= (4, 0):
        return 32_000
    return 8_192 if version >= (3, 5) else 4_096


def _version(model: str) -> tuple[int, int] | None:
    found = _NAME.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def _thinks(options: Mapping[str, Any]) -> bool:
    thinking = options.get("thinking")
    return isinstance(thinking, dict) and thinking.get("type") != "disabled"


def _mark(said: list[dict[str, Any]]) -> None:
    """Have the history cached up to its end, and up to the person's last message: the thoughts behind that
    are left out as soon as the turn has ended."""
    users = [message for message in said if message["role"] == "user"]
    last = [message for message in users if message["content"][-1]["type"] == "text"][-1:]
    for message in [*last, *users[-1:]]:
        message["content"][-1]["cache_control"] = _CACHED


def _tool(tool: Schema) -> dict[str, Any]:
    schema = tool.parameters if tool.parameters.get("type") else {"type": "object", **tool.parameters}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}
