"""The input of the demo model: the person's last message, what followed it, and the available tools."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from caesura.core import language

#: `delay=0.5` and `think=no` in a message change the reply, and are removed from its text.
_SETTING = re.compile(r"(?:^|\s)(?:delay=(?P<delay>\d+(?:\.\d+)?)|think=(?P<think>yes|no))(?=\s|$)")
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
    before: tuple[BaseMessage, ...]
    since: tuple[BaseMessage, ...]
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
        return [_result(message) for message in self.since if isinstance(message, ToolMessage)]

    @property
    def calls(self) -> list[Called]:
        """The tool calls since the person's last message that have a result."""
        results = {m.tool_call_id: _result(m) for m in self.since if isinstance(m, ToolMessage)}
        made = [call for m in self.since if isinstance(m, AIMessage) for call in m.tool_calls]
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
        return [_result(message) for message in self.since[latest:] if isinstance(message, ToolMessage)]

    @property
    def earlier(self) -> list[str]:
        """The person's earlier messages."""
        return [message.text for message in self.before if isinstance(message, HumanMessage)]

    @property
    def asked_before(self) -> str:
        """The model's last text before the person's last message."""
        own = [message.text for message in self.before if isinstance(message, AIMessage)]
        return own[-1] if own else ""

    def last_argument(self, tool: str, name: str) -> Any:
        """The argument of the newest call of a tool in this conversation."""
        for message in reversed((*self.before, *self.since)):
            for call in reversed(message.tool_calls if isinstance(message, AIMessage) else ()):
                if call["name"] == tool and name in call["args"]:
                    return call["args"][name]
        return None


def scene_of(messages: Sequence[BaseMessage], tools: Mapping[str, Mapping[str, Any]]) -> Scene:
    last = max((i for i, message in enumerate(messages) if isinstance(message, HumanMessage)), default=-1)
    spoken = messages[last].text if last >= 0 else ""
    delay, think = None, True
    for match in _SETTING.finditer(spoken):
        delay = min(float(match["delay"]), _LONGEST_DELAY) if match["delay"] else delay
        think = match["think"] == "yes" if match["think"] else think
    said = _SETTING.sub("", spoken).strip()
    before, since = tuple(messages[: max(last, 0)]), tuple(messages[last + 1 :])
    return Scene(said, language.of(said), tools, before, since, _key(messages), delay, think)


def _key(messages: Sequence[BaseMessage]) -> str:
    """A key that is the same for the same conversation at the same point, and different for concurrent
    conversations."""
    digest = hashlib.sha256(str(len(messages)).encode())
    for message in (*(m for m in messages if isinstance(m, SystemMessage)), *messages[-1:]):
        digest.update(f"\0{message.id}\0{message.text}".encode("utf-8", "replace"))
    return digest.hexdigest()[:20]


def _calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls or message.invalid_tool_calls)


def _result(message: ToolMessage) -> Result:
    text = message.text
    asked = message.name == "ask_user"
    declined = text.startswith("Not done") or ((asked or message.status == "error") and _refuses(text))
    return Result(message.name or "", text, declined, message.status == "error")


def _refuses(text: str) -> bool:
    return _REFUSAL.search(text[:200]) is not None
