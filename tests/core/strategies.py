"""Strategies for every event and interrupt, with tame or hostile values."""

from __future__ import annotations

from typing import Any, Literal, get_args

from hypothesis import strategies as st

from caesura.core import events as ev
from caesura.core import interrupts as core
from caesura.core.answers import Answer

Taste = Literal["tame", "hostile"]

_SURPRISES = ["\ud800", "\udfff", "\0", "😀", "\u2028", "\x1b", "\r", "\n", "é", "中"]
_small = st.integers(0, 2**31 - 1)


def texts(taste: Taste = "tame") -> st.SearchStrategy[str]:
    """Any text that UTF-8 can encode. Hostile texts may also contain lone surrogates."""
    if taste == "tame":
        return st.text(max_size=20)
    return st.text(st.characters() | st.sampled_from(_SURPRISES), max_size=20)


def values(taste: Taste = "tame") -> st.SearchStrategy[Any]:
    """Values that JSON can represent. Hostile values may include others."""
    if taste == "tame":
        numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    else:
        numbers = st.integers() | st.integers(2**62, 2**70) | st.floats() | st.just(10**2000)
    leaves = st.none() | st.booleans() | numbers | texts(taste)
    nested = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(taste), inner, max_size=3),
        max_leaves=6,
    )
    return nested if taste == "tame" else nested | _deep()


def arguments(taste: Taste = "tame") -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts(taste), values(taste), max_size=3)


def interrupts(taste: Taste = "tame") -> st.SearchStrategy[core.Interrupt]:
    text = texts(taste)
    option = st.builds(core.Option, text, text, st.booleans())
    question = st.builds(core.Question, text, st.lists(option, max_size=3).map(tuple))
    field = st.builds(
        core.Field,
        text,
        st.sampled_from(get_args(core.FieldType)),
        text,
        st.booleans(),
        st.lists(text, max_size=3).map(tuple),
    )
    shared: dict[str, Any] = {
        "id": text,
        "tool_call_id": st.none() | text,
        "label": text,
        "description": text,
        "agent": text,
        "expires_at": st.none() | _small,
        "parent": st.none() | text,
    }
    args = arguments(taste)
    questions = st.lists(question, max_size=2).map(tuple)
    fields = st.lists(field, max_size=2).map(tuple)
    name = st.none() | text
    return st.one_of(
        st.builds(
            core.Approval,
            name=text,
            args=args,
            unknown=st.booleans(),
            decisions=st.lists(st.sampled_from(core.Approval("").decisions), min_size=1, unique=True).map(
                tuple
            ),
            args_schema=st.none() | args,
            **shared,
        ),
        st.builds(core.Questions, name=name, args=args, questions=questions, **shared),
        st.builds(core.Confirmation, reason=text, fields=fields, **shared),
        st.builds(core.GraphRequest, value=values(taste), **shared),
    )


def answers(taste: Taste = "tame") -> st.SearchStrategy[Answer]:
    return st.builds(
        Answer,
        decision=st.sampled_from(get_args(core.Decision)),
        args=st.none() | arguments(taste),
        message=texts(taste),
        answers=st.lists(texts(taste), max_size=3).map(tuple),
        fields=arguments(taste),
        value=values(taste),
        always_allow=st.booleans(),
    )


def by_event(taste: Taste = "tame") -> dict[type[Any], st.SearchStrategy[ev.Event]]:
    """A strategy for each event type. A test checks that none is missing."""
    text, name = texts(taste), st.none() | texts(taste)
    tokens = st.none() | st.dictionaries(text, _small, max_size=3)
    calls = st.lists(arguments(taste), max_size=2).map(tuple)
    return {
        ev.RunStarted: st.builds(ev.RunStarted, text, _small, st.sampled_from(get_args(ev.Cause))),
        ev.ModelStarted: st.builds(ev.ModelStarted, _small, text, text, name, text),
        ev.TextDelta: st.builds(ev.TextDelta, _small, text),
        ev.ReasoningDelta: st.builds(ev.ReasoningDelta, _small, text),
        ev.CallDelta: st.builds(ev.CallDelta, _small, _small, text, text),
        ev.TextVoided: st.builds(ev.TextVoided, _small),
        ev.ModelFinished: st.builds(
            ev.ModelFinished, _small, calls, tokens, name, thought_ms=st.none() | _small
        ),
        ev.ToolStarted: st.builds(ev.ToolStarted, text, text, arguments(taste), text, name),
        ev.ToolProgress: st.builds(ev.ToolProgress, text, text),
        ev.ToolFinished: st.builds(
            ev.ToolFinished, text, text, text, st.sampled_from(get_args(ev.ToolStatus)), text, name
        ),
        ev.GraphWrote: st.builds(ev.GraphWrote, values(taste), text, name, text),
        ev.TitleChanged: st.builds(ev.TitleChanged, text),
        ev.ArtifactChanged: st.builds(ev.ArtifactChanged, text, _small, text, text, name),
        ev.Interrupted: st.builds(ev.Interrupted, st.lists(interrupts(taste), max_size=2).map(tuple)),
        ev.InterruptClosed: st.builds(
            ev.InterruptClosed,
            text,
            st.sampled_from(("answered", "expired", "superseded", "cancelled")),
            arguments(taste),
            name,
        ),
        ev.Finished: st.just(ev.Finished()),
        ev.Failed: st.builds(ev.Failed, text, text, name, st.booleans()),
        ev.Stopped: st.builds(ev.Stopped, st.sampled_from(get_args(ev.StopReason))),
        ev.SegmentEnded: st.just(ev.SegmentEnded()),
    }


def events(taste: Taste = "tame") -> st.SearchStrategy[ev.Event]:
    return st.one_of(*by_event(taste).values())


@st.composite
def _deep(draw: st.DrawFn) -> Any:
    """Lists in lists, nested deeper than JSON libraries accept."""
    value: Any = draw(st.integers(0, 9))
    for _ in range(draw(st.integers(0, 40)) * 50):
        value = [value]
    return value
