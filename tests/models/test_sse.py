"""Server-sent events in every cut."""

from __future__ import annotations

import itertools

import pytest

from caesura.models.sse import Events


def read(parts: list[bytes]) -> list[bytes]:
    events = Events()
    return [*(data for part in parts for data in events.feed(part)), *events.end()]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\r\n\r\ndata: b\r\rdata: c\n\n", [b"a", b"b", b"c"]),
        (b"data: a\r\n\ndata: b\n\r\ndata: c", [b"a", b"b", b"c"]),
        (b"\n\n\ndata: a\n\n\n\ndata: b\n\n\n", [b"a", b"b"]),
        (b": hi\n\nevent: x\nid: 7\ndata: a\nretry: 3\ndata: b\n\n: bye\n\n", [b"a\nb"]),
        (b"data\ndatabase: 1\ndata:\n\ndata:  a\n\n", [b"", b" a"]),
        (b"data: a\n: inside\ndata: b\n\n", [b"a\nb"]),
        (b"\r\n\r\n", []),
        (b"\xef\xbb\xbfdata: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"\xef\xbbdata: a\n\ndata: b\n\n", [b"b"]),
        (b"\xef\xbb", []),
        (b"", []),
    ],
)
def test_events_are_the_same_however_they_are_cut(text: bytes, data: list[bytes]) -> None:
    assert read([text]) == data
    assert read([bytes([byte]) for byte in text]) == data
    for first, second in itertools.combinations(range(len(text) + 1), 2):
        assert read([text[:first], text[first:second], text[second:]]) == data
