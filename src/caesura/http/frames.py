"""Frames: how a dialect encodes a log, and how its frames are sent to a reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol, TypeVar

from caesura.core.events import Envelope, Event, SegmentEnded

S = TypeVar("S")


class Encoder(Protocol[S]):
    """A pure fold over the events of a turn. A module may be one."""

    def start(self, ordinal: int, epoch: int, /) -> S:
        """The state of a reader of the turn with this ordinal, before its first event. `epoch` is that of the
        attempt in which the reader begins."""
        ...

    def step(self, state: S, envelope: Envelope, /) -> tuple[S, bytes]:
        """The new state, and the frame of one event, which is empty if the dialect has none for it."""
        ...

    def skip(self, state: S, event: Event, /) -> S:
        """As `step`, without the frame: a hundred thousand events may come before the first one that is
        sent."""
        ...


def encoded(encoder: Encoder[S], state: S, batch: Iterable[Envelope], after: int = 0) -> tuple[S, bytes]:
    """The frames of a batch. Events up to `after` change the state but are not sent again."""
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
    opening: Callable[[Envelope], bytes] | None = None,
    ends: tuple[type[Event], ...] = (SegmentEnded,),
) -> AsyncGenerator[bytes, None]:
    """The frames of these batches as they come. `gone` gives the last frame if the batches stop before one of
    the events `ends`: the turn was deleted, or the server shuts down. `opening` gives what is sent before the
    frame of the first event."""
    whole = False
    async with aclosing(batches):
        async for batch in batches:
            state, frames = encoded(encoder, state, batch, after)
            if frames and opening is not None:
                first = next(envelope for envelope in batch if envelope.seq > after)
                frames, opening = opening(first) + frames, None
                del first
            last = batch[-1]
            whole = type(last.event) in ends and last.seq > after
            del batch, last  # a waiting reader holds no events
            if frames:
                yield frames
            del frames
    if not whole and (farewell := gone()):
        yield farewell
