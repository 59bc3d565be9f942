"""The input of the demo model: the person's last message, what followed it, and the available tools."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from caesura.core import language
from caesura.core.messages import Message

#: `delay=0.5` and `think=no` in a message change the reply, and are removed from its text with the blanks
#: after them. The line before stays: a prompt for a title begins its message on a new one.
_SETTING = re.compile(
    r"(?<!\S)(?:delay=(?P<delay>\d+(?:\.\d+)?)|think=(?P<think>yes|no))(?:[^\S\n]++|(?=\s)|\Z)"
)
#: A person refused. A failed tool may say that somebody else did: that is no refusal.
_REFUSAL = re.compile(
    r"\b(?:user|person|they|you) (?:has |have )?(?:reject|refus|declin|denied)|用户(?:已?拒绝|取消)",
    re.IGNORECASE,
)
_LONGEST_DELAY = 60.0


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `raw` replaces the arguments with text that is not valid JSON."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's text and tool calls. The reply breaks off after the fraction `breaks` of its text,
    `failures` times or always."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    wait: float = 0.0
    breaks: float | None = None
    failures: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    text: str
    refused: bool
    failed: bool


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its result."""

    name: str
    args: Mapping[str, Any]
    result: Result


@dataclass(frozen=True, slots=True)
class Scene:
    said: str
    language: language.Language
    tools: Mapping[str, Mapping[str, Any]]
    before: tuple[Message, ...]
    since: tuple[Message, ...]
    key: str
    delay: float | None = None
    think: bool = True

    def say(self, english: str, chinese: str) -> str:
        return chinese if self.language == "zh" else english

    @property
    def rounds(self) -> int:
        """How many rounds of tool calls there were since the person's last message."""
        return sum(1 for message in self.since if _calls(message))

    @property
    def results(self) -> list[Result]:
        """The results of the tools that were called since the person's last message."""
        return [_result(message) for message in self.since if message.role == "tool"]

    @property
    def answered(self) -> list[tuple[Result, Mapping[str, Any]]]:
        """The results, each with the arguments of its call, as far as they are known."""
        given = {call["id"]: call["args"] for message in self.since for call in message.tool_calls}
        made = [message for message in self.since if message.role == "tool"]
        return [(_result(message), given.get(message.tool_call_id, {})) for message in made]

    @property
    def calls(self) -> list[Called]:
        """The tool calls since the person's last message that have a result."""
        results = {m.tool_call_id: _result(m) for m in self.since if m.role == "tool"}
        made = [call for m in self.since if m.role == "assistant" for call in m.tool_calls]
        return [Called(c["name"], c["args"], results[c["id"]]) for c in made if c["id"] in results]

    @property
    def settings(self) -> str:
        """The settings in the person's message, to be added to another message."""
        delay = "" if self.delay is None else " delay=" + f"{self.delay:.4f}".rstrip("0").rstrip(".")
        return delay if self.think else f"{delay} think=no"

    @property
    def last_results(self) -> list[Result]:
        latest = 0
        for index, message in enumerate(self.since):
            latest = index if _calls(message) else latest
        return [_result(message) for message in self.since[latest:] if message.role == "tool"]

    @property
    def earlier(self) -> list[str]:
        """The person's earlier messages."""
        return [message.content for message in self.before if message.role == "user"]

    @property
    def asked_before(self) -> str:
        """The model's last text before the person's last message."""
        own = [message.content for message in self.before if message.role == "assistant"]
        return own[-1] if own else ""

    @property
    def done_calls(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The tool calls of this conversation that were done, oldest first, by name and arguments."""
        messages = (*self.before, *self.since)
        done = {m.tool_call_id for m in messages if m.role == "tool" and m.status == "ok"}
        made = [call for message in messages for call in message.tool_calls]
        return [(call["name"], call["args"]) for call in made if call["id"] in done]

    def last_argument(self, tool: str, name: str) -> Any:
        """The argument of the newest call of a tool in this conversation."""
        for message in reversed((*self.before, *self.since)):
            for call in reversed(message.tool_calls):
                if call["name"] == tool and name in call["args"]:
                    return call["args"][name]
        return None


def scene_of(messages: Sequence[Message], tools: Mapping[str, Mapping[str, Any]]) -> Scene:
    last = max((i for i, message in enumerate(messages) if message.role == "user"), default=-1)
    spoken = messages[last].content if last >= 0 else ""
    delay, think = None, True
    for match in _SETTING.finditer(spoken):
        delay = min(float(match["delay"]), _LONGEST_DELAY) if match["delay"] else delay
        think = match["think"] == "yes" if match["think"] else think
    said = _SETTING.sub("", spoken).strip()
    before, since = tuple(messages[: max(last, 0)]), tuple(messages[last + 1 :])
    return Scene(said, language.of(said), tools, before, since, _key(messages), delay, think)


def _key(messages: Sequence[Message]) -> str:
    """A key that is the same for the same conversation at the same point, and different for concurrent
    conversations."""
    digest = hashlib.sha256(str(len(messages)).encode())
    for message in (*(m for m in messages if m.role == "system"), *messages[-1:]):
        digest.update(f"\0{message.content}".encode("utf-8", "replace"))
    return digest.hexdigest()[:20]


def _calls(message: Message) -> bool:
    return message.role == "assistant" and bool(message.tool_calls)


def _result(message: Message) -> Result:
    text = message.content
    asked = message.name == "ask_user"
    failed = message.status not in ("ok", "answered")
    declined = text.startswith("Not done") or ((asked or failed) and _refuses(text))
    return Result(message.name or "", text, declined, failed)


def _refuses(text: str) -> bool:
    return _REFUSAL.search(text[:200]) is not None
