"""The client's operations on the artifacts of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caesura.client import values
from caesura.client.connection import Connection, path_of
from caesura.core.diffs import Hunk


@dataclass(frozen=True, slots=True)
class Artifact:
    """`version` is the number of the current one."""

    id: str
    title: str
    content_type: str
    version: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class ArtifactEntry:
    """A version in a list. `turn_id` is the turn that made it; None if a person did."""

    version: int
    update_type: str
    turn_id: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class ArtifactVersion:
    """A version with its content. `changes` are pairs of the text that was replaced and the new one."""

    version: int
    update_type: str
    changes: list[list[str]]
    content: str
    turn_id: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class ArtifactEdit:
    """An artifact after an edit, and what was replaced."""

    artifact: Artifact
    update_type: str
    changes: list[list[str]]


@dataclass(frozen=True, slots=True)
class ArtifactDiff:
    """What changed from version `old` to version `new`; version 0 is an empty text."""

    old: int
    new: int
    unified: str
    hunks: tuple[Hunk, ...]


class Artifacts:
    """`client.artifacts`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def listing(self, conversation_id: str) -> list[Artifact]:
        """The artifacts of a conversation, oldest first."""
        found = await self._get(conversation_id)
        return [values.pick(Artifact, item) for item in found["artifacts"]]

    async def create(
        self, conversation_id: str, artifact_id: str, title: str, content_type: str, content: str
    ) -> ArtifactEdit:
        """Upload an artifact."""
        body = {"id": artifact_id, "title": title, "content_type": content_type, "content": content}
        return await self._edited(_path(conversation_id), body)

    async def rewrite(
        self, conversation_id: str, artifact_id: str, content: str, *, base: int | None = None
    ) -> ArtifactEdit:
        """Add a version with this content. With `base`, the server refuses with 409 if another version is the
        current one."""
        path = _path(conversation_id, artifact_id, "versions")
        return await self._edited(path, {"content": content, "base": base})

    async def update(
        self, conversation_id: str, artifact_id: str, old: str, new: str, *, base: int | None = None
    ) -> ArtifactEdit:
        """Add a version with `old` replaced by `new`. `changes` of the result says what was found and
        replaced."""
        path = _path(conversation_id, artifact_id, "versions")
        return await self._edited(path, {"old": old, "new": new, "base": base})

    async def get(self, conversation_id: str, artifact_id: str) -> tuple[Artifact, ArtifactVersion]:
        """An artifact with its current version."""
        found = await self._get(conversation_id, artifact_id)
        current = values.pick(ArtifactVersion, found, created_at=found["updated_at"])
        return values.pick(Artifact, found), current

    async def versions(self, conversation_id: str, artifact_id: str) -> list[ArtifactEntry]:
        """All versions without their contents, oldest first."""
        found = await self._get(conversation_id, artifact_id, "versions")
        return [values.pick(ArtifactEntry, item) for item in found["versions"]]

    async def version(self, conversation_id: str, artifact_id: str, number: int) -> ArtifactVersion:
        found = await self._get(conversation_id, artifact_id, "versions", str(number))
        return values.pick(ArtifactVersion, found)

    async def diff(
        self, conversation_id: str, artifact_id: str, old: int | None = None, new: int | None = None
    ) -> ArtifactDiff:
        """What changed from version `old` to version `new`. Unless given, `new` is the current version and
        `old` the one before it."""
        params = {name: value for name, value in (("from", old), ("to", new)) if value is not None}
        found = await self._get(conversation_id, artifact_id, "diff", params=params)
        return ArtifactDiff(found["from"], found["to"], found["unified"], tuple(map(_hunk, found["hunks"])))

    async def _get(self, conversation_id: str, *parts: str, params: Mapping[str, Any] | None = None) -> Any:
        return await self._connection.request("GET", _path(conversation_id, *parts), params=params)

    async def _edited(self, path: str, body: Mapping[str, Any]) -> ArtifactEdit:
        made = await self._connection.request("POST", path, body, repeatable=False)
        return values.pick(ArtifactEdit, made, artifact=values.pick(Artifact, made))


def _path(conversation_id: str, *parts: str) -> str:
    return path_of("conversations", conversation_id, "artifacts", *parts)


def _hunk(data: Mapping[str, Any]) -> Hunk:
    return values.pick(Hunk, data, lines=tuple((op, text) for op, text in data["lines"]))
