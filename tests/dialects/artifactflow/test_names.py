"""The ids of API B."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import ids
from caesura.core.errors import NoConversation, NotFound
from caesura.dialects.artifactflow import names
from caesura.dialects.threads import thread_ids

#: Ids as the server makes them, or as an operator's import may.
ROWS = st.one_of(
    st.builds(ids.conversation),
    st.builds(thread_ids.make, st.sampled_from(["alice", "conv", "conv-x", "a.b_c-d", "0"])),
    st.from_regex(r"conv-[0-9a-z-]{1,30}", fullmatch=True),
)


@given(ROWS)
def test_a_conversation_is_found_by_its_id_here(row: str) -> None:
    id = names.conversation(row)
    assert id.startswith("conv-")
    assert names.conversation_row(id) == row
    assert names.session(row) == f"sess-{id}"
    assert names.session_row(names.session(row)) == row


@given(ROWS, ROWS)
def test_two_conversations_never_have_one_id(one: str, other: str) -> None:
    assert (names.conversation(one) == names.conversation(other)) == (one == other)


def test_a_conversation_that_this_api_made_keeps_its_id() -> None:
    made = ids.conversation()
    assert names.conversation(made) == made


def test_a_turn_is_a_message_and_a_run() -> None:
    turn = ids.turn()
    assert names.turn_of_message(names.message(turn)) == turn
    assert names.turn_of_thread(names.thread(turn)) == turn
    assert names.stream(turn) == f"/api/v1/stream/{names.thread(turn)}"


@pytest.mark.parametrize("text", ["", "x", "turn-1", "conv", "sess-conv-1", "Conv-1"])
def test_what_has_another_form_is_not_found(text: str) -> None:
    with pytest.raises(NoConversation):
        names.conversation_row(text)
    for read in (names.turn_of_message, names.turn_of_thread):
        with pytest.raises(NotFound):
            read(text)
    with pytest.raises(NotFound):
        names.session_row(text.removeprefix("sess-"))
