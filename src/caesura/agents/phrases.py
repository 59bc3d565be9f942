"""Confirmations asked for in words: whether an answer asks for one, and which sentences do.

The whole answer is looked at, code blocks too: a question that is missed is worse than one too many.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

DEFAULTS = (
    "please confirm",
    "do you confirm",
    "are you sure",
    "shall i proceed",
    "would you like me to proceed",
    "do you want to proceed",
    "do you want me to",
    "should i go ahead",
    "confirm before",
    "confirmation required",
    "waiting for your confirmation",
    "need your approval",
    "needs your approval",
    "请确认",
    "是否继续",
    "确认执行",
)
LONGEST_REASON = 4000

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BETWEEN_WORDS = r"[\s*_]+"
_BETWEEN_HAN = r"[\s*_]*"
#: A sentence ends at a line break, a Chinese full stop, or an English one before a space: not inside `v2.0`.
_END = re.compile(
    r"""[。！？；][。！？；…"'”’」』）)\]*_]*|(?<![.!?…])[.!?…]++["'”’)\]*_]*+(?=\s|\Z)|[\r\n]+"""
)


def detect(text: str, extra: Sequence[str] = ()) -> str | None:
    """The sentences that ask for a confirmation, or None when none does."""
    found = [match.span() for match in _pattern(extra).finditer(text)]
    if not found:
        return None
    asking = [text[start:end].strip() for start, end in _sentences(text) if _touched(found, start, end)]
    reason = " ".join(sentence for sentence in asking if sentence)
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"


def _pattern(extra: Sequence[str]) -> re.Pattern[str]:
    phrases = [*DEFAULTS, *(phrase for phrase in extra if phrase.strip())]
    return re.compile("|".join(_tolerant(phrase) for phrase in phrases), re.IGNORECASE)


def _tolerant(phrase: str) -> str:
    """Any white space, or Markdown's stars, may stand for a space or between two Chinese characters."""
    return _BETWEEN_WORDS.join(_word(word) for word in phrase.split())


def _word(word: str) -> str:
    pattern, before = "", ""
    for character in word:
        if before and _HAN.match(before) and _HAN.match(character):
            pattern += _BETWEEN_HAN
        pattern += re.escape(character)
        before = character
    return pattern


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _touched(found: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans, which are in order and apart, lies in this sentence, if only in part."""
    index = bisect.bisect_right(found, start, key=lambda span: span[1])
    return index < len(found) and found[index][0] < end
