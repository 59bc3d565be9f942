"""The client's operations on the files of a conversation's workspace."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from caesura.client import values
from caesura.client.connection import FAILURES, Connection, path_of

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class File:
    """`name` is for people. `path` is for calls, and None if no path can name this entry. `size` is that of a
    file."""

    name: str
    path: str | None
    kind: Literal["file", "folder", "link", "other"]
    size: int | None
    modified_at: int


class Files:
    """`client.files`. A path is relative to the workspace, such as `src/main.py`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def listing(self, conversation_id: str, path: str = "") -> list[File]:
        """The files and folders in a folder, by name."""
        found: list[File] = []
        params = {"path": path}
        while True:
            where = path_of("conversations", conversation_id, "files")
            page = await self._connection.request("GET", where, params=params)
            found += [values.pick(File, item) for item in page["files"]]
            if page["next"] is None:
                return found
            params = {"path": path, "cursor": page["next"]}

    async def get(self, conversation_id: str, path: str) -> bytes:
        """The content of a file, in memory."""
        patience = self._connection.patient()
        while True:
            try:
                return b"".join([piece async for piece in self.pieces(conversation_id, path)])
            except FAILURES as error:
                await self._connection.recover(error, patience)

    async def pieces(self, conversation_id: str, path: str) -> AsyncGenerator[bytes, None]:
        """The content of a file, piece by piece. If the connection breaks, what came is a part of it, and
        `Unreachable` is raised."""
        try:
            async with self._connection.download(_path(conversation_id, path)) as response:
                async for piece in response.aiter_bytes():
                    yield piece
        except FAILURES as error:
            raise self._connection.failure(error) from error

    async def put(self, conversation_id: str, path: str, content: bytes | BinaryIO) -> File:
        """Write a file, in place of what has this path. A file that is given must be one that can be read
        again from where it stands: a request may be repeated."""
        where = _path(conversation_id, path)
        if isinstance(content, bytes):
            return values.pick(File, await self._connection.request("PUT", where, raw=content))
        begin = content.tell()
        size = content.seek(0, os.SEEK_END) - begin

        def raw() -> AsyncGenerator[bytes, None]:
            return _read(content, begin, size)

        return values.pick(File, await self._connection.request("PUT", where, raw=raw, size=size))

    async def remove(self, conversation_id: str, path: str) -> None:
        """Remove a file, or a folder with everything in it."""
        await self._connection.delete(_path(conversation_id, path))


async def _read(file: BinaryIO, begin: int, size: int) -> AsyncGenerator[bytes, None]:
    """As many bytes as were promised: the file may grow meanwhile."""
    file.seek(begin)
    while size and (piece := file.read(min(size, _PIECE))):
        size -= len(piece)
        yield piece


def _path(conversation_id: str, path: str) -> str:
    return path_of("conversations", conversation_id, "files", *path.split("/"))
