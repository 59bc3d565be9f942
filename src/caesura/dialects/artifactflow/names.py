"""The ids of this API, made from those of the rows without any state, so that they are the same for ever.

A conversation is `conv-…`, and its artifacts are `sess-conv-…`. A turn is the message `msg-…` and the run
`thd-…`. Nobody's access depends on an id's form.
"""

from __future__ import annotations

import re

from caesura.core.errors import NoConversation, NotFound

_CONVERSATION, _SESSION, _MESSAGE, _THREAD, _TURN = "conv-", "sess-", "msg-", "thd-", "turn-"
#: The ids of conversations that have the form of this API already.
_OURS = re.compile(r"conv-[0-9a-z]{24}")


def conversation(row_id: str) -> str:
    """The id of a conversation, whichever API made it."""
    return row_id if _OURS.fullmatch(row_id) else f"{_CONVERSATION}{row_id}"


def conversation_row(conversation_id: str) -> str:
    if not conversation_id.startswith(_CONVERSATION):
        raise NoConversation
    if _OURS.fullmatch(conversation_id):
        return conversation_id
    return conversation_id.removeprefix(_CONVERSATION)


def session(row_id: str) -> str:
    return f"{_SESSION}{conversation(row_id)}"


def session_row(session_id: str) -> str:
    """The conversation of a session."""
    if not session_id.startswith(_SESSION):
        raise NotFound("session not found")
    return conversation_row(session_id.removeprefix(_SESSION))


def message(turn_id: str) -> str:
    return f"{_MESSAGE}{turn_id.removeprefix(_TURN)}"


def thread(turn_id: str) -> str:
    return f"{_THREAD}{turn_id.removeprefix(_TURN)}"


def turn_of_message(message_id: str) -> str:
    return _turn(message_id, _MESSAGE, "message")


def turn_of_thread(thread_id: str) -> str:
    return _turn(thread_id, _THREAD, "thread")


def stream(turn_id: str, root: str = "") -> str:
    """Where the run of a turn is read, on a server below this root path."""
    return f"{root}/api/v1/stream/{thread(turn_id)}"


def _turn(text: str, prefix: str, noun: str) -> str:
    if not text.startswith(prefix):
        raise NotFound(f"{noun} not found")
    return f"{_TURN}{text.removeprefix(prefix)}"
