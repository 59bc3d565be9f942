"""Who is asking: registration, login, and the one place where a request gets its person."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel, Field, ValidationError

from caesura.core.errors import Unauthenticated
from caesura.http.context import Here
from caesura.http.errors import COMMON, documented, parse_json
from caesura.http.headers import USER
from caesura.http.limits import Address
from caesura.http.tickets import Tickets
from caesura.http.tokens import Tokens, stamp
from caesura.service import tickets
from caesura.service.people import People

LOCAL = "local"
_TRUSTED = 1.0
_KNOWN = 10_000

router = APIRouter(prefix="/api/auth", tags=["people"])
_bearer = OAuth2PasswordBearer(tokenUrl="/api/auth/login", auto_error=False)


class Credentials(BaseModel):
    username: str = Field(max_length=1000)
    password: str = Field(max_length=5000)


class Registered(BaseModel):
    message: str
    user_id: str


class Token(BaseModel):
    access_token: str
    token_type: str = "bearer"  # noqa: S105 - the scheme's name
    expires_in: int = Field(description="Seconds")


class Gate:
    """Tells who a token or a ticket belongs to. Their row is looked at again after a second at most."""

    def __init__(self, people: People, spent: tickets.Tickets, tokens: Tokens | None) -> None:
        """Without `tokens` nobody needs one: everyone that the guard lets in is the same local person."""
        self._people, self._tokens = people, tokens
        self._tickets = Tickets(tokens, spent) if tokens is not None else None
        self._stamps: dict[str, tuple[float, str]] = {}

    async def login(self, username: str, password: str) -> Token:
        user_id = await self._people.authenticate(username, password)
        user = await self._people.get(user_id)
        if user is None or self._tokens is None:
            raise Unauthenticated
        token = self._tokens.issue(user_id, user.password_hash)
        return Token(access_token=token, expires_in=self._tokens.seconds)

    async def enter(self, request: Request, token: str | None) -> str:
        if self._tokens is None:
            return LOCAL
        if token is None:
            raise Unauthenticated
        access = self._tokens.read(token)
        if await self._stamp(access.user_id, access.stamp) != access.stamp:
            raise Unauthenticated("the token is not valid")
        return access.user_id

    async def enter_by_ticket(self, request: Request, ticket: str) -> str:
        if self._tickets is None:
            return LOCAL
        return await self._tickets.redeem(ticket, request.url.path)

    def ticket(self, user_id: str, stream: str) -> str:
        return self._tickets.issue(user_id, stream) if self._tickets is not None else LOCAL

    async def _stamp(self, user_id: str, shown: str) -> str | None:
        """The person's stamp. One that differs from what is shown may be too old: a password was changed."""
        now = time.monotonic()
        known = self._stamps.get(user_id)
        if known is not None and known[1] == shown and now - known[0] < _TRUSTED:
            return known[1]
        user = await self._people.get(user_id)
        if user is None:
            self._stamps.pop(user_id, None)
            return None
        if len(self._stamps) >= _KNOWN:
            self._stamps.clear()
        self._stamps[user_id] = (now, stamp(user.password_hash))
        return self._stamps[user_id][1]


async def current_user(
    request: Request, here: Here, token: Annotated[str | None, Security(_bearer)] = None
) -> str:
    user_id = await here.gate.enter(request, token)
    request.scope[USER] = user_id
    await here.limits.requests(user_id)
    return user_id


async def stream_user(
    request: Request,
    here: Here,
    token: Annotated[str | None, Security(_bearer)] = None,
    ticket: Annotated[str | None, Query(description="From `POST /api/v2/stream-ticket`")] = None,
) -> AsyncIterator[str]:
    if token is None and ticket is not None:
        user_id = await here.gate.enter_by_ticket(request, ticket)
    else:
        user_id = await here.gate.enter(request, token)
    request.scope[USER] = user_id
    await here.limits.requests(user_id)
    with here.streams.room(user_id):
        yield user_id


async def running_user(here: Here, user_id: Annotated[str, Depends(current_user)]) -> str:
    await here.limits.runs(user_id)
    return user_id


async def running_stream_user(
    here: Here, user_id: Annotated[str, Depends(running_user)]
) -> AsyncIterator[str]:
    with here.streams.room(user_id):
        yield user_id


#: The person who asks.
User = Annotated[str, Depends(current_user)]
#: The same for a GET that streams: a ticket will do.
StreamUser = Annotated[str, Depends(stream_user)]
#: The same for what starts or resumes work, which is counted apart.
RunningUser = Annotated[str, Depends(running_user)]
#: The same for what starts or resumes work and streams how it goes.
RunningStreamUser = Annotated[str, Depends(running_stream_user)]


@router.post(
    "/register", status_code=201, response_model=Registered, responses=documented(COMMON, 400, 413, 429, 503)
)
async def register(here: Here, credentials: Credentials, address: Address) -> Registered:
    await here.limits.registrations(address)
    user_id = await here.service.people.register(credentials.username, credentials.password)
    return Registered(message="User registered successfully", user_id=user_id)


@router.post(
    "/login",
    response_model=Token,
    responses=documented(COMMON, 400, 401, 413, 429, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                kind: {"schema": Credentials.model_json_schema()}
                for kind in ("application/json", "application/x-www-form-urlencoded")
            },
        }
    },
)
async def login(here: Here, request: Request, address: Address) -> Token:
    credentials = await _credentials(request)
    await here.limits.logins(credentials.username, address)
    return await here.gate.login(credentials.username, credentials.password)


async def _credentials(request: Request) -> Credentials:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    given: Any
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        given = dict(await request.form())
    else:
        given = parse_json(await request.body())
    try:
        return Credentials.model_validate(given)
    except ValidationError as error:
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
        raise RequestValidationError(faults) from error
