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

from caesura.agents.tools import beneath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: How often as long as it took to find out that there is room, or that there is none, this is believed.
_TRUSTED = 10
_REFUSED = 2
_REMEMBERED = 1000
#: Of bytes, as the kernel bounds it.
_LONGEST_PATH = 4096
#: No more are counted, whatever the quota is.
_MOST_FILES = 500_000
#: The rights that the server needs in a folder.
_USABLE = 0o500


@dataclass(frozen=True, slots=True)
class Quota:
    """`files` counts folders too."""

    bytes: int = 256 * 1024 * 1024
    files: int = 50_000


class Size(NamedTuple):
    """`whole` is False when not all was seen: the time was up, `most` was passed, or a path was too long."""

    bytes: int = 0
    files: int = 0
    whole: bool = True

    def exceeds(self, quota: Quota) -> bool:
        return self.bytes > quota.bytes or self.files > quota.files


#: Told the size that a workspace comes to; why it may not come to that, or None.
Take = Callable[[Size], str | None]


class Meter:
    """Whether workspaces have room. One that takes long to measure is not measured for each file anew: for a
    while, what is written here is added to what was found."""

    def __init__(self, quota: Quota | None = None) -> None:
        self.quota = quota or Quota()
        self._found: dict[Path, tuple[Size, float]] = {}

    def fault(self, root: Path, count: int, take: Take = lambda size: None) -> str | None:
        """Why a file of so many bytes may not be added; None when it may. `take` is asked last."""
        begun = time.monotonic()
        size, until = self._found.get(root, (Size(), 0.0))
        if begun > until:
            size = measure(root, most=self.quota)
            now = time.monotonic()
            until = now + (_TRUSTED if self._fits(size, count) else _REFUSED) * (now - begun)
        added = Size(size.bytes + count, size.files + 1, size.whole)
        fault = take(added) if self._fits(size, count) else self._full()
        if len(self._found) > _REMEMBERED:
            self._found.clear()
        self._found[root] = (added if fault is None else size, until)
        return fault

    def _full(self) -> str:
        return (
            f"the workspace is full: it may hold {self.quota.bytes} bytes and {self.quota.files} files;"
            " remove something first"
        )

    def _fits(self, size: Size, count: int) -> bool:
        return size.whole and not Size(size.bytes + count, size.files + 1).exceeds(self.quota)


def measure(root: Path, seconds: float = 5.0, most: Quota | None = None) -> Size:
    """The size of a workspace, within these seconds. No link is followed."""
    try:
        descriptor = os.open(root, _FOLDER | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return Size()
    try:
        return _Walk(descriptor, time.monotonic() + seconds, most).size()
    finally:
        os.close(descriptor)


class _Folder:
    """One that the walk is in. `left` are the names of the folders in it that are still to be counted."""

    __slots__ = ("identity", "left", "length", "name")

    def __init__(self, name: str, length: int, found: os.stat_result) -> None:
        self.name, self.length, self.identity = name, length, (found.st_dev, found.st_ino)
        self.left: list[str] = []


class _Walk:
    """Holds one folder open, and goes from there to one inside it or to the one above. So a deep folder takes
    no more time and memory than another."""

    def __init__(self, root: int, until: float, most: Quota | None) -> None:
        self._root, self._until, self._most = root, until, most
        self._open = beneath.best()
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
        """Count what is in a folder; False when that is enough."""
        found = os.fstat(here)
        if found.st_mode & _USABLE != _USABLE:
            with suppress(PermissionError):  # it is another's
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
        """The folder of this name; None when it is gone meanwhile, or no folder any more."""
        try:
            return _opened(name, here)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise

    def _back(self, here: int) -> int | None:
        """The folder above; None at the top. A folder may have been moved: then what is above now is another
        one, and the folder that the walk came from is looked for by its path."""
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
                self._above.pop()  # that is gone too
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
    """A command may have taken the server's own right to look into a folder."""
    inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{inner}", stat.S_IMODE(os.fstat(inner).st_mode) | _USABLE)
    finally:
        os.close(inner)
