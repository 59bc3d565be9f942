"""Files: whether one exists, and whether it could be created."""

from __future__ import annotations

import os
from pathlib import Path

from caesura.core.errors import StartupError


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
