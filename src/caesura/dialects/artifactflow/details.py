"""A conversation with its message tree, as JSON in pieces: one page of messages is in memory at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing

from fastapi import Response
from fastapi.responses import StreamingResponse

from caesura.core import json_data, tree
from caesura.dialects.artifactflow import wire
from caesura.http.context import Context
from caesura.service.pages import TreePage

_PAGE = 1_000
_JSON = "application/json"
_Children = Mapping[str | None, Sequence[str]]


async def response(here: Context, user_id: str, row_id: str, viewer: str) -> Response:
    """All messages of all branches, oldest first. Before a page is sent, it is recorded which questions it
    shows to this viewer."""
    conversation, links = await here.service.conversations.links(user_id, row_id)
    pages = _pages(here, user_id, row_id, tree.children(links), viewer)
    begin = json_data.dumps(wire.detail(conversation)).removesuffix(b"}") + b',"messages":['
    first, more = await anext(pages), await anext(pages, None)
    if more is None:
        return Response(begin + first + b"]}", media_type=_JSON)
    return StreamingResponse(_written(begin + first, more, pages), media_type=_JSON)


async def _pages(
    here: Context, user_id: str, row_id: str, children: _Children, viewer: str
) -> AsyncGenerator[bytes, None]:
    after: int | None = 0
    while after is not None:
        following: list[int | None] = []
        waiting: dict[int, list[str]] = {}
        write = _writer(children, following, waiting)
        page = await here.service.conversations.tree(user_id, row_id, _PAGE, after, write)
        await here.service.showings.note(waiting, viewer)
        yield page
        del page
        (after,) = following


def _writer(
    children: _Children, following: list[int | None], waiting: dict[int, list[str]]
) -> Callable[[TreePage], bytes]:
    def write(page: TreePage) -> bytes:
        following.append(page.next)
        for item in page.turns:
            if item.pending:
                waiting[item.turn.num] = [asked.id for asked in item.pending]
        return json_data.dumps([wire.message(item, children) for item in page.turns])[1:-1]

    return write


async def _written(
    first: bytes, second: bytes, others: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    yield first
    async with aclosing(others) as pages:
        page: bytes | None = second
        while page is not None:
            yield b"," + page
            page = await anext(pages, None)
    yield b"]}"
