"""Artifacts: documents of a conversation with numbered versions that never change; how an edit makes the next
one."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from caesura.core import json_data, matching, shown
from caesura.core.errors import BadInput

UpdateType = Literal["create", "update", "update_fuzzy", "rewrite"]
ContentType = Literal["markdown", "code", "text", "html", "json", "csv", "mermaid"]
CONTENT_TYPES: tuple[ContentType, ...] = get_args(ContentType)

CONTENT_LIMIT = 1024 * 1024
TITLE_LIMIT = 200
ID_LIMIT = 100
#: So that no list of artifacts, or of versions, grows without a bound.
MOST_ARTIFACTS = 1_000
MOST_VERSIONS = 10_000
_ID = re.compile(rf"\w[\w.-]{{0,{ID_LIMIT - 1}}}")


class Artifact(NamedTuple):
    """`version` is the number of the current one. Times are milliseconds since 1970, UTC."""

    conversation_id: str
    id: str
    title: str
    content_type: str
    version: int
    created_at: int
    updated_at: int


class Entry(NamedTuple):
    """A version in a list, without its content. `turn_id` is the turn that made it; None if a person did."""

    version: int
    update_type: str
    turn_id: str | None
    created_at: int


class Version(NamedTuple):
    """A version and what it holds. `changes` are pairs of the old text, as found, and the new text; only the
    versions of an update have some."""

    version: int
    update_type: str
    changes: list[list[str]]
    content: str
    turn_id: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class Edit:
    """New content and how it was made."""

    content: str
    update_type: UpdateType
    changes: tuple[tuple[str, str], ...] = ()


def create(content: str) -> Edit:
    return Edit(_checked(content), "create")


def rewrite(content: str) -> Edit:
    return Edit(_checked(content), "rewrite")


def update(content: str, old: str, new: str) -> Edit:
    """Replace `old` by `new` at the one place where it is found."""
    found, new = matching.find(content, json_data.text(old)), json_data.text(new)
    before = content[found.start : found.end]
    if before == new:
        raise BadInput("nothing changes: the new text is the same as the old one")
    made = _checked(content[: found.start] + new + content[found.end :])
    return Edit(made, "update" if found.exact else "update_fuzzy", ((before, new),))


def check_id(artifact_id: str) -> str:
    """The id in the form in which it is kept."""
    normal = unicodedata.normalize("NFC", artifact_id[: 4 * ID_LIMIT])
    if len(artifact_id) > 4 * ID_LIMIT or not _ID.fullmatch(normal):
        raise BadInput(
            f"an artifact's id has 1 to {ID_LIMIT} letters, digits, '_', '-' and '.',"
            " and begins with a letter, a digit or '_'"
        )
    return normal


def check_title(title: str) -> str:
    """The title as it is kept: without characters that are invisible or reorder the text."""
    given = json_data.text(title[: 4 * TITLE_LIMIT]).strip()
    text = shown.visible(given).strip()
    if len(title) > 4 * TITLE_LIMIT or not 0 < len(text) <= TITLE_LIMIT:
        raise BadInput(f"an artifact's title has 1 to {TITLE_LIMIT} characters")
    if len(given.splitlines()) > 1 or any(unicodedata.category(character) == "Cc" for character in given):
        raise BadInput("an artifact's title is one line")
    return text


def check_content_type(content_type: str) -> ContentType:
    found = next((known for known in CONTENT_TYPES if known == content_type), None)
    if found is None:
        raise BadInput(f"unknown content type: use one of {', '.join(CONTENT_TYPES)}")
    return found


def _checked(content: str) -> str:
    """The content with lone surrogates, which cannot be stored, replaced."""
    text = json_data.text(content)
    if len(text.encode()) > CONTENT_LIMIT:
        raise BadInput(f"content is longer than {CONTENT_LIMIT} bytes")
    return text
