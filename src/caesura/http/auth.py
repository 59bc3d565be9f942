"""Authentication: registration, login, and the only place where a request is assigned to a person."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query, Request, Security
from fastapi.security import OAuth2PasswordBearer
from fastapi.security.utils import get_authorization_scheme_param
from pydantic import BaseModel, Field

from caesura.core.errors import CaesuraError, Revoked, Unauthenticated
from caesura.http import cookies, credentials
from caesura.http.context import Here
from caesura.http.credentials import Credentials, Newcomer
from caesura.http.errors import COMMON, documented
from caesura.http.headers import USER
from caesura.http.late import LateRoute
from caesura.http.limits import Address
from caesura.http.sse import HOLDER
from caesura.http.tickets import Tickets
from caesura.http.tokens import Access, Tokens
from caesura.http.vouchers import Voucher, Vouchers
from caesura.service.people import LOCAL

if TYPE_CHECKING:
    from caesura.http.sse import EventStreams
    from caesura.service.service import Service

logger = logging.getLogger(__name__)

#: Seconds for which an ended session is remembered after it would have expired: clocks differ.
_LATE = 3600
_REVOKED = "the token is not valid any more"

router = APIRouter(prefix="/api/auth", tags=["people"], route_class=LateRoute)
_bearer = OAuth2PasswordBearer(tokenUrl="/api/auth/login", auto_error=False)


class Registered(BaseModel):
    message: str
    user_id: str


class Token(BaseModel):
    access_token: str
    token_type: str = "bearer"  # noqa: S105 - the scheme's name
    expires_in: int = Field(description="Seconds")


class Gate:
    """Finds the owner of a token, a session or a ticket. All of them become invalid as soon as their owner's
    password is changed, or their owner logs out everywhere."""

    def __init__(
        self, service: Service, tokens: Tokens | None, vouchers: Vouchers | None = None, root: str = ""
    ) -> None:
        """Without `tokens` no token is needed: everyone that the guard lets in is the same local person.
        `vouchers` are tokens of another service, which are accepted too. A ticket may name its stream with or
        without the `root` path."""
        self._people, self._stamps, self._tokens = service.people, service.stamps, tokens
        self._vouchers = vouchers
        self._tickets = Tickets(tokens, service.tickets, root) if tokens is not None else None

    async def login(self, username: str, password: str) -> Token:
        user = await self._people.authenticate(username, password)
        if self._tokens is None:
            raise Unauthenticated
        token = self._tokens.issue(user.id, user.stamp)
        return Token(access_token=token, expires_in=self._tokens.seconds)

    async def begin(self, username: str, password: str) -> tuple[str, Access]:
        """Begin a session for a browser. Returns what its cookie holds, and the access that it gives."""
        user = await self._people.authenticate(username, password)
        if self._tokens is None:
            raise Unauthenticated
        session = self._tokens.issue_session(user.id, user.stamp)
        return session, self._tokens.read_session(session)

    async def exchange(self, token: str) -> tuple[str, Access]:
        """As `begin`, with a token. The session does not outlive the token."""
        if self._tokens is None:
            raise Unauthenticated
        access = await self._by_token(token, self._tokens)
        left = max(access.until - int(time.time()), 1)
        session = self._tokens.issue_session(access.user_id, access.stamp, left)
        return session, self._tokens.read_session(session)

    async def end(self, access: Access) -> None:
        """End this session, and no other."""
        if access.session:
            await self._stamps.end(access.user_id, access.session, (access.until + _LATE) * 1000)

    async def end_all(self, access: Access) -> None:
        """End every token, ticket and session of this person. Those of another service name only the second
        in which they were issued. So this returns in the next one: then a token that comes later is newer."""
        if self._tokens is None:
            return
        await self._stamps.end_all(access.user_id)
        user = await self._people.get(access.user_id)
        if user is not None and user.issuer is not None:
            await asyncio.sleep(1 - user.signed_out_at % 1000 / 1000)

    async def enter(self, request: Request, token: str | None) -> Access:
        """The access of a request with this token or, if it has none, with the cookie of a session."""
        if self._tokens is None:
            return Access(LOCAL, "")
        if token is not None:
            return await self._by_token(token, self._tokens)
        return await self._checked(self._by_cookie(request, self._tokens))

    async def _by_token(self, token: str, tokens: Tokens) -> Access:
        try:
            access = tokens.read(token)
        except Unauthenticated:
            if self._vouchers is None:
                raise
            return await self._by_voucher(await self._vouchers.read(token))
        return await self._checked(access)

    async def _by_voucher(self, voucher: Voucher) -> Access:
        user = await self._people.vouched(voucher.issuer, voucher.subject)
        if user.disabled or voucher.issued_at <= user.signed_out_at:
            raise Revoked(_REVOKED)
        return Access(user.id, user.stamp, voucher.viewer, until=voucher.until)

    async def _checked(self, access: Access) -> Access:
        if await self._stamps.get(access.user_id, access.session) != access.stamp:
            # It was valid once, and has not expired: the person has signed out, or has another password.
            raise Revoked(_REVOKED)
        return access

    async def admit(self, access: Access) -> None:
        """Raise `Revoked` if this access has ended since it was granted."""
        if self._tokens is not None:
            await self._checked(access)

    async def resume(self, request: Request) -> Access:
        """The access of the session that the request's cookie names. No token is accepted."""
        return await self.enter(request, None)

    def csrf(self, access: Access) -> str:
        return self._tokens.csrf(access) if self._tokens is not None else LOCAL

    @property
    def needed(self) -> bool:
        """Whether people have to log in."""
        return self._tokens is not None

    @property
    def seconds(self) -> int:
        """How long a token and a session are valid."""
        return self._tokens.seconds if self._tokens is not None else 0

    @staticmethod
    def _by_cookie(request: Request, tokens: Tokens) -> Access:
        if (session := cookies.session_of(request)) is None:
            raise Unauthenticated
        access = tokens.read_session(session)
        cookies.check(request, tokens.csrf(access))
        return access

    async def enter_by_ticket(self, request: Request, ticket: str) -> Access:
        if self._tickets is None:
            return Access(LOCAL, "")
        return await self._tickets.redeem(ticket, request.url.path, request.url.query)

    def ticket(self, access: Access, stream: str) -> str:
        return self._tickets.issue(access, stream) if self._tickets is not None else LOCAL

    async def watch(self, streams: EventStreams) -> None:
        """Cut open streams whose token or ticket is no longer valid. Checked as often as streams ping."""
        while self._tokens is not None:
            await asyncio.sleep(streams.ping)
            try:
                await self._cut_ended(streams)
            except CaesuraError as error:
                logger.warning("open streams could not be checked for ended tokens: %s", error)

    async def _cut_ended(self, streams: EventStreams) -> None:
        held = streams.held()
        stamps = await self._stamps.of({access.user_id for _, access in held})
        ended = await self._stamps.ended({access.session for _, access in held if access.session})
        for stream, access in held:
            if stamps.get(access.user_id) != access.stamp or access.session in ended:
                stream.abort()


