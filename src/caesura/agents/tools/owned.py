"""The files of a workspace as the person that owns them uses them: pages of a folder, downloads, uploads and
removal."""

from __future__ import annotations

import errno
import heapq
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress

from caesura.agents.tools.unfinished import UNFINISHED, Unfinished
from caesura.agents.tools.workspace import (
    Workspace,
    WorkspaceError,
    file_parts,
    mode_of,
    must_be_file,
    parts_of,
)
from caesura.core.files import Item, Kind

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class OpenFile:
    """A file that is being read. It stays what it was when somebody else replaces it."""

    def __init__(self, file: int, path: str) -> None:
        self.name, self.size = path.rpartition("/")[2], os.fstat(file).st_size
        self._file = os.fdopen(file, "rb", buffering=0)
        self._using = threading.Lock()

    def read(self, count: int) -> bytes:
        with self._using:
            return b"" if self._file.closed else self._file.read(count) or b""

    def close(self) -> None:
        with self._using:
            self._file.close()


class Upload:
    """A file that comes in. `finish` gives it its name; before that nobody sees anything of it."""

    def __init__(self, workspace: OwnedFiles, path: str, unfinished: Unfinished) -> None:
        self._workspace, self._path, self._unfinished = workspace, path, unfinished
        self.write, self.close = unfinished.write, unfinished.close

    def finish(self) -> Item:
        return self._workspace.finish(self._path, self._unfinished)


class OwnedFiles(Workspace):
    def page(self, path: str, after: str, limit: int) -> tuple[list[Item], bool]:
        """The entries of a folder by name, those after the name `after`, and whether there are more."""
        parts = parts_of(path)
        if not parts and not self._root.is_dir():
            return [], False
        with (
            self._rooted(path, made=False) as root,
            self._opened(root, parts, _FOLDER) as folder,
            os.scandir(folder) as found,
        ):
            wanted = (item for item in found if item.name > after and not item.name.startswith(UNFINISHED))
            first = heapq.nsmallest(limit + 1, wanted, key=lambda item: item.name)
            return [_item(parts, item) for item in first[:limit]], len(first) > limit

    def open(self, path: str) -> OpenFile:
        parts = file_parts(path)
        with self._rooted(path, made=False) as root:
            # Without O_NONBLOCK a named pipe would be waited for. A device is opened by no path in here.
            file = self._open(root, parts, os.O_RDONLY | os.O_NONBLOCK, 0)
            try:
                must_be_file(os.fstat(file).st_mode, path)
                return OpenFile(file, "/".join(parts))
            except BaseException:
                os.close(file)
                raise

    def begin(self, path: str, size: int, claim: Callable[[int], None]) -> Upload:
        """Begin to write a file of `size` bytes. `claim` takes room for it and for this many new folders."""
        *folders, name = file_parts(path)
        with self._rooted(path) as root:
            with suppress(FileNotFoundError), self._opened(root, folders, _FOLDER) as folder:
                mode_of(folder, name, path)  # raises if something else has this name
            claim(self._missing(root, folders))
            return Upload(self, path, Unfinished(root, size))

    def finish(self, path: str, unfinished: Unfinished) -> Item:
        *folders, name = parts = file_parts(path)
        with self._rooted(path, made=False) as root:
            self._make(root, folders)
            with self._opened(root, folders, _FOLDER) as folder:
                found = unfinished.become(folder, name, mode_of(folder, name, path))
        return Item(name, "/".join(parts), "file", found.st_size, _milliseconds(found))

    def remove(self, path: str, take_away: Callable[[int, str], None]) -> None:
        """Remove a file, a link, or whatever else has this path. A folder goes with everything in it:
        `take_away` is called with the folder around it and its name."""
        *folders, name = file_parts(path)
        with self._rooted(path, made=False) as root, self._opened(root, folders, _FOLDER) as folder:
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                take_away(folder, name)
            else:
                os.unlink(name, dir_fd=folder)
            os.fsync(folder)


def is_absent(error: WorkspaceError) -> bool:
    """Whether there is nothing at the path."""
    return getattr(error.__cause__, "errno", None) == errno.ENOENT


def is_out_of_space(error: WorkspaceError) -> bool:
    return getattr(error.__cause__, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def _item(parts: list[str], entry: os.DirEntry[str]) -> Item:
    path: str | None = "/".join([*parts, entry.name])
    try:
        file_parts(path or "")
    except WorkspaceError:
        path = None
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return Item(entry.name, path, "other", None, 0)  # removed meanwhile
    kind = _kind(found.st_mode)
    size = found.st_size if kind == "file" else None
    return Item(entry.name, path, kind, size, _milliseconds(found))


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _milliseconds(found: os.stat_result) -> int:
    return max(0, found.st_mtime_ns // 1_000_000)
