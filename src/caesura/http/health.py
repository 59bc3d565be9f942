"""Whether this server lives, and whether it should be sent work."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse

from caesura.core.errors import Unavailable
from caesura.http.context import context_of
from caesura.http.errors import COMMON, documented
from caesura.http.late import PlainRoute

#: Seconds within which the database must take a write.
_PATIENCE = 2.0

router = APIRouter(tags=["health"], route_class=PlainRoute)


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=Health)
async def health(request: Request) -> JSONResponse:
    """It lives."""
    return JSONResponse({"status": "ok"})


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=Health, responses=documented(COMMON, 503))
async def ready(request: Request) -> JSONResponse:
    """The database takes writes, work is taken up, and the server is not about to stop."""
    service = (await context_of(request)).service
    if service.draining:
        raise Unavailable("the server is shutting down")
    if not service.working:
        raise Unavailable("this process takes up no work")
    if not await service.answering(_PATIENCE):
        raise Unavailable("the database takes no writes")
    return JSONResponse({"status": "ok"})
