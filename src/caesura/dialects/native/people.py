"""People and their usage in the native API, for admins."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from caesura.dialects.native.faults import FORM
from caesura.http import pagination
from caesura.http.auth import User
from caesura.http.context import Here
from caesura.http.errors import documented
from caesura.http.late import LateRoute

router = APIRouter(
    prefix="/api/v2", responses=documented(FORM, 401, 403, 429, 500, 503), route_class=LateRoute
)


class Person(BaseModel):
    id: str
    role: Literal["member", "admin"]
    disabled: bool
    subject: str | None = Field(description="Their id in the service that vouches for them; null without one")
    created_at: int
    active_at: int | None = Field(description="When one of their conversations changed last")
    conversations: int
    turns: int = Field(description="Messages sent, also in conversations that are deleted")
    input_tokens: int = Field(description="Tokens of all replies, as the providers count them")
    output_tokens: int
    stored_bytes: int


class People(BaseModel):
    people: list[Person]
    next: str | None = Field(description="The cursor of the next page; null after the last one")


@router.get("/people", tags=["people"], responses=documented(FORM, 400, 422))
async def people(
    here: Here,
    user_id: User,
    limit: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    cursor: Annotated[str | None, Query(max_length=1000)] = None,
) -> People:
    """All people by name, and what they have used; 403 for who is not an admin. Nothing that they have said
    is told."""
    after = pagination.position(cursor)[1] if cursor is not None else ""
    size = here.pages.size(limit)
    async with here.service.long_reads.of(user_id):
        found = await here.service.people.page(user_id, size + 1, after)
    shown = [Person(**item._asdict()) for item in found[:size]]
    return People(people=shown, next=pagination.cursor(0, shown[-1].id) if len(found) > size else None)
