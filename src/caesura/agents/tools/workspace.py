"""The files of one conversation: reading, writing and listing them. Paths that lead out of the workspace are
refused."""

from __future__ import annotations

import errno
import hashlib
import heapq
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from caesura.agents.tools.opener import Opener, best
from caesura.agents.tools.size import Meter, Take
from caesura.agents.tools.tool import ToolError
from caesura.agents.tools.unfinished import UNFINISHED, Unfinished
from caesura.core.interrupts import File

WRITE_LIMIT = 1024 * 1024
READ_LIMIT = 256 * 1024
LIST_LIMIT = 1000
#: Before a file is written a person is shown at most this many bytes of it; a longer file is only compared.
SHOWN_LIMIT = 64 * 1024
#: Of a file that is longer than this only the size and the times are compared.
HASH_LIMIT = 32 * 1024 * 1024
_NAME_LIMIT = 255
_PATH_LIMIT = 1024


class WorkspaceError(ToolError):
    """An error whose text the model gets as the result."""


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    size: int | None  # None for a folder


class Workspace:
    def __init__(
        self,
        root: Path,
        opener: Opener | None = None,
        meter: Meter | None = None,
        take: Take = lambda size: None,
    ) -> None:
        self._root, self._take = root, take
        self._open = opener or best()
        self._meter = meter or Meter()

    def read(self, path: str) -> str:
        parts = file_parts(path)
        with self._rooted(path) as root, self._opened(root, parts, os.O_RDONLY | os.O_NONBLOCK) as file:
            found = os.fstat(file)
            must_be_file(found.st_mode, path)
            data = _read(file, READ_LIMIT)
        if b"\0" in data:
            raise WorkspaceError(f"{path} is not a text file ({found.st_size} bytes)")
        text = data.decode("utf-8", "replace")
        if found.st_size > READ_LIMIT:
            return f"{text}\n[cut: only the first {READ_LIMIT} of {found.st_size} bytes are shown]"
        return text

    def look(self, path: str) -> File:
        """What the file holds now, as far as a person is shown it before it is written."""
        parts = file_parts(path)
        with self._rooted(path) as root:
            try:
                with self._opened(root, parts, os.O_RDONLY | os.O_NONBLOCK) as file:
                    return _seen(file, path)
            except FileNotFoundError:
                return File(path)

    def write(self, path: str, content: str, expected: File | None = None) -> int:
        """Write `content` to the file atomically; returns the number of bytes. If the file must be as
        `expected` and is not, it is left alone. A file that already has this content is no fault: this call
        may have written it before a crash."""
        *folders, name = file_parts(path)
        data = _encoded(content)
        if expected is not None and not fits(self.look(path), expected, content):
            raise WorkspaceError(f"not done: {path} has changed since the person was asked")
        with self._rooted(path) as root:
            missing = self._missing(root, folders)
            if fault := self._meter.fault(self._root, len(data), self._take, missing):
                raise WorkspaceError(fault)
            self._make(root, folders)
            with self._opened(root, folders, os.O_RDONLY | os.O_DIRECTORY) as folder:
                _replace(root, folder, name, data, mode_of(folder, name, path))
        return len(data)

    def entries(self, path: str = ".") -> tuple[list[Entry], bool]:
        """The entries of a folder, by name, and whether there are more than are returned."""
        with self._rooted(path) as root:
            flags = os.O_RDONLY | os.O_DIRECTORY
            with self._opened(root, parts_of(path), flags) as folder, os.scandir(folder) as found:
                shown = (item for item in found if not item.name.startswith(UNFINISHED))
                first = heapq.nsmallest(LIST_LIMIT + 1, shown, key=lambda item: item.name)
                return [_entry(item) for item in first[:LIST_LIMIT]], len(first) > LIST_LIMIT

    def _missing(self, root: int, folders: list[str]) -> int:
        """How many of these folders, each inside the one before, do not exist."""
        for depth in range(len(folders)):
            try:
                with self._opened(root, folders[: depth + 1], os.O_RDONLY | os.O_DIRECTORY):
                    pass
            except FileNotFoundError:
                return len(folders) - depth
        return 0

    def _make(self, root: int, folders: list[str]) -> None:
        for depth in range(len(folders)):
            parent = self._opened(root, folders[:depth], os.O_RDONLY | os.O_DIRECTORY)
            with parent as descriptor, suppress(FileExistsError):
                os.mkdir(folders[depth], 0o755, dir_fd=descriptor)
                os.fsync(descriptor)

    def _make_root(self) -> None:
        if self._root.is_dir():
            return
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        above = os.open(self._root.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(above)
        finally:
            os.close(above)

    @contextmanager
    def _rooted(self, path: str, *, made: bool = True) -> Iterator[int]:
        """Open the workspace. It is created first if it is to be `made`."""
        try:
            if made:
                self._make_root()
            root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                yield root
            finally:
                os.close(root)
        except OSError as error:
            raise WorkspaceError(_said(error, path)) from error

    @contextmanager
    def _opened(self, root: int, parts: list[str], flags: int) -> Iterator[int]:
        descriptor = self._open(root, parts, flags, 0)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def fits(found: File, expected: File, content: str) -> bool:
    """Whether the file is as it was expected to be, or already holds this content."""
    written = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
    return found.same(expected) or found.sha256 == written


def parts_of(path: str) -> list[str]:
    """The components of a path inside the workspace; raises an error that says why a path is refused."""
    if len(path.encode("utf-8", "replace")) > _PATH_LIMIT:
        raise WorkspaceError(f"the path must be a text of at most {_PATH_LIMIT} bytes")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in path):
        raise WorkspaceError("the path contains control characters")
    if path.startswith("/"):
        raise WorkspaceError(
            f"{path} is an absolute path: give one relative to the workspace, such as notes.txt"
        )
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise WorkspaceError(f"{path} leaves the workspace: '..' is not allowed")
    for part in parts:
        _check_name(part)
    return parts