# None of these depends on another: each level of dependency would add the same cost to every request.

Bearer = Annotated[str | None, Security(_bearer)]


def bearer(request: Request) -> str | None:
    """The token of a request to a route that needs none."""
    scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
    return token if scheme.lower() == "bearer" else None


async def entered(request: Request, here: Here, token: Bearer = None) -> Access:
    access = _entered(request, await here.gate.enter(request, token))
    await here.limits.requests(access.user_id)
    return access


#: The access that the request was granted.
Entered = Annotated[Access, Depends(entered)]


async def current_user(request: Request, here: Here, token: Bearer = None) -> str:
    return (await entered(request, here, token)).user_id


async def stream_user(
    request: Request,
    here: Here,
    token: Bearer = None,
    ticket: Annotated[str | None, Query(description="From `POST /api/v2/stream-ticket`")] = None,
) -> AsyncIterator[str]:
    if token is None and ticket is not None:
        access = await here.gate.enter_by_ticket(request, ticket)
    else:
        access = await here.gate.enter(request, token)
    user_id = _entered(request, access).user_id
    await here.limits.requests(user_id)
    with here.streams.room(user_id):
        yield user_id


def _entered(request: Request, access: Access) -> Access:
    """Note the person for the log, and the access for a stream that must end with its token."""
    request.scope[HOLDER], request.scope[USER] = access, access.user_id
    return access


def access_of(request: Request) -> Access:
    """The access of a request whose person is known."""
    access: Access = request.scope[HOLDER]
    return access


def viewer_of(request: Request) -> str:
    """The viewer behind a request whose person is known."""
    return access_of(request).viewer


async def running_user(request: Request, here: Here, token: Bearer = None) -> str:
    user_id = await current_user(request, here, token)
    await here.limits.runs(user_id)
    return user_id


async def running_stream_user(request: Request, here: Here, token: Bearer = None) -> AsyncIterator[str]:
    user_id = await running_user(request, here, token)
    with here.streams.room(user_id):
        yield user_id


#: The person that sends the request.
User = Annotated[str, Depends(current_user)]
#: As `User`, for a GET that streams: a ticket is accepted too.
StreamUser = Annotated[str, Depends(stream_user)]
#: As `User`, for requests that start or resume work, which have a rate of their own.
RunningUser = Annotated[str, Depends(running_user)]
#: As `RunningUser`, for requests that also stream the work.
RunningStreamUser = Annotated[str, Depends(running_stream_user)]


@router.post(
    "/register",
    status_code=201,
    response_model=Registered,
    responses=documented(COMMON, 400, 403, 413, 429, 503),
    openapi_extra=credentials.documented(Newcomer),
)
async def register(here: Here, request: Request, address: Address) -> Registered:
    """Whether this is open to everybody, needs an `invite`, or is closed is a setting of the server."""
    cookies.check_origin(request, here.origins)
    await here.limits.registrations(address)
    newcomer = await credentials.read(request, Newcomer)
    people = here.service.people
    user_id = await people.register(newcomer.username, newcomer.password, newcomer.invite)
    return Registered(message="User registered successfully", user_id=user_id)


@router.post(
    "/login",
    response_model=Token,
    responses=documented(COMMON, 400, 401, 413, 429, 503),
    openapi_extra=credentials.documented(Credentials, form=True),
)
async def login(here: Here, request: Request, address: Address) -> Token:
    await here.limits.login_from(address)
    given = await credentials.read(request, Credentials, form=True)
    await here.limits.login_as(given.username, address)
    token = await here.gate.login(given.username, given.password)
    await here.limits.logged_in(given.username, address)
    return token
