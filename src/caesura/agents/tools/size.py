"""How much a workspace holds, and how much it may hold."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from caesura.agents.tools.opener import best

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: A measurement is valid for this many times its own duration: if there was room, and if there was none.
_TRUSTED = 10
_REFUSED = 2
_REMEMBERED = 1000
#: In bytes: the limit of the kernel.
_LONGEST_PATH = 4096
#: At most this many files are counted, whatever the quota is.
_MOST_FILES = 500_000
#: The permissions that the server needs in a folder.
_USABLE = 0o500


@dataclass(frozen=True, slots=True)
class Quota:
    """How much a workspace may hold. `files` includes folders."""

    bytes: int = 256 * 1024 * 1024
    files: int = 50_000


class Size(NamedTuple):
    """The size of a workspace. `whole` is False when the measurement is incomplete: the time was up, `most`
    was exceeded, or a path was too long."""

    bytes: int = 0
    files: int = 0
    whole: bool = True

    def exceeds(self, quota: Quota) -> bool:
        return self.bytes > quota.bytes or self.files > quota.files


#: Called with the size that a workspace would have; returns why that is not allowed, or None.
Take = Callable[[Size], str | None]


class Meter:
    """Checks whether workspaces have room. A workspace that takes long to measure is not measured again for
    each file: for a while, the size of written files is added to the last measurement."""

    def __init__(self, quota: Quota | None = None) -> None:
        self.quota = quota or Quota()
        self._found: dict[Path, tuple[Size, float]] = {}

    def fault(self, root: Path, count: int, take: Take = lambda size: None, folders: int = 0) -> str | None:
        """Why a file of `count` bytes and this many folders around it may not be added; None when they may.
        `take` is called last."""
        begun = time.monotonic()
        size, until = self._found.get(root, (Size(), 0.0))
        if begun > until:
            size = measure(root, most=self.quota)
            now = time.monotonic()
            fits = self._fits(_with(size, count, folders))
            until = now + (_TRUSTED if fits else _REFUSED) * (now - begun)
        added = _with(size, count, folders)
        fault = take(added) if self._fits(added) else self._full()
        if len(self._found) > _REMEMBERED:
            self._found.clear()
        self._found[root] = (added if fault is None else size, until)
        return fault

    def forget(self, root: Path) -> None:
        """Measure this workspace again for the next file."""
        self._found.pop(root, None)

    def _full(self) -> str:
        return (
            f"the workspace is full: it may hold {self.quota.bytes} bytes and {self.quota.files} files;"
            " remove something first"
        )

    def _fits(self, size: Size) -> bool:
        return size.whole and not size.exceeds(self.quota)


def _with(size: Size, count: int, folders: int) -> Size:
    """The size with one more file of `count` bytes, in new folders."""
    return Size(size.bytes + count, size.files + 1 + folders, size.whole)


def measure(root: Path, seconds: float = 5.0, most: Quota | None = None) -> Size:
    """The size of a workspace, measured for at most this many seconds. Links are not followed."""
    try:
        descriptor = os.open(root, _FOLDER | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return Size()
    try:
        return _Walk(descriptor, time.monotonic() + seconds, most).size()
    finally:
        os.close(descriptor)


class _Folder:
    """A folder on the current path of the walk. `left`: the names of its subfolders that are not yet
    counted."""

    __slots__ = ("identity", "left", "length", "name")

    def __init__(self, name: str, length: int, found: os.stat_result) -> None:
        self.name, self.length, self.identity = name, length, (found.st_dev, found.st_ino)
        self.left: list[str] = []


class _Walk:
    """Walks a folder tree with one folder open at a time, moving to a subfolder or to the parent. So deep
    trees take no more time and memory than flat ones."""

    def __init__(self, root: int, until: float, most: Quota | None) -> None:
        self._root, self._until, self._most = root, until, most
        self._open = best()
        self._bytes = self._files = 0
        self._linked: set[tuple[int, int]] = set()
        self._above: list[_Folder] = []

    def size(self) -> Size:
        try:
            whole = self._walk()
        except OSError:
            whole = False
        return Size(self._bytes, self._files, whole)

    def _walk(self) -> bool:
        here = os.dup(self._root)
        try:
            if not self._enter(here, "."):
                return False
            while self._above:
                left = self._above[-1].left
                name = left.pop() if left else None
                following = self._back(here) if name is None else self._inside(here, name)
                if following is None:
                    continue
                os.close(here)
                here = following
                if name is not None and not self._enter(here, name):
                    return False
        finally:
            os.close(here)
        return True

    def _enter(self, here: int, name: str) -> bool:
        """Count the entries of a folder; False when the walk should end."""
        found = os.fstat(here)
        if found.st_mode & _USABLE != _USABLE:
            with suppress(PermissionError):  # the folder belongs to somebody else
                os.fchmod(here, stat.S_IMODE(found.st_mode) | _USABLE)
        length = (self._above[-1].length if self._above else 0) + len(os.fsencode(name)) + 1
        if length > _LONGEST_PATH:
            return False
        folder = _Folder(name, length, found)
        self._above.append(folder)
        with os.scandir(here) as entries:
            for entry in entries:
                self._count(entry, folder)
                if self._enough():
                    return False
        return True

    def _inside(self, here: int, name: str) -> int | None:
        """Open the subfolder with this name; None when it is gone, or no longer a folder."""
        try:
            return _opened(name, here)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise

    def _back(self, here: int) -> int | None:
        """Open the parent folder; None at the top. If the folder was moved meanwhile, its parent is another
        one: then the folder that the walk came from is looked up by its path."""
        self._above.pop()
        while self._above:
            above = os.open("..", _FOLDER | os.O_CLOEXEC, dir_fd=here)
            found = os.fstat(above)
            if (found.st_dev, found.st_ino) == self._above[-1].identity:
                return above
            os.close(above)
            try:
                return self._open(self._root, [folder.name for folder in self._above[1:]], _FOLDER, 0)
            except (FileNotFoundError, NotADirectoryError):
                self._above.pop()  # that folder is gone too
        return None

    def _count(self, entry: os.DirEntry[str], folder: _Folder) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISDIR(found.st_mode):
            folder.left.append(entry.name)
        elif found.st_nlink > 1:
            if (found.st_dev, found.st_ino) in self._linked:
                return
            self._linked.add((found.st_dev, found.st_ino))
        self._files += 1
        self._bytes += max(found.st_size, found.st_blocks * 512)

    def _enough(self) -> bool:
        most = self._most
        over = most is not None and (self._bytes > most.bytes or self._files > most.files)
        return over or self._files > _MOST_FILES or time.monotonic() > self._until


def _opened(name: str, folder: int) -> int:
    flags = _FOLDER | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        _make_readable(name, folder)
        return os.open(name, flags, dir_fd=folder)


def _make_readable(name: str, folder: int) -> None:
    """Restore the server's permission to read a folder: a command may have removed it."""
    inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{inner}", stat.S_IMODE(os.fstat(inner).st_mode) | _USABLE)
    finally:
        os.close(inner)
