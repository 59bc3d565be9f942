"""Confirmations asked for in words: whether a reply asks for one, and which sentences do.

The whole answer is searched, including code blocks: a missed question is worse than one too many.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

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
#: A longer reply, in characters, takes a while to search, so that is not done on the event loop.
LONG = 16 * 1024

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
#: The gap between two words is matched possessively, so that no text causes catastrophic backtracking.
_GAP = 200
_BETWEEN_WORDS = rf"[\s*_]{{1,{_GAP}}}+"
_BETWEEN_HAN = rf"[\s*_]{{0,{_GAP}}}+"
_MARKS = re.compile(r"[\s*_]+")
#: How many characters are searched at once: Python runs no other thread during a search.
_WINDOW = 16 * 1024
#: A sentence ends at a line break, a Chinese full stop, or an English one before a space: not inside `v2.0`.
_END = re.compile(
    r"""[。！？；][。！？；…"'”’」』）)\]*_]*|(?<![.!?…])[.!?…]++["'”’)\]*_]*+(?=\s|\Z)|[\r\n]+"""
)


def detect(text: str, extra: Sequence[str] = ()) -> str | None:
    """The sentences that ask for a confirmation, or None when none does."""
    found = list(_spans(text, tuple(extra)))
    if not found:
        return None
    asking = [text[start:end].strip() for start, end in _sentences(text) if _touched(found, start, end)]
    reason = " ".join(sentence for sentence in asking if sentence)
    return reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"


def _spans(text: str, extra: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    pattern, longest = _pattern(extra)
    last = 0
    for start in range(0, len(text), _WINDOW):
        stop = start + _WINDOW
        for match in pattern.finditer(text, max(start, last), stop + longest):
            if match.start() >= stop:
                break  # the next window finds it
            last = match.end()
            yield match.span()


@functools.lru_cache(maxsize=256)
def _pattern(extra: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """A pattern that matches any of the phrases, and the length of its longest match. Phrases are grouped by
    their first character, because at most positions of a text no phrase begins."""
    phrases = sorted({" ".join(_MARKS.sub(" ", phrase).split()).lower() for phrase in (*DEFAULTS, *extra)})
    groups = groupby((phrase for phrase in phrases if phrase), key=lambda phrase: phrase[0])
    found = [f"(?={re.escape(first)})(?:{'|'.join(map(_tolerant, group))})" for first, group in groups]
    longest = max(len(phrase) for phrase in phrases) * (_GAP + 1)
    return re.compile("|".join(found), re.IGNORECASE), longest


def _tolerant(phrase: str) -> str:
    """A pattern in which any white space or Markdown asterisks may replace a space, or separate two Chinese
    characters."""
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
    """Whether one of the spans overlaps this sentence. The spans are sorted and do not overlap each other."""
    index = bisect.bisect_right(found, start, key=lambda span: span[1])
    return index < len(found) and found[index][0] < end
