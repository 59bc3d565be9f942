"""Messages."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from caesura.core import json_data, messages
from caesura.core.messages import Message, Role
from tests.core.strategies import arguments, texts

any_message = st.builds(
    Message,
    role=st.sampled_from(get_args(Role)),
    content=texts(),
    reasoning=texts(),
    tool_calls=st.lists(arguments(), max_size=2).map(tuple),
    tool_call_id=st.none() | texts(),
    name=st.none() | texts(),
    status=texts(),
    agent=texts(),
    parent=st.none() | texts(),
    cut=st.booleans(),
    usage=st.none() | st.dictionaries(texts(), st.integers(0, 2**40), max_size=2),
)


@given(any_message)
def test_a_decoded_message_equals_the_encoded_one(message: Message) -> None:
    back = messages.from_dict(json_data.loads(json_data.dumps(messages.to_dict(message))))
    assert back == message
    assert back.usage == message.usage


def test_a_plain_message_is_stored_with_two_members() -> None:
    assert messages.to_dict(Message("user", "hi")) == {"role": "user", "content": "hi"}


def test_a_history_shows_messages_with_text_that_are_not_of_a_sub_agent() -> None:
    shown = [Message("user", "hi"), Message("tool", "a.txt"), Message("assistant", "cut", cut=True)]
    hidden = [Message("assistant", " \n"), Message("assistant", "sub", parent="c1"), Message("assistant", "")]
    assert messages.shown([*hidden, *shown, *hidden]) == shown
