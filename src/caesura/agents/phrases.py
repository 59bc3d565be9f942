"""Confirmations asked for in words: whether a reply asks for one, and which sentences do.

All of a reply is searched, including code blocks: a missed question is worse than one too many.
"""

from __future__ import annotations

import functools
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
#: A longer text, in characters, takes a while to search, so that is not done on the event loop.
LONG = 16 * 1024

#: A text is searched in blocks: the search of many short pieces would cost more than that of one long one.
_BLOCK = 1024
#: A sentence with more characters is searched in parts, so that what is held stays small.
_LONGEST_SENTENCE = 4096
_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
# Both patterns begin with the character to look for, which makes their search fast.
_BETWEEN_HAN = re.compile(rf" (?={_HAN})(?<={_HAN} )")
#: What may end a sentence: a line break or full stops, and the quotes, brackets and marks after them.
_STOP = re.compile(r"""[。！？；.!?…\r\n](?:(?<![\r\n])[。！？；.!?…]*+["'”’」』）)\]*_]*+)?+[\r\n]*+""")
_CHINESE_STOP = re.compile(r"[。！？；]")


@dataclass(slots=True)
class _Sentence:
    text: str
    #: How many characters it adds to the text that is searched.
    size: int
    asks: bool = False


class Scanner:
    """Reads a reply piece by piece, once. However the reply is cut into pieces, the result is the same. Holds
    one block, the current sentence, and as many sentences before it as the longest phrase may begin in."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self._pattern, self._longest = _compiled(tuple(extra))
        self._pieces: list[str] = []
        self._size = 0
        #: The sentence that is not complete yet.
        self._rest = ""
        #: The end of what was searched, in the form of `_plain`, and the sentences that it consists of.
        self._before = ""
        self._sentences: deque[_Sentence] = deque()
        self._reach = 0
        self._asking: list[str] = []
        self._full = False

    def feed(self, text: str) -> None:
        """The next piece of the reply."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= _BLOCK:
            self._search()

    def end(self) -> str | None:
        """The reply is complete: the sentences that ask for a confirmation, or None if none does."""
        self._search()
        self._read(self._rest)
        reason = " ".join(self._asking)
        return (reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…") or None

    def _search(self) -> None:
        """Read the sentences that are complete. One search takes a block: Python runs no other thread during
        a search."""
        text = "".join(self._pieces)
        self._pieces, self._size = [], 0
        for place in range(0, len(text), _BLOCK):
            rest = self._rest + text[place : place + _BLOCK]
            while (end := _end(rest)) and not self._full:
                self._read(rest[:end])
                rest = rest[end:]
            self._rest = "" if self._full else rest

    def _read(self, sentence: str) -> None:
        whole = _plain(self._before + sentence)
        known = len(self._before.rstrip(" "))
        size = len(whole.rstrip(" ")) - known
        if size <= 0:
            self._before = whole
            return
        self._sentences.append(_Sentence(sentence.strip()[:LONGEST_REASON], size))
        self._reach += size
        for match in self._pattern.finditer(whole):
            if match.end() > known:
                self._mark(known + size - match.start())
                break
        self._before = whole[-self._longest :]
        while self._reach - self._sentences[0].size >= self._longest:
            self._reach -= self._sentences.popleft().size

    def _mark(self, reach: int) -> None:
        """The last sentences ask: as many as have `reach` characters."""
        asking: list[_Sentence] = []
        for sentence in reversed(self._sentences):
            if reach <= 0:
                break
            reach -= sentence.size
            asking.append(sentence)
        for sentence in reversed(asking):
            if not sentence.asks:
                sentence.asks = True
                self._asking.append(sentence.text)
        self._full = sum(map(len, self._asking)) > LONGEST_REASON


def detect(text: str, extra: Sequence[str] = ()) -> str | None:
    """The sentences of a whole reply that ask for a confirmation, or None when none does."""
    scanner = Scanner(extra)
    scanner.feed(text)
    return scanner.end()


def _end(text: str) -> int:
    """Where the first sentence ends in a text that goes on; 0 if it may go on too. What comes after the text
    may belong to a stop that is at the end of the text."""
    for stop in _STOP.finditer(text):
        end = stop.end()
        if end > _LONGEST_SENTENCE:
            break
        if end < len(text) and _ends(stop.group(), text[end]):
            return end
    return _LONGEST_SENTENCE if len(text) > _LONGEST_SENTENCE else 0


def _ends(stop: str, after: str) -> bool:
    """Whether a stop ends its sentence. An English full stop does so before a space, not inside `v2.0`."""
    return after.isspace() or stop[-1] in "\r\n" or _CHINESE_STOP.search(stop) is not None


@functools.lru_cache(maxsize=256)
def _compiled(extra: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """A pattern that matches any of the phrases, and the length of the longest. Phrases are grouped by their
    first character, because at most positions of a text no phrase begins."""
    phrases = sorted({_plain(phrase).strip() for phrase in (*DEFAULTS, *extra)} - {""})
    groups = groupby(phrases, key=lambda phrase: phrase[0])
    found = [f"{re.escape(first)}(?:{_rests(group)})" for first, group in groups]
    return re.compile("|".join(found)), max(map(len, phrases))


def _rests(phrases: Iterator[str]) -> str:
    return "|".join(re.escape(phrase[1:]) for phrase in phrases)


def _plain(text: str) -> str:
    """The text as it is compared: without upper case, with one space for white space and Markdown marks, and
    without spaces between Chinese characters. `casefold` reads each character on its own: `lower` does not,
    and would depend on where a text was cut."""
    spaced = text.replace("*", " ").replace("_", " ")
    words = " ".join(spaced.split())
    plain = (words + " " if spaced[-1:].isspace() else words).casefold()
    return plain if plain.isascii() else _BETWEEN_HAN.sub("", plain)
