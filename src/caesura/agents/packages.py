"""The code of the packages that agents name: their sources as they were when Python loaded them.

Python loads a module once for each process. So what counts is not the file as it is now, but as it was then.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import all_suffixes
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

#: Of a package, so many files and bytes are read. What is beyond that counts by its size and time.
MOST_FILES, MOST_BYTES = 2000, 32 * 1024 * 1024
#: The attribute of the loaded modules of a package that holds its sources.
_SOURCES = "__caesura_sources__"


class Source(NamedTuple):
    """A file that holds a module. `stamp` has its size and time."""

    path: Path
    stamp: tuple[int, int]
    digest: str


Sources = Mapping[str, Source]


def top(target: str) -> str:
    """The package, or the single module, to which the module of `target` belongs."""
    return target.partition(":")[0].partition(".")[0]


@contextmanager
def remembered(module: str) -> Iterator[None]:
    """Remember the sources of the package of a module that is imported meanwhile. They are read before: if a
    file changes during the import, what is remembered may be too old, but never newer than the code."""
    name = top(module)
    if module in sys.modules and module in _known(name):
        yield
        return
    found = _look(name)
    try:
        yield
    finally:
        _keep(name, found)


def digest(name: str) -> str:
    """A hash of all modules of a package: of those that are loaded as they were loaded, of others as they
    are. Those that nobody has imported yet count too: otherwise it would change with the first import inside
    of a function, and with the order in which agents are loaded."""
    found = _look(name)
    _keep(name, found)
    lines = (f"{module} {source.digest}" for module, source in sorted(found.items()))
    return hashlib.sha256("\n".join((name, *lines)).encode()).hexdigest()


def changed(name: str) -> list[tuple[str, Source]]:
    """The files of loaded modules that have changed since, as people call them, and as they are now."""
    known = _known(name)
    found = []
    for module, _ in islice(_loaded(name), MOST_FILES):
        before = known.get(module)
        if before is None or _stamp(before.path) == before.stamp:
            continue
        now = _source(before.path, read=True)
        if now is None or now.digest != before.digest:
            found.append((_called(module, before.path), now or before._replace(stamp=(0, 0))))
    return found


def _look(name: str) -> dict[str, Source]:
    """The sources of all modules of a package."""
    known, files = _known(name), _files(name)
    loaded = {module for module, _ in _loaded(name)}
    # Also those of loaded modules whose file is gone.
    found = {module: source for module, source in known.items() if module in loaded}
    left = MOST_BYTES
    for number, (module, path) in enumerate(sorted(files.items())):
        if module not in found:
            size = (_stamp(path) or (0, 0))[0]
            source = _source(path, read=number < MOST_FILES and size <= left)
            if source is None:
                continue
            found[module] = source
        left -= found[module].stamp[0]
    return found


def _keep(name: str, found: Sources) -> None:
    """Remember the sources for as long as any of the modules is loaded."""
    known = {**_known(name), **found}
    for _, values in _loaded(name):
        values[_SOURCES] = known


def _known(name: str) -> Sources:
    return next((values[_SOURCES] for _, values in _loaded(name) if _SOURCES in values), {})


def _loaded(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The modules of a package that are loaded, with their values."""
    modules: dict[str, Any] = sys.modules.copy()
    for module in sorted(each for each in modules if each == name or each.startswith(f"{name}.")):
        if isinstance(modules[module], ModuleType):
            yield module, _values(modules[module])


def _values(module: ModuleType) -> dict[str, Any]:
    # `vars` would load a module whose loading is put off.
    values: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return values


def _files(name: str) -> dict[str, Path]:
    """The files that hold modules of a package, by the names of the modules."""
    place = _place(name)
    files: dict[str, Path] = {}
    for folder in place.get("__path__") or place.get("submodule_search_locations") or ():
        for module, path in _below(Path(folder), name):
            files.setdefault(module, path)
    origin = place.get("__file__") or place.get("origin")
    if not files and isinstance(origin, str) and os.path.isabs(origin):
        files[name] = _archive(Path(origin))
    return files


def _place(name: str) -> Mapping[str, Any]:
    """What says where a package is: the package, if it is loaded, or its description."""
    if isinstance(module := sys.modules.get(name), ModuleType):
        return _values(module)
    try:
        spec = importlib.util.find_spec(name)
    except Exception:  # noqa: BLE001 - the import that follows fails too, and tells it
        return {}
    return vars(spec) if spec is not None else {}


def _below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    suffixes = set(all_suffixes())
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if _may_hold_modules(Path(place), each))
        parts = (name, *Path(place).relative_to(folder).parts)
        for file in sorted(files):
            stem, dot, suffix = file.partition(".")
            if dot + suffix in suffixes and stem.isidentifier():
                yield ".".join(parts if stem == "__init__" else (*parts, stem)), Path(place, file)


def _may_hold_modules(place: Path, folder: str) -> bool:
    if folder == "__pycache__" or not folder.isidentifier():
        return False
    return not (place / folder / "pyvenv.cfg").exists()  # an environment of Python's


def _archive(path: Path) -> Path:
    """The file itself, or the archive that holds it."""
    return next((each for each in (path, *path.parents) if each.is_file()), path)


def _source(path: Path, read: bool) -> Source | None:
    """None if the file is not there."""
    stamp = _stamp(path)
    if stamp is None:
        return None
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest() if read else f"{stamp[0]} {stamp[1]}"
    except OSError:
        return None
    return Source(path, stamp, found)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns)


def _called(module: str, path: Path) -> str:
    parts = module.split(".")
    return "/".join((*(parts if path.stem == "__init__" else parts[:-1]), path.name))
