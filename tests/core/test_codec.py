"""The stored form of events."""

import re
import zlib
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import codec, json_data
from caesura.core import events as ev
from caesura.core.errors import CodecError, UnknownVersion
from tests.core.strategies import by_event, events

VOCABULARY: tuple[type[Any], ...] = get_args(ev.Event)
PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"

#: The first stored form of each event, with as few fields as were ever required, and the event that it must
#: decode to for ever.
OLDEST: list[tuple[list[Any], ev.Event]] = [
    (["run", 0, "lead", 1], ev.RunStarted("lead", 1, "start")),
    (["model", 0, 1, "lead"], ev.ModelStarted(1, "lead", "", None, "")),
    (["t", 0, 1, "hi"], ev.TextDelta(1, "hi")),
    (["r", 0, 1, "hm"], ev.ReasoningDelta(1, "hm")),
    (["c", 0, 1, 0, "{"], ev.CallDelta(1, 0, "{", "")),
    (["void", 0, 1], ev.TextVoided(1)),
    (["modelled", 0, 1], ev.ModelFinished(1, (), None, None)),
    (["p", 0, "c1", "half way"], ev.ToolProgress("c1", "half way")),
    (["tool", 0, "c1", "execute", {"a": 1}, "lead"], ev.ToolStarted("c1", "execute", {"a": 1}, "lead", None)),
    (["tooled", 0, "c1", "execute", "ok"], ev.ToolFinished("c1", "execute", "ok", "ok", "", None)),
    (["wrote", 0, {"step": 1}, "lead"], ev.GraphWrote({"step": 1}, "lead", None, "")),
    (["title", 0, "Plans"], ev.TitleChanged("Plans")),
    (["artifact", 0, "a", 2, "update"], ev.ArtifactChanged("a", 2, "update", "", None)),
    (["ask", 0, []], ev.Interrupted(())),
    (["answered", 0, "int-1", "expired"], ev.InterruptClosed("int-1", "expired", {}, None)),
    (["done", 0], ev.Finished()),
    (["failed", 0, "no"], ev.Failed("no", "internal", None, False)),
    (["stopped", 0, "user"], ev.Stopped("user")),
    (["end", 0], ev.SegmentEnded()),
]


def loose(envelopes: list[ev.Envelope]) -> list[tuple[int, bytes]]:
    """Each event in a row of its own, as before packing."""
    return [(envelope.at, codec.encode([envelope.event])) for envelope in envelopes]


def test_every_event_has_a_code_of_its_own() -> None:
    assert set(codec._CODES) == set(VOCABULARY)
    assert len(set(codec._CODES.values())) == len(VOCABULARY)
    assert set(codec._MAKERS) == set(codec._CODES.values())


def test_these_tests_know_every_event() -> None:
    assert set(by_event()) == set(VOCABULARY)
    assert {type(event) for _, event in OLDEST} == set(VOCABULARY)


@pytest.mark.parametrize("kind", VOCABULARY, ids=lambda kind: kind.__name__)
def test_every_event_is_in_the_protocol_document(kind: type[Any]) -> None:
    assert re.search(rf"\b{kind.__name__}\b", PROTOCOL.read_text(encoding="utf-8"))


@given(st.lists(events(), max_size=5), st.integers(1, 2**31), st.integers(0, 2**53))
def test_decoded_events_equal_the_encoded_ones(items: list[ev.Event], first: int, at: int) -> None:
    envelopes = codec.decode(codec.VERSION, codec.encode(items), first, at)
    assert [envelope.event for envelope in envelopes] == items
    assert [envelope.seq for envelope in envelopes] == list(range(first, first + len(items)))
    assert {envelope.at for envelope in envelopes} <= {at}


@given(st.lists(st.tuples(events(), st.integers(0, 10_000)), min_size=1, max_size=5))
def test_each_event_keeps_its_own_time(items: list[tuple[ev.Event, int]]) -> None:
    body = codec.encode([event for event, _ in items], [offset for _, offset in items])
    envelopes = codec.decode(codec.VERSION, body, 1, 1_000)
    assert [(item.event, item.at - 1_000) for item in envelopes] == items


@given(st.lists(st.tuples(events(), st.integers(0, 2**53)), min_size=1, max_size=5), st.integers(1, 2**31))
def test_events_decoded_from_a_packed_row_equal_the_encoded_ones(
    items: list[tuple[ev.Event, int]], first: int
) -> None:
    envelopes = [ev.Envelope(seq, at, event) for seq, (event, at) in enumerate(items, first)]
    assert codec.decode(codec.PACKED, codec.pack(loose(envelopes)), first, envelopes[0].at) == envelopes


