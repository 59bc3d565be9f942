"""Cursors in a turn, and along a conversation."""

from __future__ import annotations

import pytest

from caesura.core import cursors


def test_a_cursor_along_a_conversation_is_taken_apart_again() -> None:
    last = cursors.make(255, cursors.EVENTS - 1)
    for ordinal, cursor in ((1, 1), (7, cursors.make(3, 50)), (2_000_000, last)):
        number = cursors.along(ordinal, cursor)
        assert number < 2**53
        assert cursors.place(str(number)) == (ordinal, cursor)
        assert cursors.ordinal(number) == ordinal
    assert cursors.along(2, 1) > cursors.along(1, last)


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", " 1", "١", "9" * 17, str(2**53)])
def test_other_texts_are_no_cursors(text: str) -> None:
    assert cursors.place(text) is None
