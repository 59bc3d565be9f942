"""Pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core.errors import BadInput
from caesura.http.pagination import Pages, cursor, position


@given(st.integers(0, 2**63 - 1), st.text(max_size=50).filter(lambda text: text.isprintable()))
def test_a_cursor_can_be_decoded_to_its_row(at: int, id: str) -> None:
    assert position(cursor(at, id)) == (at, id)


@given(st.text())
def test_a_malformed_cursor_is_refused(text: str) -> None:
    try:
        position(text)
    except BadInput:
        return


@pytest.mark.parametrize(("wanted", "size"), [(None, 20), (1, 1), (100, 100), (101, 100)])
def test_the_size_of_a_page_is_bounded(wanted: int | None, size: int) -> None:
    assert Pages().size(wanted) == size
