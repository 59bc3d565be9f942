"""The JSON that the native API gives about artifacts. Times are milliseconds since 1970, UTC."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from caesura.core import artifacts as core
from caesura.service.artifacts import Made


class Artifact(BaseModel):
    id: str
    title: str
    content_type: str
    version: int = Field(description="The number of the current version")
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, row: core.Artifact) -> Artifact:
        return cls(**listed(row))


def listed(row: core.Artifact) -> dict[str, Any]:
    """The fields of `Artifact`, without a model: for long lists."""
    return {name: getattr(row, name) for name in Artifact.model_fields}


class Artifacts(BaseModel):
    artifacts: list[Artifact]


class Entry(BaseModel):
    version: int
    update_type: str = Field(description="`create`, `update`, `update_fuzzy` or `rewrite`")
    turn_id: str | None = Field(description="The turn that made it; null if a person did")
    created_at: int


class Versions(BaseModel):
    versions: list[Entry]


class Version(Entry):
    changes: list[list[str]] = Field(description="Pairs of the text that was replaced and the new one")
    content: str

    @classmethod
    def of_version(cls, row: core.Version) -> Version:
        return cls(**row._asdict())


class Current(Artifact):
    """An artifact with its current version."""

    update_type: str
    turn_id: str | None
    changes: list[list[str]]
    content: str

    @classmethod
    def of_version(cls, row: core.Artifact, version: core.Version) -> Current:
        shown = {name: getattr(version, name) for name in ("update_type", "turn_id", "changes", "content")}
        return cls(**Artifact.of(row).model_dump(), **shown)


class Edited(Artifact):
    """An artifact after an edit. `changes` has the text that was found and replaced."""

    update_type: core.UpdateType
    changes: list[list[str]]

    @classmethod
    def of_made(cls, made: Made) -> Edited:
        edit = made.edit
        return cls(
            **Artifact.of(made.artifact).model_dump(),
            update_type=edit.update_type,
            changes=[list(pair) for pair in edit.changes],
        )


class Hunk(BaseModel):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[tuple[Literal[" ", "-", "+", "\\"], str]] = Field(
        description="`[op, text]`. The op `\\\\` notes that the line before it has no line break at its end"
    )


class Diff(BaseModel):
    from_: int = Field(alias="from", description="0 is an empty text")
    to: int
    unified: str
    hunks: list[Hunk]
