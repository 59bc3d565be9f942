"""What a command in the sandbox sees of the machine's files, and what is hidden below that.

Known folders of the system are shown, never all of /usr: container images keep applications there. Files of
the server that are below a shown folder are covered, at every path where links and bind mounts make them
appear.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import caesura

_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SHOWN = (
    *(f"/{name}" for name in _TOP),
    *(f"/usr/{name}" for name in (*_TOP, "libexec", "include", "share", "games")),
    *(f"/usr/local/{name}" for name in (*_TOP, "libexec", "include", "share")),
    *("/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ld.so.cache", "/etc/ld.so.conf"),
    *("/etc/localtime", "/etc/nsswitch.conf"),
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Hidden:
    """`always`: paths that are hidden with everything in them, including system folders. `below`: paths that
    are covered only where they are below a system folder. The home of a service's user may be /, and then
    hides nothing."""

    always: tuple[Path, ...] = ()
    below: tuple[Path, ...] = ()


class _Mount(NamedTuple):
    device: str
    root: Path  # within the device
    point: Path


def hidden(*paths: Path | None, files: Iterable[Path | None] = ()) -> Hidden:
    """These folders and files, and those of every server: its program, its home and its working directory."""
    named = tuple(path for path in paths if path is not None)
    single = [path for path in files if path is not None]
    beside = [path.with_name(path.name + end) for path in single for end in ("", "-wal", "-shm", "-journal")]
    return Hidden((*named, *beside), (*(path.parent for path in single), *_own()))


def arguments(hide: Hidden, shown: Sequence[str] = _SHOWN) -> list[str]:
    """The arguments for bubblewrap: show the system, then cover the hidden paths."""
    links = {name: os.readlink(name) for name in shown if os.path.islink(name) and os.path.isdir(name)}
    real = {name: Path(name).resolve() for name in shown if name not in links and os.path.exists(name)}
    mounts = _mounts()
    never = {place for path in hide.always for place in _places(path, mounts)}
    below = {place for path in hide.below for place in _places(path, mounts)}
    given = {name: source for name, source in real.items() if not any(map(source.is_relative_to, never))}
    covered = {
        Path(name) / place.relative_to(source)
        for place in never | below
        for name, source in given.items()
        if place != source and place.is_relative_to(source)
    }
    result = [item for name, target in links.items() for item in ("--symlink", target, name)]
    result += [item for name in given for item in ("--ro-bind", name, name)]
    for place in sorted(covered):
        if not any(parent in covered for parent in place.parents):
            result += _cover(place)
    return result


def _cover(place: Path) -> list[str]:
    if place.is_dir():
        return ["--tmpfs", str(place), "--remount-ro", str(place)]
    return ["--ro-bind", "/dev/null", str(place)]


def _own() -> Iterator[Path]:
    yield Path(caesura.__file__).parent
    yield Path(sys.prefix)
    with suppress(OSError):  # the folder may have been removed
        yield Path.cwd()
    with suppress(RuntimeError):  # not every user has one
        yield Path.home()
    for descriptor in (1, 2):  # where the log goes
        try:
            target = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            continue
        if os.path.isfile(target):  # one that this user cannot reach, a command cannot either
            yield target


def _places(path: Path, mounts: Sequence[_Mount]) -> set[Path]:
    """Every path under which the kernel shows this file or folder."""
    real = path.resolve()
    if not os.path.lexists(real):
        return set()
    holder = max(
        (mount for mount in mounts if real.is_relative_to(mount.point)),
        key=lambda mount: len(mount.point.parts),
        default=None,
    )
    if holder is None:
        return {real}
    inner = holder.root / real.relative_to(holder.point)
    return {real} | {
        mount.point / inner.relative_to(mount.root)
        for mount in mounts
        if mount.device == holder.device and inner.is_relative_to(mount.root)
    }


def _mounts() -> list[_Mount]:
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return []
    fields = [line.split() for line in lines]
    return [_Mount(item[2], Path(_plain(item[3])), Path(_plain(item[4]))) for item in fields]


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)
