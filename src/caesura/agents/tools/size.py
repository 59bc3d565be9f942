"""How much a workspace holds, and how much it may hold."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from caesura.agents.tools import beneath
from caesura.agents.tools.beneath import Opener

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
#: How often as long as it took to find out that there is room, or that there is none, this is believed.
_TRUSTED = 10
_REFUSED = 2
_REMEMBERED = 1000


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


class _Walk:
    def __init__(self, root: int, until: float, most: Quota | None) -> None:
        self._root, self._until, self._most = root, until, most
        self._open = beneath.best()
        self._bytes = self._files = 0
        self._linked: set[tuple[int, int]] = set()
        self._folders: list[tuple[str, ...]] = [()]

    def size(self) -> Size:
        while self._folders:
            parts = self._folders.pop()
            try:
                seen = self._look(parts)
            except (FileNotFoundError, NotADirectoryError):
                continue  # it is gone meanwhile
            except OSError:
                seen = False
            if not seen:
                return Size(self._bytes, self._files, whole=False)
        return Size(self._bytes, self._files)

    def _look(self, parts: tuple[str, ...]) -> bool:
        folder = _opened(self._open, self._root, parts)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count(entry, parts)
                    if self._enough():
                        return False
        finally:
            os.close(folder)
        return True

    def _count(self, entry: os.DirEntry[str], parts: tuple[str, ...]) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISDIR(found.st_mode):
            self._folders.append((*parts, entry.name))
        elif found.st_nlink > 1:
            if (found.st_dev, found.st_ino) in self._linked:
                return
            self._linked.add((found.st_dev, found.st_ino))
        self._files += 1
        self._bytes += max(found.st_size, found.st_blocks * 512)

    def _enough(self) -> bool:
        most = self._most
        over = most is not None and (self._bytes > most.bytes or self._files > most.files)
        return over or time.monotonic() > self._until


def _opened(opener: Opener, root: int, parts: Sequence[str]) -> int:
    try:
        return opener(root, parts, _FOLDER, 0)
    except PermissionError:
        _make_readable(opener, root, parts)
        return opener(root, parts, _FOLDER, 0)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(*error.args) from error
        raise


def _make_readable(opener: Opener, root: int, parts: Sequence[str]) -> None:
    """A command may have taken the server's own right to look into a folder."""
    folder = opener(root, parts, os.O_PATH | os.O_DIRECTORY, 0)
    try:
        os.chmod(f"/proc/self/fd/{folder}", stat.S_IMODE(os.fstat(folder).st_mode) | 0o500)
    finally:
        os.close(folder)
