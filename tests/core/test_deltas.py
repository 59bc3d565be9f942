"""Deltas: a content as a change of another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import deltas
from caesura.core.errors import CodecError


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_a_change_turns_one_content_into_the_other(start: bytes, old: bytes, new: bytes, end: bytes) -> None:
    before, after = start + old + end, start + new + end
    assert deltas.apply(before, deltas.delta(before, after)) == after


@given(st.binary())
def test_a_packed_content_is_unpacked(content: bytes) -> None:
    assert deltas.unpack(deltas.pack(content)) == content


def test_a_small_change_of_a_long_content_is_small() -> None:
    content = bytes(range(256)) * 4_000
    after = content[:500_000] + b"new" + content[500_007:]
    assert len(deltas.delta(content, after)) < 50


def test_bytes_that_are_no_version_are_refused() -> None:
    with pytest.raises(CodecError, match="cannot be read"):
        deltas.unpack(b"not compressed")
    with pytest.raises(CodecError, match="does not fit"):
        deltas.apply(b"short", deltas.delta(b"a long content", b"a long conten"))
