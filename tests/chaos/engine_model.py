"""A model whose reply depends only on its messages. A module, so that it is imported once for all lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from caesura.agents import titles
from caesura.core.messages import Message
from caesura.models.model import CallPart, Piece, Schema, Text

#: A call: its id, the tool, its arguments.
Call = tuple[str, str, str]
_HELP = '{"task": "help"}'
#: What those say who call one tool, or several at once, and what they call.
_ASKING: dict[str, tuple[list[str], list[Call]]] = {
    "lead": (["I ", "ask."], [("call-lead", "helper", _HELP)]),
    "team": (["I ", "ask."], [("call-a", "helper", _HELP), ("call-b", "second", _HELP)]),
    "office": (["I ", "ask."], [("call-a", "graph", _HELP), ("call-b", "graph", _HELP)]),
    "waits": (["I ", "wait."], [("call-wait", "wait", '{"text": "w"}')]),
    "clerk": (["I ", "pay."], [("call-pay", "pay", '{"text": "a"}')]),
    "graph": (["Working ", "on ", "it."], [("call-jot", "jot", '{"text": "a"}')]),
}
#: The calls of the writer, after this many results. The two updates are made at once.
_WRITING = {
    0: [("create_artifact", '{"id": "notes", "title": "Notes", "content_type": "text", "content": "a b"}')],
    1: [
        ("update_artifact", '{"id": "notes", "old": "a", "new": "1"}'),
        ("update_artifact", '{"id": "notes", "old": "b", "new": "2"}'),
    ],
    3: [("rewrite_artifact", '{"id": "notes", "content": "all new"}')],
}


class Fixed:
    label = "Fixed"

    def __init__(self, role: str = "tools") -> None:
        self.role = role

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        pieces, calls = self.plan(messages)
        for piece in pieces:
            yield Text(piece)
            await asyncio.sleep(0.015)  # so that each piece has a commit of its own
        for place, (id, name, args) in enumerate(calls):
            yield CallPart(place, args, id, name)

    def plan(self, messages: Sequence[Message]) -> tuple[list[str], list[Call]]:
        if titles.message_in(messages[-1].content) is not None:
            return ["A title"], []
        last = max(place for place, m in enumerate(messages) if m.role == "user")
        told = sum(m.role == "user" for m in messages)
        results = sum(m.role == "tool" for m in messages[last:])
        if self.role in ("words", "slow", "talk"):
            return self._words(told), []
        if self.role == "writer" and results in _WRITING:
            return ["Writing."], [
                (f"call-{results}-{place}", name, args)
                for place, (name, args) in enumerate(_WRITING[results])
            ]
        if results:
            return ["All ", "done: ", f"{results} results."], []
        return _ASKING.get(self.role) or (["Working ", "on ", "it."], self._calls(told))

    def _words(self, told: int) -> list[str]:
        if self.role == "slow":
            return [f"{number} " for number in range(60)]
        if self.role == "talk":
            return ["Good ", "day."]
        return ["Please ", "confirm ", str(told)] if told < 3 else ["Thank ", "you."]

    def _calls(self, told: int) -> list[Call]:
        own = "-second" if self.role == "second" else ""
        return [
            (f"call-{self.role}-{told}-note", "note", f'{{"text": "a{own}"}}'),
            (f"call-{self.role}-{told}-seal", "seal", f'{{"text": "b{own}"}}'),
        ]
