"""Sessions: how the web page signs in. The browser keeps the session in a cookie that no script can read."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from caesura.http import cookies, credentials
from caesura.http.auth import Entered, bearer
from caesura.http.context import Here
from caesura.http.credentials import Credentials
from caesura.http.errors import COMMON, documented
from caesura.http.headers import USER
from caesura.http.late import LateRoute
from caesura.http.limits import Address
from caesura.http.tokens import Access
from caesura.service.people import Registration

router = APIRouter(prefix="/api/auth", tags=["people"], route_class=LateRoute)


class Options(BaseModel):
    auth: Literal["password", "none"] = Field(description="`none`: nobody has to sign in")
    registration: Registration


class Begun(BaseModel):
    user_id: str
    csrf: str = Field(description="For the header `X-CSRF-Token` of requests that change something")


class Session(Begun):
    expires_at: int | None = Field(description="Milliseconds since 1970; null where nobody has to sign in")


async def resumed(request: Request, here: Here) -> Access:
    access = await here.gate.resume(request)
    request.scope[USER] = access.user_id
    await here.limits.requests(access.user_id)
    return access


#: The access of a request by cookie. A token is not accepted.
Resumed = Annotated[Access, Depends(resumed)]
_COOKIE = {"security": [{"SessionCookie": list[str]()}]}


@router.get("/options", responses=documented(COMMON, 503))
async def options(here: Here) -> Options:
    """What a page has to know before anybody signs in."""
    return Options(
        auth="password" if here.gate.needed else "none", registration=here.service.people.registration
    )


@router.post(
    "/session",
    response_model=Begun,
    responses=documented(COMMON, 400, 401, 403, 413, 429, 503),
    openapi_extra=credentials.documented(Credentials),
)
async def begin(here: Here, request: Request, response: Response, address: Address) -> Begun:
    """Sign in on a web page. The session is kept in the cookie `caesura_session`, over https
    `__Host-caesura_session`. With `Authorization: Bearer` the token takes the place of the body, and the
    session ends when the token does."""
    cookies.check_origin(request)
    await here.limits.login_from(address)
    if (token := bearer(request)) is not None:
        session, access = await here.gate.exchange(token)
        await here.limits.requests(access.user_id)
    else:
        given = await credentials.read(request, Credentials)
        await here.limits.login_as(given.username, address)
        session, access = await here.gate.begin(given.username, given.password)
        await here.limits.logged_in(given.username, address)
    cookies.keep(response, request, session, access.until - int(time.time()))
    return Begun(user_id=access.user_id, csrf=here.gate.csrf(access))


@router.get("/session", responses=documented(COMMON, 401, 429, 503), openapi_extra=_COOKIE)
async def session(here: Here, access: Resumed) -> Session:
    """The session of the cookie. Where nobody has to sign in, that of the only person."""
    until = access.until * 1000 or None
    return Session(user_id=access.user_id, csrf=here.gate.csrf(access), expires_at=until)


@router.delete(
    "/session", status_code=204, responses=documented(COMMON, 401, 403, 429, 503), openapi_extra=_COOKIE
)
async def end(here: Here, request: Request, response: Response, access: Resumed) -> None:
    """Sign out here. Other sessions of the person go on."""
    await here.gate.end(access)
    cookies.drop(response, request)


@router.delete("/sessions", status_code=204, responses=documented(COMMON, 401, 403, 429, 503))
async def end_all(here: Here, request: Request, response: Response, access: Entered) -> None:
    """Sign out everywhere: every token and every session of the person becomes invalid at once."""
    await here.gate.end_all(access)
    cookies.drop(response, request)
