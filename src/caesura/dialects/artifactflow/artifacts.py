"""The routes of artifacts: read them, their versions, and what changed between two."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from caesura.core import json_data
from caesura.core.artifacts import Artifact, Entry, Version
from caesura.dialects.artifactflow import names
from caesura.dialects.artifactflow.forms import ALWAYS, FOUND, LARGE
from caesura.dialects.artifactflow.wire import time_of
from caesura.http.auth import User
from caesura.http.context import Context, Here
from caesura.http.late import LateRoute
from caesura.service.artifacts import Comparison

router = APIRouter(prefix="/api/v1/artifacts", responses=ALWAYS, tags=["artifactflow"], route_class=LateRoute)

SessionId = Annotated[str, Path(max_length=200, pattern=r"^[A-Za-z0-9._-]+$")]
ArtifactId = Annotated[str, Path(min_length=1, max_length=400)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
From = Annotated[
    int | None,
    Query(alias="from", ge=0, le=2**31 - 1, description="Else the version before `to`; 0 is empty"),
]
To = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Else the current version")]


class Listed(BaseModel):
    id: str
    content_type: str
    title: str
    current_version: int
    created_at: str
    updated_at: str


class Session(BaseModel):
    session_id: str
    artifacts: list[Listed]


class Current(Listed):
    session_id: str
    content: str


class VersionEntry(BaseModel):
    version: int
    update_type: str
    created_at: str


class Versions(BaseModel):
    versions: list[VersionEntry]


class OneVersion(VersionEntry):
    content: str
    changes: list[list[str]] = Field(description="Pairs of the old text, as found, and the new text")


class Hunk(BaseModel):
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[tuple[str, str]] = Field(
        description="The op (` `, `-`, `+`, or a backslash for the note that the line before has no line "
        "break) and the text"
    )


class Diff(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    from_: int = Field(alias="from")
    to: int
    unified: str
    hunks: list[Hunk]


@router.get("/{session_id}", response_model=Session, responses=FOUND)
async def listing(here: Here, user_id: User, session_id: SessionId) -> Response:
    """The artifacts of a conversation, oldest first."""

    def write(found: list[Artifact]) -> bytes:
        return json_data.dumps({"session_id": session_id, "artifacts": [_listed(item) for item in found]})

    return _response(await here.service.artifacts.listing(user_id, names.session_row(session_id), write))


@router.get("/{session_id}/{artifact_id}", response_model=Current, responses=FOUND)
async def current(here: Here, user_id: User, session_id: SessionId, artifact_id: ArtifactId) -> Response:
    """An artifact with the content of its current version."""
    row_id = names.session_row(session_id)
    artifact, version = await here.service.artifacts.get(user_id, row_id, artifact_id)
    return await _json(
        here, user_id, {**_listed(artifact), "session_id": session_id, "content": version.content}
    )


@router.get("/{session_id}/{artifact_id}/versions", response_model=Versions, responses=FOUND)
async def versions(here: Here, user_id: User, session_id: SessionId, artifact_id: ArtifactId) -> Response:
    """The versions of an artifact, oldest first, without their contents."""
    row_id = names.session_row(session_id)
    return _response(await here.service.artifacts.versions(user_id, row_id, artifact_id, _versions))


@router.get("/{session_id}/{artifact_id}/versions/{number}", response_model=OneVersion, responses=FOUND)
async def version(
    here: Here, user_id: User, session_id: SessionId, artifact_id: ArtifactId, number: Number
) -> Response:
    row_id = names.session_row(session_id)
    found = await here.service.artifacts.version(user_id, row_id, artifact_id, number)
    return await _json(here, user_id, {**_entry(found), "content": found.content, "changes": found.changes})


@router.get("/{session_id}/{artifact_id}/diff", response_model=Diff, responses=FOUND | LARGE)
async def diff(
    here: Here,
    user_id: User,
    session_id: SessionId,
    artifact_id: ArtifactId,
    from_: From = None,
    to: To = None,
) -> Response:
    """What changed from one version to another."""
    row_id = names.session_row(session_id)
    return _response(await here.service.artifacts.diff(user_id, row_id, artifact_id, from_, to, _diff))


def _listed(item: Artifact) -> dict[str, Any]:
    return {
        "id": item.id,
        "content_type": item.content_type,
        "title": item.title,
        "current_version": item.version,
        "created_at": time_of(item.created_at),
        "updated_at": time_of(item.updated_at),
    }


def _entry(item: Entry | Version) -> dict[str, Any]:
    return {
        "version": item.version,
        "update_type": item.update_type,
        "created_at": time_of(item.created_at),
    }


def _versions(found: list[Entry]) -> bytes:
    return json_data.dumps({"versions": [_entry(item) for item in found]})


def _diff(found: Comparison) -> bytes:
    return json_data.dumps(
        {"from": found.from_, "to": found.to, "unified": found.unified, "hunks": found.hunks}
    )


async def _json(here: Context, user_id: str, data: dict[str, Any]) -> Response:
    """A response that may be megabytes: it is serialized in a thread, without a pydantic model."""
    return _response(await here.service.artifacts.written(user_id, json_data.dumps, data))


def _response(body: bytes) -> Response:
    return Response(body, media_type="application/json")
