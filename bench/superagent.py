"""API C: what a token costs to encode in each form, and how much a stream carries."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.log import TOKENS
from bench.measure import Line, Table
from caesura.core.events import Envelope, Event, Finished, ModelFinished, ModelStarted, RunStarted, TextDelta
from caesura.core.interrupt_state import Session
from caesura.dialects.superagent.encode import Encoder
from caesura.dialects.superagent.legacy import Encoder as Legacy
from caesura.http.frames import encoded

TOKEN_GOAL = 6.0
SIZE_GOAL = 20.0
_COUNT = 100_000
_BATCH = 8
_AT = 1_700_000_000_000
_TEXTS = {"English": TOKENS, "Chinese": [text * 2 for text in "我来调用工具并把结果告诉您"]}
_SESSION = Session("assistant", "session-123")
_FORMS: dict[str, Any] = {"A2UI": Encoder(_SESSION), "legacy": Legacy(_SESSION)}


def run(quick: bool) -> Iterator[Table]:
    yield _encoder(quick)
    yield _size()


def _encoder(quick: bool) -> Table:
    table = Table("superagent, encoding; baseline: json.dumps of the piece and an f-string for each token")
    times = 3 if quick else 5
    per_token = 1e6 / _COUNT
    for language, tokens in _TEXTS.items():
        log = _log(tokens)
        bare = _median(times, lambda tokens=tokens: _encode_bare(tokens))  # type: ignore[misc]
        for form, encoder in _FORMS.items():
            mine = _median(times, lambda encoder=encoder, log=log: _encode(encoder, log))  # type: ignore[misc]
            name = f"a token of {language}, {form}, {_BATCH} at once"
            table.lines.append(Line(name, mine * per_token, bare * per_token, "µs", goal=TOKEN_GOAL))
    return table


def _size() -> Table:
    table = Table(f"superagent, bytes of a stream of {_COUNT:,} tokens for each byte of its text")
    for language, tokens in _TEXTS.items():
        text = sum(len(tokens[number % len(tokens)].encode()) for number in range(_COUNT))
        for form, encoder in _FORMS.items():
            size = _encode(encoder, _log(tokens))
            name = f"{language}, {form}"
            table.lines.append(Line(name, size / text, None, "×", goal=SIZE_GOAL))
    return table


def _log(tokens: list[str]) -> list[Envelope]:
    said = (TextDelta(1, tokens[number % len(tokens)]) for number in range(_COUNT))
    events: list[Event] = [RunStarted("demo", 1, "start", 1), ModelStarted(1, "demo"), *said]
    events += [ModelFinished(1), Finished()]
    return [Envelope(seq, _AT + 10 * seq, event) for seq, event in enumerate(events, 1)]


def _encode(encoder: Any, log: list[Envelope]) -> int:
    """The number of bytes."""
    state, size = encoder.start(1, 0), 0
    for start in range(0, len(log), _BATCH):
        state, frames = encoded(encoder, state, log[start : start + _BATCH])
        size += len(frames)
    return size


def _encode_bare(tokens: list[str]) -> None:
    for number in range(_COUNT):
        data = {"type": "text", "timestamp": _AT, "data": {"delta": tokens[number % len(tokens)]}}
        f"event: text\ndata: {json.dumps(data)}\n\n".encode()


def _median(times: int, work: Callable[[], object]) -> float:
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)
