"""Whether this server lives, and whether it should be sent work."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from caesura.core.errors import Unavailable
from caesura.http.context import Here
from caesura.http.errors import COMMON, documented

#: Seconds within which the database must take a write.
_PATIENCE = 2.0

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@router.head("/health", include_in_schema=False)
@router.get("/health")
async def health() -> Health:
    """It lives."""
    return Health()


@router.head("/ready", include_in_schema=False)
@router.get("/ready", responses=documented(COMMON, 503))
async def ready(here: Here) -> Health:
    """The database takes writes, work is taken up, and the server is not about to stop."""
    if here.service.draining:
        raise Unavailable("the server is shutting down")
    if not here.service.working:
        raise Unavailable("this process takes up no work")
    if not await here.service.answering(_PATIENCE):
        raise Unavailable("the database takes no writes")
    return Health()
