"""The routes of the native API for artifacts: what a person reads, uploads, edits, compares and downloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from caesura.core import artifacts as core
from caesura.core import json_data
from caesura.core.artifacts import Artifact, Entry, Version
from caesura.core.diffs import Hunk
from caesura.dialects.native import artifact_replies as replies
from caesura.dialects.native import requests
from caesura.dialects.native.faults import FORM
from caesura.http.auth import User
from caesura.http.context import Here
from caesura.http.download import disposition
from caesura.http.errors import documented
from caesura.http.late import LateRoute
from caesura.service.artifacts import Comparison

_FOUND = documented(FORM, 404, 422)
_SENT = documented(FORM, 400, 404, 409, 413, 422)

router = APIRouter(
    prefix="/api/v2/conversations/{conversation_id}/artifacts",
    tags=["artifacts"],
    responses=documented(FORM, 401, 403, 429, 500, 503),
    route_class=LateRoute,
)

ConversationId = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]+$", max_length=150)]
ArtifactId = Annotated[str, Path(min_length=1, max_length=400)]
Number = Annotated[int, Path(ge=1, le=core.MOST_VERSIONS)]
Chosen = Annotated[
    int | None, Query(ge=1, le=core.MOST_VERSIONS, description="The current version if left out")
]
From = Annotated[
    int | None,
    Query(
        alias="from",
        ge=0,
        le=core.MOST_VERSIONS,
        description="The version before `to` if left out; 0 is an empty text",
    ),
]
_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The content, as a file"}
_SUFFIXES = {"markdown": ".md", "html": ".html", "json": ".json", "csv": ".csv", "mermaid": ".mmd"}
#: How many lines of a diff are serialized at once: one long call would stop all other threads.
_LINES = 1000


@router.get("", response_model=replies.Artifacts, responses=_FOUND)
async def listing(here: Here, user_id: User, conversation_id: ConversationId) -> Response:
    """The artifacts of the conversation, oldest first, without their contents."""
    return _json(await here.service.artifacts.listing(user_id, conversation_id, _listing))


@router.post("", status_code=201, responses=_SENT)
async def create(
    here: Here, user_id: User, conversation_id: ConversationId, new: requests.NewArtifact
) -> replies.Edited:
    """Upload an artifact. Its first version is the person's."""
    made = await here.service.artifacts.create(
        user_id, conversation_id, new.id, new.title, new.content_type, new.content
    )
    return replies.Edited.of_made(made)


@router.get("/{artifact_id}", response_model=replies.Current, responses=_FOUND)
async def current(
    here: Here, user_id: User, conversation_id: ConversationId, artifact_id: ArtifactId
) -> Response:
    """The artifact with its current version."""
    artifacts = here.service.artifacts
    found = await artifacts.get(user_id, conversation_id, artifact_id)
    return _json(await artifacts.written(user_id, _current, found))


@router.get("/{artifact_id}/versions", response_model=replies.Versions, responses=_FOUND)
async def versions(
    here: Here, user_id: User, conversation_id: ConversationId, artifact_id: ArtifactId
) -> Response:
    """All versions without their contents, oldest first."""
    return _json(await here.service.artifacts.versions(user_id, conversation_id, artifact_id, _versions))


@router.post("/{artifact_id}/versions", status_code=201, responses=_SENT)
async def edit(
    here: Here,
    user_id: User,
    conversation_id: ConversationId,
    artifact_id: ArtifactId,
    new: requests.NewVersion,
) -> replies.Edited:
    """Edit an artifact: add a version with this content, or with `old` replaced by `new`. With `base` the
    edit is refused if another version is the current one."""
    made = await here.service.artifacts.edit(user_id, conversation_id, artifact_id, new.change(), new.base)
    return replies.Edited.of_made(made)


@router.get("/{artifact_id}/versions/{number}", response_model=replies.Version, responses=_FOUND)
async def version(
    here: Here, user_id: User, conversation_id: ConversationId, artifact_id: ArtifactId, number: Number
) -> Response:
    """One version with its content."""
    artifacts = here.service.artifacts
    found = await artifacts.version(user_id, conversation_id, artifact_id, number)
    return _json(await artifacts.written(user_id, _version, found))


@router.get("/{artifact_id}/diff", response_model=replies.Diff, responses=_FOUND | documented(FORM, 413))
async def diff(
    here: Here,
    user_id: User,
    conversation_id: ConversationId,
    artifact_id: ArtifactId,
    from_: From = None,
    to: Chosen = None,
) -> Response:
    """What changed between two versions, as unified text and as hunks."""
    return _json(await here.service.artifacts.diff(user_id, conversation_id, artifact_id, from_, to, _diff))


@router.get("/{artifact_id}/content", response_class=Response, responses=_FOUND | {200: _TEXT})
async def content(
    here: Here,
    user_id: User,
    conversation_id: ConversationId,
    artifact_id: ArtifactId,
    version: Chosen = None,
) -> Response:
    """The content as a file to download. It is plain text to every browser, whatever its type is."""
    artifacts = here.service.artifacts
    found, shown = await artifacts.get(user_id, conversation_id, artifact_id)
    if version is not None and version != shown.version:
        shown = await artifacts.version(user_id, conversation_id, artifact_id, version)
    headers = {
        "Content-Disposition": _disposition(found),
        "Content-Security-Policy": "sandbox",
        "X-Artifact-Version": str(shown.version),
    }
    body = await artifacts.written(user_id, str.encode, shown.content)
    return Response(body, media_type="text/plain; charset=utf-8", headers=headers)


def _disposition(artifact: Artifact) -> str:
    suffix = "" if "." in artifact.id else _SUFFIXES.get(artifact.content_type, ".txt")
    return disposition(artifact.id + suffix)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _listing(found: list[Artifact]) -> bytes:
    return json_data.dumps({"artifacts": [replies.listed(item) for item in found]})


def _versions(found: list[Entry]) -> bytes:
    return json_data.dumps({"versions": [item._asdict() for item in found]})


def _current(found: tuple[Artifact, Version]) -> bytes:
    return replies.Current.of_version(*found).model_dump_json().encode()


def _version(found: Version) -> bytes:
    return replies.Version.of_version(found).model_dump_json().encode()


def _diff(found: Comparison) -> bytes:
    hunks = b",".join(_hunk(hunk) for hunk in found.hunks)
    unified = json_data.dumps(found.unified)
    return b'{"from":%d,"to":%d,"unified":%b,"hunks":[%b]}' % (found.from_, found.to, unified, hunks)


def _hunk(hunk: Hunk) -> bytes:
    lines = b",".join(_lines(hunk))
    head = (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
    return b'{"old_start":%d,"old_lines":%d,"new_start":%d,"new_lines":%d,"lines":[%b]}' % (*head, lines)


def _lines(hunk: Hunk) -> Iterator[bytes]:
    for start in range(0, len(hunk.lines), _LINES):
        yield json_data.dumps(hunk.lines[start : start + _LINES])[1:-1]
