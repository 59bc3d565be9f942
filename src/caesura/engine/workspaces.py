"""The workspaces of all conversations on this disk: deleting them, and removing what a crash left."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import os
import secrets
import stat
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.tools.unfinished import UNFINISHED, remove_abandoned
from caesura.core import ids

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

_TRASH = ".trash"
_ORIGIN = ".database"
_ROUND = 500
_TAKEN_AT_ONCE = 10_000
_EMPTYING_SECONDS = 60.0
_UNFINISHED_SECONDS = 3600
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

#: Returns those of the given conversations that exist.
Exist = Callable[[Sequence[str]], Awaitable[set[str]]]


class Workspaces:
    """Files are removed in a separate thread, so that a large workspace does not delay anything else.

    `origin` names the database. Workspaces without a conversation are left alone by a server that was started
    with another database by mistake. `gone` is called with each workspace that was removed.
    """

    def __init__(
        self,
        root: Path,
        origin: str = "",
        gone: Callable[[str], None] = lambda conversation_id: None,
        emptying_seconds: float = _EMPTYING_SECONDS,
    ) -> None:
        self._root, self._trash, self._origin, self._gone = root, root / _TRASH, origin, gone
        self._emptying_seconds = emptying_seconds
        self._thread = ThreadPoolExecutor(1, "caesura-removal")
        self._moving = Aside("caesura-discard")
        self._closing = threading.Event()

    async def discard(self, conversation_id: str) -> None:
        """Move a workspace to the trash at once. Its files are removed in the background; after a crash, at
        the next start."""
        if not ids.is_file_name(conversation_id):
            return
        await self._moving.run(self._set_aside, conversation_id)
        if not self._closing.is_set():
            self._thread.submit(self._remove, conversation_id)

    def folder(self, conversation_id: str) -> Path:
        """The workspace of a conversation. It exists once something is in it."""
        return self._root / conversation_id

    def take_away(self, folder: int, name: str) -> None:
        """Move a folder inside a workspace to the trash, as `discard` does with a whole workspace."""
        self._trash.mkdir(mode=0o700, exist_ok=True)
        trash = os.open(self._trash, _FOLDER)
        try:
            _move(folder, name, trash)
        finally:
            os.close(trash)
        if not self._closing.is_set():
            self._thread.submit(self._empty_trash)

    async def sweep(self, exist: Exist) -> None:
        """Remove what a crash left: the trash, workspaces without a conversation, unfinished files. The work
        of each round is bounded."""
        await self._in_thread(self._empty_trash)
        ours = await self._in_thread(self._is_ours)
        after = ""
        while names := await self._in_thread(self._names, after):
            after = names[-1]
            # A conversation's row is created before its workspace: if there is no row now, the conversation
            # was deleted.
            known = await exist(names)
            if ours:
                await self._in_thread(self._set_all_aside, [name for name in names if name not in known])
            await self._in_thread(self._remove_unfinished, [name for name in names if name in known])
            await asyncio.sleep(0)
        await self._in_thread(self._empty_trash)

    def close(self) -> None:
        """Stop removing files; the next start continues."""
        self._closing.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))

    def _remove(self, conversation_id: str) -> None:
        self._empty_trash()
        # A tool that was still running may have created the workspace again.
        if self._set_aside(conversation_id):
            self._empty_trash()

    def _set_all_aside(self, names: Sequence[str]) -> None:
        for name in names:
            if self._set_aside(name):
                logger.info("a workspace without a conversation is removed: %s", name)

    def _set_aside(self, name: str) -> bool:
        """Move a workspace into the trash; False when there is none."""
        try:
            root = os.open(self._root, _FOLDER)
        except OSError:
            return False
        try:
            if not _is_there(root, name):
                return False
            self._trash.mkdir(mode=0o700, exist_ok=True)
            trash = os.open(self._trash, _FOLDER)
            try:
                _move(root, name, trash)
            finally:
                os.close(trash)
        except OSError as error:
            logger.warning("workspace %s could not be removed: %s", name, error.strerror)
            return False
        finally:
            os.close(root)
        self._gone(name)
        return True

    def _empty_trash(self) -> None:
        """The time is limited: a process may create files in the trash as fast as they are removed."""
        try:
            trash = os.open(self._trash, _FOLDER)
        except OSError:
            return
        deadline = time.monotonic() + self._emptying_seconds
        try:
            while (names := os.listdir(trash)) and not self._closing.is_set():
                smaller = any([self._remove_entry(trash, name) for name in names])
                if not smaller or time.monotonic() > deadline:
                    logger.warning("%s could not be emptied; it is tried again later", self._trash)
                    return
        finally:
            os.close(trash)

    def _remove_entry(self, trash: int, name: str) -> bool:
        """Remove one entry of the trash; returns whether the trash got smaller. Folders in the entry become
        entries of the trash themselves, so neither depth nor path length matters."""
        done = 0
        try:
            if not stat.S_ISDIR(os.stat(name, dir_fd=trash, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=trash)
                return True
            _make_ours(trash, name)
            folder = os.open(name, _FOLDER, dir_fd=trash)
            try:
                with os.scandir(folder) as entries:
                    for entry in itertools.islice(entries, _TAKEN_AT_ONCE):
                        if self._closing.is_set():
                            return False
                        done += _take(folder, entry, trash)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=trash)
        except OSError as error:
            logger.debug("an entry of the trash is left for now: %s", error)
            return done > 0
        return True

    def _is_ours(self) -> bool:
        mark = self._root / _ORIGIN
        try:
            if not self._root.exists():
                return True
            if not mark.exists():
                mark.write_text(self._origin)
            ours = mark.read_text() == self._origin
        except OSError as error:
            logger.warning("%s cannot be used: %s", mark, error.strerror)
            return False
        if not ours:
            logger.warning(
                "%s belongs to another database: workspaces without a conversation are left there;"
                " delete %s if this database is the right one",
                self._root,
                mark,
            )
        return ours

    def _names(self, after: str) -> list[str]:
        """The names of some workspaces after the given name, sorted."""
        try:
            with os.scandir(self._root) as entries:
                later = (entry for entry in entries if entry.name > after and ids.is_file_name(entry.name))
                folders = (entry.name for entry in later if entry.is_dir(follow_symlinks=False))
                return heapq.nsmallest(_ROUND, folders)
        except OSError:
            return []

    def _remove_unfinished(self, names: Sequence[str]) -> None:
        oldest = time.time() - _UNFINISHED_SECONDS
        for name in names:
            with suppress(OSError):
                folder = os.open(self._root / name, _FOLDER)
                try:
                    _remove_abandoned(folder, oldest)
                finally:
                    os.close(folder)


def _remove_abandoned(folder: int, oldest: float) -> None:
    """Remove unfinished files that nobody writes, and those that are older than `oldest` in any case."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(UNFINISHED) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    removed = remove_abandoned(entry.name, folder)
                    if not removed and entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.name, dir_fd=folder)


def _take(folder: int, entry: os.DirEntry[str], trash: int) -> bool:
    """Remove the entry from the folder; returns whether that succeeded. An entry that cannot be removed does
    not stop the others."""
    try:
        if entry.is_dir(follow_symlinks=False):
            _move(folder, entry.name, trash)
        else:
            os.unlink(entry.name, dir_fd=folder)
    except OSError:
        return False
    return True


def _move(folder: int, name: str, trash: int) -> None:
    fresh = secrets.token_hex(12)
    try:
        os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=trash)
    except PermissionError:
        _make_ours(folder, name)  # a folder without write permission cannot be moved
        os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=trash)


def _make_ours(folder: int, name: str) -> None:
    """Restore the server's permissions on a folder: a command may have removed them."""
    found = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.fstat(found).st_mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{found}", 0o700)
    finally:
        os.close(found)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
