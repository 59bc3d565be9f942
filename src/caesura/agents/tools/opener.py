"""Opening files below a folder, so that no path, link or race leads out of it.

There are two equivalent ways: the kernel's own check (`openat2`, Linux 5.6), and a walk that opens one
component at a time and follows no link.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Callable, Sequence

#: Opens the path `parts` below the folder descriptor `root`; raises OSError if the path contains a link.
Opener = Callable[[int, Sequence[str], int, int], int]

_OPENAT2 = 437
_TRIES = 100
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _ALWAYS


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def best() -> Opener:
    """The kernel's check where it works here (old kernels and some containers lack it), else the walk."""
    if platform.system() != "Linux":
        return walking
    root = os.open("/", _FOLDER)
    try:
        os.close(by_kernel(root, ["."], os.O_RDONLY | os.O_DIRECTORY, 0))
    except OSError:
        return walking
    finally:
        os.close(root)
    return by_kernel


def by_kernel(root: int, parts: Sequence[str], flags: int, mode: int = 0) -> int:
    resolve = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
    how = _How(flags | _ALWAYS, mode if flags & os.O_CREAT else 0, resolve)
    path = os.fsencode("/".join(parts) or ".")
    libc = ctypes.CDLL(None, use_errno=True)
    number = errno.EAGAIN
    for _ in range(_TRIES):
        found = libc.syscall(_OPENAT2, root, path, ctypes.byref(how), ctypes.sizeof(how))
        if found >= 0:
            return int(found)
        number = ctypes.get_errno()
        # EAGAIN: something was renamed meanwhile, so the kernel could not be sure.
        if number not in (errno.EINTR, errno.EAGAIN):
            break
    raise OSError(number, os.strerror(number), os.fsdecode(path))


def walking(root: int, parts: Sequence[str], flags: int, mode: int = 0) -> int:
    *folders, last = parts or ["."]
    here = os.dup(root)
    try:
        for name in folders:
            inner = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(last, flags | _ALWAYS, mode, dir_fd=here)
    finally:
        os.close(here)
