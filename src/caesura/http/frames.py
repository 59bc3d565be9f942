"""Frames: what a dialect makes of a log, and how they flow to a reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol, TypeVar

from caesura.core.events import Envelope, Event, SegmentEnded

S = TypeVar("S")


class Encoder(Protocol[S]):
    """A pure fold over the events of a turn. A module may be one."""

    def start(self, ordinal: int, epoch: int, /) -> S:
        """Where a reader of the turn with this ordinal is before its first event. `epoch` is that of the
        attempt in which it begins."""
        ...

    def step(self, state: S, envelope: Envelope, /) -> tuple[S, bytes]:
        """The frame of one event, empty where the dialect has none for it."""
        ...

    def skip(self, state: S, event: Event, /) -> S:
        """As `step`, without the frame: there may be a hundred thousand before the first that is sent."""
        ...


def encoded(encoder: Encoder[S], state: S, batch: Iterable[Envelope], after: int = 0) -> tuple[S, bytes]:
    """The frames of a batch; what lies at or before `after` is folded in but not sent again."""
    frames = []
    for envelope in batch:
        if envelope.seq <= after:
            state = encoder.skip(state, envelope.event)
            continue
        state, frame = encoder.step(state, envelope)
        if frame:
            frames.append(frame)
    return state, b"".join(frames)


async def pump(
    encoder: Encoder[S],
    batches: AsyncGenerator[list[Envelope], None],
    state: S,
    after: int,
    gone: Callable[[], bytes] = bytes,
) -> AsyncGenerator[bytes, None]:
    """The frames of these batches as they come. `gone` says what is sent last when they do not come to the
    end of a segment: the turn was deleted, or the server ends."""
    whole = False
    async with aclosing(batches):
        async for batch in batches:
            state, frames = encoded(encoder, state, batch, after)
            last = batch[-1]
            whole = type(last.event) is SegmentEnded and last.seq > after
            del batch, last  # a reader that waits holds nothing
            if frames:
                yield frames
            del frames
    if not whole and (farewell := gone()):
        yield farewell
