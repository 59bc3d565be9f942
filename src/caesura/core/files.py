"""A file in the workspace of a conversation, as its owner sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a folder. `path` is None if no path can name it: a command may give a file a name that is
    not text, or that has control characters. `size` is that of a file."""

    name: str
    path: str | None
    kind: Kind
    size: int | None
    modified_at: int
