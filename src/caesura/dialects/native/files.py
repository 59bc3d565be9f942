"""The routes of the native API for the files of a conversation's workspace."""

from __future__ import annotations

import base64
import binascii
import os
import re
from functools import partial
from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field

from caesura.core import shown
from caesura.core.errors import BadInput, LengthRequired
from caesura.core.files import Item, Kind
from caesura.dialects.native.faults import FORM
from caesura.http.auth import User, access_of
from caesura.http.context import Here
from caesura.http.download import Download
from caesura.http.errors import documented
from caesura.http.late import LateRoute
from caesura.http.protocol import UPLOADS

_FOUND = documented(FORM, 400, 404, 409, 422)
_SENT = documented(FORM, 400, 404, 409, 411, 413, 422)


def _readable(request: Request) -> None:
    """Refuse a path that is not UTF-8: the server would take it for that of another file."""
    try:
        unquote_to_bytes(request.scope["raw_path"]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("the path is not UTF-8") from error


router = APIRouter(
    prefix="/api/v2/conversations/{conversation_id}/files",
    tags=["files"],
    dependencies=[Depends(_readable)],
    responses=documented(FORM, 401, 403, 429, 500, 503),
    route_class=LateRoute,
)
#: The paths at which a PUT has a body that is kept as a file, and has a limit of its own.
UPLOAD = re.compile(r"/api/v2/conversations/[^/]+/files/.*", re.DOTALL)

ConversationId = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]+$", max_length=150)]
FilePath = Annotated[str, Path(max_length=2000, description="Relative to the workspace: `src/main.py`")]
Folder = Annotated[str, Query(max_length=2000, description="The workspace itself if left out")]
Limit = Annotated[int | None, Query(ge=1, le=2**31)]
PageCursor = Annotated[str | None, Query(max_length=1000)]
_BYTES = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    "description": "The content, as an attachment",
}
_BODY = {"required": True, "content": {"application/octet-stream": {"schema": {"format": "binary"}}}}


class WorkspaceFile(BaseModel):
    name: str = Field(description="For people: what cannot be seen or is not text is escaped")
    path: str | None = Field(description="For requests; null if no path can name this entry")
    kind: Kind
    size: int | None = Field(description="The bytes of a file")
    modified_at: int = Field(description="Milliseconds since 1970")

    @classmethod
    def of(cls, item: Item) -> WorkspaceFile:
        return cls(
            name=shown.text(item.name),
            path=item.path,
            kind=item.kind,
            size=item.size,
            modified_at=item.modified_at,
        )


class WorkspaceFiles(BaseModel):
    files: list[WorkspaceFile]
    next: str | None = Field(description="`cursor` for the next page; null on the last one")


@router.get("", responses=_FOUND)
async def listing(
    here: Here,
    user_id: User,
    conversation_id: ConversationId,
    path: Folder = "",
    limit: Limit = None,
    cursor: PageCursor = None,
) -> WorkspaceFiles:
    """The files and folders in a folder of the conversation's workspace, by name. Without `limit` a page has
    the largest allowed size."""
    size = here.pages.size(limit or here.pages.largest)
    after = _position(cursor) if cursor is not None else ""
    found, more = await here.service.files.page(user_id, conversation_id, path, after, size)
    return WorkspaceFiles(
        files=[WorkspaceFile.of(item) for item in found], next=_cursor(found[-1].name) if more else None
    )


@router.get("/{path:path}", response_class=Response, responses=_FOUND | {200: _BYTES})
async def download(here: Here, user_id: User, conversation_id: ConversationId, path: FilePath) -> Response:
    """The content of a file. Links are not followed."""
    return Download(here.service.files.download(user_id, conversation_id, path))


@router.put("/{path:path}", responses=_SENT, openapi_extra={"requestBody": _BODY})
async def upload(
    here: Here, request: Request, user_id: User, conversation_id: ConversationId, path: FilePath
) -> WorkspaceFile:
    """Write a file, with its folders. What has this path before is replaced at once, when the whole body has
    come."""
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        raise LengthRequired
    request.scope.setdefault("extensions", {})[UPLOADS] = True
    admit = partial(here.gate.admit, access_of(request))
    pieces = request.stream()
    written = await here.service.files.upload(user_id, conversation_id, path, int(length), pieces, admit)
    return WorkspaceFile.of(written)


@router.delete("/{path:path}", status_code=204, responses=_FOUND)
async def remove(here: Here, user_id: User, conversation_id: ConversationId, path: FilePath) -> None:
    """Remove a file, or a folder with everything in it."""
    await here.service.files.remove(user_id, conversation_id, path)


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(os.fsencode(name)).decode().rstrip("=")


def _position(cursor: str) -> str:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return os.fsdecode(base64.b64decode(padded.encode("ascii"), b"-_", validate=True))
    except (ValueError, binascii.Error) as error:
        raise BadInput("cursor is not one that this API gave") from error
