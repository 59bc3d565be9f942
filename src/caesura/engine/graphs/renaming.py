"""The modules that stored values of a graph's state name. A file next to a YAML is imported under a name of
its content: one that was changed has another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ormsgpack

from caesura.agents import imports


def renamed(data: bytes, modules: Iterable[str]) -> bytes:
    """The same value, of which the types are those of these modules. Its texts stay as they are."""
    now = {file: name for name in modules if (file := imports.file_of(name)) is not None}
    if not any(imports.names_earlier(data, name) for name in now.values()):
        return data

    def extension(code: int, body: bytes) -> ormsgpack.Ext:
        try:
            return ormsgpack.Ext(code, _written(_named(_read(body, extension), now)))
        except (TypeError, ValueError):  # another library's
            return ormsgpack.Ext(code, body)

    return _written(_read(data, extension))


def _read(data: bytes, extension: Callable[[int, bytes], Any]) -> Any:
    return ormsgpack.unpackb(data, ext_hook=extension, option=ormsgpack.OPT_NON_STR_KEYS)


def _written(value: Any) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def _named(value: Any, now: dict[str, str]) -> Any:
    """LangGraph stores an object as a list of its module, its class and what it is made from."""
    if isinstance(value, list) and len(value) > 1 and isinstance(value[0], str):
        value[0] = now.get(imports.file_of(value[0]) or "", value[0])
    return value
