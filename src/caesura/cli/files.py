"""Files: whether one exists, whether it could be created, and how a whole one gets its name."""

from __future__ import annotations

import os
from pathlib import Path

from caesura.core.errors import Conflict, StartupError


def is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StartupError(f"{path} cannot be opened: {error.strerror}") from error
    return True


def obstacle(path: Path) -> str | None:
    """Why this file could not be created or written to; None if it could."""
    if os.path.exists(path) and not os.access(path, os.W_OK):
        return "it is not writable"
    folder = path.absolute().parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is not a folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"{folder} is not writable"


def publish(part: Path, target: Path) -> None:
    """Give a file that is whole its name. Nothing is overwritten, even if another file gets this name
    meanwhile."""
    try:
        os.link(part, target)  # unlike a rename, it overwrites nothing
    except FileExistsError as error:
        raise _taken(target) from error
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise _taken(target) from None
        os.rename(part, target)
    else:
        part.unlink()


def _taken(target: Path) -> Conflict:
    return Conflict(f"{target} exists already: nothing is overwritten")
