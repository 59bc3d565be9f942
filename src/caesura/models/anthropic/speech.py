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
#: The model's window, and what a history leaves of it for the answer.
_WINDOW, _LEFT = "window ", "left "
#: `claude-3-5-haiku-latest`, `claude-opus-4-20250514`, `claude-sonnet-5-5`, and the same with points.
_NAME = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")
#: From this version on models refuse `temperature`.
_WITHOUT_TEMPERATURE = (4, 7)
_MOST_TOKENS = re.compile(r"max_tokens: \d+ > (\d{1,9})\b")
#: `1548 + 32000 > 20001`: the history and the answer together are longer than the window.
_TOGETHER = re.compile(r"max_tokens.{0,40} exceed context limit: (\d{1,9}) \+ \d+ > (\d{1,9})\b")
#: The part of the window that an answer may take, the fewest tokens that are left for one, and their part.
_PART, _FEWEST, _FEWEST_PART = 2, 1_024, 8


class Messages:
    path = "/v1/messages"

    def __init__(
        self,
        model: str,
        temperature: float | None,
        options: Mapping[str, Any],
        version: str = VERSIONS[0],
        window: int | None = None,
    ) -> None:
        """`window` is the size of the model's window, if it is known."""
        self._model, self._options, self._window = model, options, window
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
        """The bound of the answer: the usual one, or a smaller one where the window or the provider demands
        it. It leaves at least the budget for thinking."""
        thinking = self._options.get("thinking")
        given = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
        budget = given if isinstance(given, int) and given > 0 else 0
        bounds = [most_tokens(self._model) + budget, *_numbers(remedies, _LESS), *_numbers(remedies, _LEFT)]
        windows = [*_numbers(remedies, _WINDOW), *([self._window] if self._window is not None else [])]
        bounds += [max(window // _PART, budget + 1) for window in windows]
        return max(min(bounds), 1)

    def remedy(self, refusal: str, remedies: Collection[str]) -> str | None:
        if "temperature" in refusal and self._temperature is not None and _NO_TEMPERATURE not in remedies:
            return _NO_TEMPERATURE
        fewer = _MOST_TOKENS.search(refusal)
        is_ours = "max_tokens" not in self._options
        if fewer and is_ours and not _numbers(remedies, _LESS):
            return f"{_LESS}{fewer[1]}"
        together = _TOGETHER.search(refusal)
        if together and is_ours:
            return _room(int(together[1]), int(together[2]), remedies)
        # Thoughts are bound to their model: another one, to which a turn has fallen back, may refuse them.
        about_thoughts = "thinking" in refusal and ("block" in refusal or "signature" in refusal)
        return _NO_THOUGHTS if about_thoughts and _NO_THOUGHTS not in remedies else None

    def lasts(self, remedy: str) -> bool:
        return remedy != _NO_THOUGHTS and not remedy.startswith(_LEFT)

    def reply(self, host: str, secrets: tuple[str, ...]) -> Reply:
        return MessageReply(host, secrets)


def _numbers(remedies: Collection[str], name: str) -> list[int]:
    return [int(remedy.removeprefix(name)) for remedy in remedies if remedy.startswith(name)]


def _room(taken: int, window: int, remedies: Collection[str]) -> str | None:
    """A shorter answer for a history that takes so many tokens of the window; None if the history leaves
    nearly nothing, so that it must become shorter itself."""
    if taken <= window // _PART and window >= _FEWEST and not _numbers(remedies, _WINDOW):
        return f"{_WINDOW}{window}"
    left = window - taken
    enough = left >= min(_FEWEST, window // _FEWEST_PART) and left > 0
    return f"{_LEFT}{left}" if enough and not _numbers(remedies, _LEFT) else None


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
