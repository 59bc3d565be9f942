"""A file that is being written, under a temporary name.

Its writer holds a lock on it, so everybody can see whether the writer is still alive.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import threading
from contextlib import suppress

UNFINISHED = ".caesura-unfinished-"


class Unfinished:
    """It is at the top of the workspace, where the sweep finds it if this process dies. Whoever made it calls
    `close` in any case, perhaps while another thread still writes."""

    def __init__(self, root: int, size: int = 0) -> None:
        """The file has `size` bytes from the start, so that whoever measures the workspace counts them."""
        self._root = os.dup(root)
        self._using = threading.Lock()
        self._closed = False
        try:
            name, self._file = _made(root)
        except BaseException:
            os.close(self._root)
            raise
        self._name: str | None = name
        try:
            os.ftruncate(self._file, size)
        except BaseException:
            self.close()
            raise

    def write(self, data: bytes | bytearray) -> None:
        rest = memoryview(data)
        with self._using:
            self._check()
            while rest:
                rest = rest[os.write(self._file, rest) :]

    def become(self, folder: int, name: str, mode: int) -> os.stat_result:
        """Give the file its name, in place of what has it. Power loss leaves the old file or the new one."""
        with self._using:
            self._check()
            os.fchmod(self._file, mode)
            os.fsync(self._file)
            os.rename(self._name or "", name, src_dir_fd=self._root, dst_dir_fd=folder)
            self._name = None
            os.fsync(folder)
            return os.fstat(self._file)

    def close(self) -> None:
        """Remove the file, unless it has its name."""
        with self._using:
            if self._closed:
                return
            self._closed = True
            os.close(self._file)
            if self._name is not None:
                with suppress(OSError):
                    os.unlink(self._name, dir_fd=self._root)
            os.close(self._root)

    def _check(self) -> None:
        """The number of a closed file may be that of another one by now."""
        if self._closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _made(root: int) -> tuple[str, int]:
    """A new file with a lock on it, and its name. `remove_abandoned` may take it away before it is locked:
    then another one is made."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        name = UNFINISHED + secrets.token_hex(8)
        file = os.open(name, flags, 0o600, dir_fd=root)
        with suppress(OSError):  # a file system without locks: then its age decides
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return name, file
        os.close(file)


def remove_abandoned(name: str, folder: int) -> bool:
    """Remove this file if its writer is gone; returns whether it was removed."""
    file = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False  # it is being written, or the file system has no locks
    finally:
        os.close(file)
    return True
