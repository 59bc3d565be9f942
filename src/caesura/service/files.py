"""What an owner can do with the files of a conversation: list, download, upload and remove them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.tools.disk import Disk
from caesura.agents.tools.owned import OpenFile, OwnedFiles, Upload, is_absent, is_out_of_space
from caesura.agents.tools.places import Busy, Places
from caesura.agents.tools.workspace import WorkspaceError, file_parts, parts_of
from caesura.core.errors import (
    BadInput,
    Conflict,
    NoConversation,
    NotFound,
    Revoked,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from caesura.core.files import Item
from caesura.engine.workspaces import Workspaces
from caesura.store import conversations
from caesura.store.database import Database

P = ParamSpec("P")
T = TypeVar("T")

#: Downloads and uploads at once: in all, and of one person. Each keeps a file open for as long as it takes.
_AT_ONCE, _EACH = 256, 4
#: Seconds that a request waits for its turn, and the seconds after which a refused client may retry.
_PATIENCE, _RETRY = 10.0, 5
#: Bytes of a download that are read at once, and of an upload that are written at once.
_READ, _WRITTEN = 64 * 1024, 256 * 1024


class Files:
    """All work with files is done in threads."""

    def __init__(self, database: Database, workspaces: Workspaces, disk: Disk) -> None:
        self._database, self._workspaces, self._disk = database, workspaces, disk
        self._places = Places(_AT_ONCE, _EACH)
        self._reading = Aside("caesura-downloads", 4)

    async def page(
        self, user_id: str, conversation_id: str, path: str, after: str, limit: int
    ) -> tuple[list[Item], bool]:
        """The entries of a folder by name, those after the name `after`, and whether there are more."""
        with _paths_checked():
            parts_of(path)
        files = await self._of(user_id, conversation_id)
        return await self._do(user_id, files.page, path, after, limit)

    @asynccontextmanager
    async def download(
        self, user_id: str, conversation_id: str, path: str
    ) -> AsyncIterator[tuple[OpenFile, AsyncGenerator[bytes, None]]]:
        """A file and its content in pieces: as many bytes as it had when it was opened, or fewer if somebody
        has cut it meanwhile."""
        with _paths_checked():
            file_parts(path)
        async with self._place(user_id):
            files = await self._of(user_id, conversation_id)
            file = await self._do(user_id, files.open, path)
            try:
                yield file, self._pieces(file)
            finally:
                await self._reading.run(file.close)

    async def upload(
        self,
        user_id: str,
        conversation_id: str,
        path: str,
        size: int,
        pieces: AsyncIterator[bytes],
        admit: Callable[[], Awaitable[None]],
    ) -> Item:
        """Write a file of `size` bytes, in place of what has this path. Others see the old file or the whole
        new one, and if the pieces end too early, nothing has changed. When they have come, which may take
        long, `admit` raises `Revoked` if the person may not write any more."""
        with _paths_checked():
            file_parts(path)
        async with self._place(user_id):
            files = await self._of(user_id, conversation_id)
            await self._disk.share.know(user_id)
            folder = self._workspaces.folder(conversation_id)
            upload = await self._do(
                user_id, files.begin, path, size, partial(self._disk.claim, user_id, folder, size)
            )
            try:
                await self._receive(user_id, upload, size, pieces)
                await admit()
                await self._of(user_id, conversation_id)  # it may be somebody else's by now
                item = await self._do(user_id, upload.finish)
            except BaseException as error:
                await self._reading.run(self._dropped, user_id, conversation_id, upload)
                try:
                    await self._must_exist(user_id, conversation_id)
                except NoConversation:
                    if not isinstance(error, Revoked):
                        raise
                raise
            upload.close()
            await self._must_exist(user_id, conversation_id)
            return item

    async def remove(self, user_id: str, conversation_id: str, path: str) -> None:
        """Remove a file, or a folder with everything in it."""
        with _paths_checked():
            file_parts(path)
        files = await self._of(user_id, conversation_id)
        await self._do(user_id, files.remove, path, self._workspaces.take_away)
        await self._do(user_id, self._disk.settle, user_id, self._workspaces.folder(conversation_id))

    async def _of(self, user_id: str, conversation_id: str) -> OwnedFiles:
        await self._database.read(conversations.get, conversation_id, user_id)
        return OwnedFiles(self._workspaces.folder(conversation_id))

    async def _pieces(self, file: OpenFile) -> AsyncGenerator[bytes, None]:
        left = file.size
        while left and (piece := await self._reading.run(file.read, min(left, _READ))):
            left -= len(piece)
            yield piece

    async def _receive(self, user_id: str, upload: Upload, size: int, pieces: AsyncIterator[bytes]) -> None:
        held, count = bytearray(), 0
        async for piece in pieces:
            held += piece
            count += len(piece)
            if count > size:
                raise TooLarge
            if len(held) >= _WRITTEN:
                await self._do(user_id, upload.write, held)
                held = bytearray()
        if count < size:
            raise BadInput("the body ended too early")
        await self._do(user_id, upload.write, held)

    def _dropped(self, user_id: str, conversation_id: str, upload: Upload) -> None:
        upload.close()
        self._disk.settle(user_id, self._workspaces.folder(conversation_id))

    async def _must_exist(self, user_id: str, conversation_id: str) -> None:
        """If the conversation was deleted meanwhile, nothing of it may stay. If it is somebody else's now,
        everything stays."""
        try:
            await self._database.read(conversations.get, conversation_id, user_id)
        except NoConversation:
            if not await self._database.read(conversations.exists, conversation_id):
                await self._workspaces.discard(conversation_id)
            raise

    @asynccontextmanager
    async def _place(self, user_id: str) -> AsyncIterator[None]:
        try:
            await self._places.take(user_id, _PATIENCE)
        except Busy as error:
            raise TooManyRequests(_RETRY, "too many downloads and uploads at once") from error
        try:
            yield
        finally:
            self._places.give_back(user_id)

    async def _do(self, user_id: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the work in a thread, one after the other for each person, as the tools do: so an approved
        write finds the file that the person was shown, or is asked for again."""
        try:
            return await self._disk.threads.of(user_id, work, *args, **kwargs)
        except Busy as error:
            raise TooManyRequests(_RETRY, "too many files are being used at once") from error
        except WorkspaceError as error:
            raise _fault(error) from error
        except OSError as error:
            raise Unavailable("the file cannot be written now") from error


@contextmanager
def _paths_checked() -> Iterator[None]:
    try:
        yield
    except WorkspaceError as error:
        raise BadInput(str(error)) from error


def _fault(error: WorkspaceError) -> NotFound | Conflict | Unavailable:
    if is_absent(error):
        return NotFound(str(error))
    return Unavailable(str(error)) if is_out_of_space(error) else Conflict(str(error))
