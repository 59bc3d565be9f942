"""Titles of conversations: the prompt for the model, and cleaning its reply."""

from __future__ import annotations

import re
import unicodedata

from caesura.core import json_data, shown
from caesura.core.language import Language
from caesura.core.messages import Message

LONGEST = 20
_SHOWN = 2000
_LOOKED_AT = 10_000
_INSTRUCTIONS: dict[Language, str] = {
    "en": (
        "Give a title to the conversation that begins with the message below: a few words, at most "
        "20 characters, in the language of the message, on one line, without quotes. "
        "Answer with the title alone."
    ),
    "zh": (
        "请为以下面这条消息开头的对话起一个标题：不超过 20 个字，与消息使用同一种语言，"
        "只有一行，不加引号。只回答标题本身。"
    ),
}
_OPENING, _CLOSING = "<message>", "</message>"

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"(?:title|标题|題目|题目)\s*[:：]\s*", re.IGNORECASE)
_LEAD = re.compile(r"(?:#+|[-*+>•]|\d{1,2}[.)、])\s+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"\*+|~~+")
#: Emphasis of the whole line. Other underscores are part of a name, such as `__init__`.
_EMPHASIS = re.compile(r"(_{1,3})(?!_)(?![a-z0-9]+_)((?:(?!__).)+)\1")
_QUOTES = frozenset("\"'`´＂＇｀《》〈〉「」『』｢｣〝〞〟′″‵‶〃")
_EDGES = " \t.,;:!·|/\\~-–—。，；：！、…"


def prompt(first_message: str, language: Language) -> list[Message]:
    """The prompt for the agent's model, which is called without tools."""
    message = json_data.text(first_message[:_SHOWN]).replace(_CLOSING, "")
    return [Message("user", f"{_INSTRUCTIONS[language]}\n{_OPENING}\n{message}\n{_CLOSING}")]


def message_in(text: str) -> str | None:
    """The message for which `prompt` asks a title; None when `text` is not such a prompt."""
    for instruction in _INSTRUCTIONS.values():
        if text.startswith(f"{instruction}\n{_OPENING}\n") and text.endswith(f"\n{_CLOSING}"):
            return text[len(instruction) + len(_OPENING) + 2 : -len(_CLOSING) - 1]
    return None


def clean(text: str) -> str | None:
    """One line of at most 20 code points without quotes, control characters or Markdown; None if empty."""
    for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", _THOUGHTS.sub("", text)[:_LOOKED_AT]):
        if title := _settled(line):
            return title
    return None


def _settled(line: str) -> str:
    """Strip the line repeatedly until nothing changes: stripping one thing can expose another."""
    before, now = None, shown.visible(line[:_SHOWN])
    while now != before:
        before, now = now, _shortened(_stripped(now))
    return now


def _stripped(line: str) -> str:
    line = "".join(character for character in _LINK.sub(r"\1", line) if not _unwanted(character))
    line = _MARKS.sub("", " ".join(line.split())).strip(_EDGES)
    if found := _EMPHASIS.fullmatch(line):
        line = found[2]
    if not line.strip(f"_{_EDGES}"):
        return ""
    for lead in (_LEAD, _LABEL):
        if found := lead.match(line):
            line = line[found.end() :]
    return line


def _unwanted(character: str) -> bool:
    if character == "\t":
        return False
    category = unicodedata.category(character)
    return category in ("Cc", "Cf", "Cs", "Co", "Pi", "Pf", "Zl", "Zp") or character in _QUOTES


def _shortened(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    cut = line[:LONGEST]
    words, space, _ = cut.rpartition(" ")
    whole = line[LONGEST] == " " or not space or len(words) < LONGEST // 2
    return (cut if whole else words).rstrip(_EDGES)