@given(st.lists(events("hostile"), max_size=4))
def test_hostile_events_can_be_stored_and_decode_to_the_same_values_every_time(items: list[ev.Event]) -> None:
    stored = codec.decode(codec.VERSION, codec.encode(items), 1, 0)
    assert [type(envelope.event) for envelope in stored] == [type(item) for item in items]
    again = codec.decode(codec.VERSION, codec.encode([envelope.event for envelope in stored]), 1, 0)
    assert again == stored
    if stored:
        assert codec.decode(codec.PACKED, codec.pack(loose(stored)), 1, 0) == stored


@given(st.text(st.characters() | st.sampled_from("\ud83d\0\u2028😀")))
def test_only_lone_surrogates_of_a_hostile_text_are_lost(text: str) -> None:
    [envelope] = codec.decode(codec.VERSION, codec.encode([ev.TextDelta(1, text)]), 1, 0)
    assert envelope.event == ev.TextDelta(1, "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text))


def test_arguments_that_json_cannot_represent_are_stored_as_text_or_null() -> None:
    args: dict[Any, Any] = {
        "nan": float("nan"),
        "inf": float("-inf"),
        "huge": 2**70,
        "set": {1},
        7: b"x",
        "\ud800": "\udfff",
    }
    [envelope] = codec.decode(codec.VERSION, codec.encode([ev.ToolStarted("c", "t", args, "a")]), 1, 0)
    assert isinstance(envelope.event, ev.ToolStarted)
    expected = {"nan": None, "inf": None, "huge": str(2**70), "set": [1], "7": "b'x'", "?": "?"}
    assert envelope.event.args == expected


@pytest.mark.parametrize(("row", "event"), OLDEST, ids=lambda value: type(value).__name__)
def test_fields_that_an_older_writer_left_out_get_their_defaults(row: list[Any], event: ev.Event) -> None:
    assert codec.decode(codec.VERSION, json_data.dumps([row]), 7, 5) == [ev.Envelope(7, 5, event)]


@given(events(), st.data())
def test_an_event_may_end_anywhere_after_its_required_fields(event: ev.Event, data: st.DataObject) -> None:
    [row] = json_data.loads(codec.encode([event]))
    [shortest] = [len(fields) for fields, oldest in OLDEST if type(oldest) is type(event)]
    kept = data.draw(st.integers(shortest, len(row)))
    [envelope] = codec.decode(codec.VERSION, json_data.dumps([row[:kept]]), 1, 0)
    names = type(event).__slots__
    for name in names[: kept - 2]:
        assert getattr(envelope.event, name) == getattr(event, name)


@pytest.mark.parametrize("version", [-1, 0, 3, 99])
def test_an_unknown_version_is_named(version: int) -> None:
    with pytest.raises(UnknownVersion, match=f"events of version {version} cannot be read"):
        codec.decode(version, b"[]", 1, 0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"5",
        b"null",
        b'{"a": 1}',
        b'["ab"]',
        b"[[]]",
        b'[["t"]]',
        b'[["t", 0]]',
        b'[["t", 0, 1]]',
        b'[["t", "0", 1, "x"]]',
        b'[["t", 0, 1, "x", "too many"]]',
        b'[["nobody", 0]]',
        b"[[[], 0]]",
        b'[["ask", 0, [5]]]',
        b'[["ask", 0, [{"id": "x"}]]]',
        b'[["ask", 0, [{"id": "x", "kind": "graph", "questions": [1]}]]]',
        b'[["modelled", 0, 1, 5]]',
        b"[" * 5000,
    ],
)
def test_corrupt_bytes_are_a_clear_error(body: bytes) -> None:
    with pytest.raises(CodecError, match=r"^events from 41 cannot be read: ."):
        codec.decode(codec.VERSION, body, 41, 0)
    with pytest.raises(CodecError, match=r"^events from 41 cannot be read: ."):
        codec.decode(codec.PACKED, zlib.compress(body), 41, 0)


@given(st.binary())
def test_any_bytes_are_events_or_a_clear_error(body: bytes) -> None:
    for version in (codec.VERSION, codec.PACKED):
        try:
            codec.decode(version, body, 1, 0)
        except CodecError:
            continue


@given(st.lists(events(), min_size=1, max_size=3), st.data())
def test_a_torn_packed_row_is_a_clear_error(items: list[ev.Event], data: st.DataObject) -> None:
    body = codec.pack(loose([ev.Envelope(seq, 0, event) for seq, event in enumerate(items, 1)]))
    with pytest.raises(CodecError):
        codec.decode(codec.PACKED, body[: data.draw(st.integers(0, len(body) - 1))], 1, 0)


def test_a_row_is_one_short_list_of_json() -> None:
    assert orjson.loads(codec.encode([ev.TextDelta(1, "hi"), ev.SegmentEnded()], [0, 3])) == [
        ["t", 0, 1, "hi"],
        ["end", 3],
    ]
