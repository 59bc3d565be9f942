"""How many tokens a text takes, approximately: no model is asked, and no vocabulary is loaded. The estimate
is rather too high than too low, and is corrected by what the provider counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from caesura.core import json_data
from caesura.core.messages import Message
from caesura.models.model import Schema

#: Tokens of a character, and of each byte that it takes beyond the first: 1 for 3.5 letters of English, 1 for
#: a Chinese character.
_CHARACTER, _FURTHER_BYTE = 0.286, 0.36
#: What a message, a tool call and a tool take besides their texts.
_MESSAGE, _CALL, _SCHEMA = 8, 12, 16


def of_text(text: str) -> int:
    if text.isascii():
        return int(len(text) * _CHARACTER) + 1
    more = len(text.encode("utf-8", "surrogatepass")) - len(text)
    return int(len(text) * _CHARACTER + more * _FURTHER_BYTE) + 1


def of_message(message: Message) -> int:
    said = of_text(message.content) + (of_text(message.reasoning) if message.reasoning else 0)
    calls = sum(_CALL + of_text(call["name"]) + _of_data(call.get("args")) for call in message.tool_calls)
    return _MESSAGE + said + calls + sum(map(_of_data, message.kept))


def of_messages(messages: Iterable[Message]) -> int:
    return sum(map(of_message, messages))


def of_schemas(schemas: Iterable[Schema]) -> int:
    return sum(
        _SCHEMA + of_text(item.name) + of_text(item.description) + _of_data(item.parameters)
        for item in schemas
    )


def _of_data(data: Any) -> int:
    return of_text(json_data.dumps(data).decode())
