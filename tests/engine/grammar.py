"""The grammar of a turn's log, as the protocol page has it."""

from __future__ import annotations

from collections.abc import Sequence

from caesura.core import events as ev

_OUTCOMES = (ev.Interrupted, ev.Finished, ev.Failed, ev.Stopped)
_AFTER: dict[type[ev.Event] | None, tuple[ev.Cause, ...]] = {
    None: ("start",),
    ev.Interrupted: ("resume", "close"),
    ev.Failed: ("retry",),
    ev.Stopped: ("retry",),
    ev.Finished: (),
}


def check(events: Sequence[ev.Event]) -> None:
    """Check that every segment is complete. Only the last may still be open."""
    segments = _split(events)
    before: type[ev.Event] | None = None
    for number, segment in enumerate(segments, 1):
        is_last = number == len(segments)
        before = _check_segment(segment, number, before, may_be_open=is_last)
    _check_calls(events)
    _check_tools(events)
    _check_interrupts(events)


def _split(events: Sequence[ev.Event]) -> list[list[ev.Event]]:
    segments: list[list[ev.Event]] = [[]]
    for event in events:
        segments[-1].append(event)
        if isinstance(event, ev.SegmentEnded):
            segments.append([])
    return segments if segments[-1] else segments[:-1]


def _check_segment(
    segment: list[ev.Event], number: int, before: type[ev.Event] | None, may_be_open: bool
) -> type[ev.Event] | None:
    first = segment[0]
    assert isinstance(first, ev.RunStarted), f"segment {number} begins with {first}"
    assert first.cause in _AFTER[before], f"segment {number} begins with {first} after {before}"
    assert first.segment == number
    for event in segment[1:]:
        if isinstance(event, ev.RunStarted):
            assert event.cause == "adopt", event
            assert event.segment == number, event
    outcomes = [place for place, event in enumerate(segment) if isinstance(event, _OUTCOMES)]
    if not outcomes and may_be_open:
        return None
    assert len(outcomes) == 1, f"segment {number} has the outcomes {[segment[p] for p in outcomes]}"
    behind = segment[outcomes[0] + 1 :]
    titles = [event for event in behind if isinstance(event, ev.TitleChanged)]
    assert len(titles) <= 1
    rest = [event for event in behind if not isinstance(event, ev.TitleChanged)]
    assert rest in ([ev.SegmentEnded()], []), rest
    assert rest or may_be_open
    assert not rest or behind[-1] == ev.SegmentEnded()
    if first.cause == "close":
        assert all(isinstance(event, ev.InterruptClosed) for event in segment[1 : outcomes[0]]), segment
    return type(segment[outcomes[0]])


def _check_calls(events: Sequence[ev.Event]) -> None:
    started: set[int] = set()
    finished: set[int] = set()
    void: set[int] = set()
    for event in events:
        match event:
            case ev.ModelStarted(call):
                assert call not in started, f"call {call} begins twice"
                started.add(call)
            case ev.TextDelta(call) | ev.ReasoningDelta(call) | ev.CallDelta(call):
                assert call in started - finished - void, event
            case ev.ModelFinished(call):
                assert call in started - finished - void, event
                finished.add(call)
            case ev.TextVoided(call):
                assert call in started - void, event
                void.add(call)
            case _:
                pass


def _check_tools(events: Sequence[ev.Event]) -> None:
    started: set[str] = set()
    finished: set[str] = set()
    for event in events:
        match event:
            case ev.ToolStarted(id=call):
                assert call not in finished, f"{call} begins after its end"
                started.add(call)
            case ev.ToolProgress(id=call):
                assert call in started - finished, f"{call} tells what it does, and does not run"
            case ev.ToolFinished(id=call):
                assert call not in finished, f"{call} ends twice"
                finished.add(call)
            case _:
                pass


def _check_interrupts(events: Sequence[ev.Event]) -> None:
    asked: set[str] = set()
    closed: set[str] = set()
    for event in events:
        match event:
            case ev.Interrupted(items):
                asked |= {item.id for item in items}
                assert not closed & {item.id for item in items}
            case ev.InterruptClosed(id=one):
                assert one in asked - closed, event
                closed.add(one)
            case ev.Finished() | ev.Stopped() | ev.Failed():
                assert asked == closed, f"{asked - closed} is left open by {event}"
            case _:
                pass