def file_parts(path: str) -> list[str]:
    parts = parts_of(path)
    if not parts or path.endswith(("/", "/.")):
        raise WorkspaceError(f"{path!r} does not name a file")
    return parts


def _check_name(name: str) -> None:
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError:
        raise WorkspaceError("the path contains characters that cannot be stored") from None
    if len(encoded) > _NAME_LIMIT:
        raise WorkspaceError(f"a name in the path is longer than {_NAME_LIMIT} bytes")
    if name.startswith(UNFINISHED):
        raise WorkspaceError(f"names that begin with {UNFINISHED} are reserved")


def _encoded(content: str) -> bytes:
    data = content.encode("utf-8", "replace")
    if len(data) > WRITE_LIMIT:
        raise WorkspaceError(f"the content is {len(data)} bytes long: the limit is {WRITE_LIMIT}")
    return data


def must_be_file(mode: int, path: str) -> None:
    if stat.S_ISDIR(mode):
        raise WorkspaceError(f"{path} is a folder")
    if not stat.S_ISREG(mode):
        raise WorkspaceError(f"{path} is not a regular file")


def mode_of(folder: int, name: str, path: str) -> int:
    """The permissions of the written file: those of the file that it replaces, if there is one."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return 0o644
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    must_be_file(found.st_mode, path)
    return stat.S_IMODE(found.st_mode) & 0o777


def _replace(root: int, folder: int, name: str, data: bytes, mode: int) -> None:
    unfinished = Unfinished(root)
    try:
        unfinished.write(data)
        unfinished.become(folder, name, mode)
    finally:
        unfinished.close()


def _seen(file: int, path: str) -> File:
    found = os.fstat(file)
    must_be_file(found.st_mode, path)
    if found.st_size > HASH_LIMIT:
        mark = f"{found.st_ino}-{found.st_mtime_ns}-{found.st_ctime_ns}"
        return File(path, True, None, found.st_size, None, mark)
    digest, size, first = hashlib.sha256(), 0, b""
    # A file that grows meanwhile is read up to the limit.
    while size <= HASH_LIMIT and (part := os.read(file, SHOWN_LIMIT + 1)):
        digest.update(part)
        first = part if not size else first + part if len(first) <= SHOWN_LIMIT else first
        size += len(part)
    return File(path, True, _text(first), size, digest.hexdigest())


def _text(data: bytes) -> str | None:
    """The data as text, if it is a text that is not too long to be shown."""
    if len(data) > SHOWN_LIMIT or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _read(file: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := os.read(file, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _entry(item: os.DirEntry[str]) -> Entry:
    try:
        found = item.stat(follow_symlinks=False)
    except OSError:
        return Entry(item.name, 0)
    return Entry(item.name, None if stat.S_ISDIR(found.st_mode) else found.st_size)


def _said(error: OSError, path: str) -> str:
    match error.errno:
        case errno.ENOENT:
            return f"{path} does not exist"
        case errno.ELOOP | errno.EXDEV:
            return f"{path} is or passes through a link: links are not followed"
        case errno.ENOTDIR:
            return f"{path}: a part of the path is not a folder"
        case errno.EISDIR:
            return f"{path} is a folder"
        case errno.ENOSPC | errno.EDQUOT:
            return f"{path}: there is no space left"
        case _:
            return f"{path}: {error.strerror or 'cannot be used'}"
