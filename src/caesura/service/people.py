"""People: accounts and passwords. Hashing a password takes a while, so it is done off the event loop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from sqlalchemy import Connection

from caesura.agents.aside import Aside
from caesura.core import ids, issuers
from caesura.core.errors import (
    BadInput,
    BadInvite,
    BadPassword,
    BadUsername,
    Forbidden,
    RegistrationClosed,
    TooManyRequests,
    Unauthenticated,
    UsernameTaken,
)
from caesura.store import invites, usage, users
from caesura.store.database import Database
from caesura.store.invites import Invite
from caesura.store.usage import Person
from caesura.store.users import Role, User

if TYPE_CHECKING:
    from argon2 import PasswordHasher

#: The only person of a server without authentication. Nobody can register this name.
LOCAL = "local"
_SHORTEST, _LONGEST = 8, 1024
#: At most this many requests wait for a hash; further requests are refused, to be retried later.
_LONGEST_QUEUE = 20

P = ParamSpec("P")
T = TypeVar("T")

WRONG = "Incorrect username or password"

#: Who may register: everybody, people with an invite, nobody.
Registration = Literal["open", "invite", "closed"]


class People:
    def __init__(
        self,
        database: Database,
        hasher: PasswordHasher | None = None,
        registration: Registration = "open",
    ) -> None:
        self._database, self.registration = database, registration
        self._given = hasher
        # Only two hashes at once, because each takes 64 MiB. They have their own threads, because an
        # operator's models and tools may block all others.
        self._hashing = Aside("caesura-hash", 2)
        self._queue = 0
        self._nobody: str | None = None

    async def register(self, username: str, password: str, invite: str | None = None) -> str:
        """Register a person, if the server allows it. Returns the new person's id, which is the name."""
        if self.registration == "closed":
            raise RegistrationClosed
        if self.registration == "open":
            return await self.add(username, password)
        if not invite:
            raise BadInvite
        return await self._add_invited(username, password, invite)

    async def add(self, username: str, password: str) -> str:
        """Add a person on behalf of the operator, whether or not people may register. Returns the new
        person's id."""
        _check(username, password)
        await self._database.write(users.create, username, await self._hash(password))
        return username

    async def invite(self, days: int) -> str:
        """A code with which one person may register within these days."""
        code = ids.invite()
        await self._database.write(invites.create, code, days)
        return code

    async def invites(self) -> list[Invite]:
        return await self._database.read(invites.listing)

    async def revoke(self, invite: str) -> None:
        await self._database.write(invites.revoke, invite)

    async def authenticate(self, username: str, password: str) -> User:
        """The person, or `Unauthenticated`: the name of nobody, or of somebody who is disabled or has no
        password, costs as much time as a wrong password."""
        user = await self._database.read(users.get, username) if ids.is_username(username) else None
        if user is not None and (user.disabled or not user.has_password):
            user = None
        known = user.password_hash if user else await self._nobodys_hash()
        if len(password) > _LONGEST or not await self._verify(known, password) or user is None:
            raise Unauthenticated(WRONG)
        return user

    async def get(self, user_id: str) -> User | None:
        return await self._database.read(users.get, user_id)

    async def listing(self) -> list[User]:
        return await self._database.read(users.listing)

    async def set_password(self, username: str, password: str) -> None:
        check_password(password)
        await self._database.write(users.set_password, username, await self._hash(password))

    async def disable(self, username: str) -> bool:
        """Let nobody in as this person. False if that is so already."""
        if username == LOCAL:
            raise BadUsername(f"{LOCAL!r} is the person of a server without log-in, and cannot be disabled")
        return await self._database.write(users.disable, username)

    async def enable(self, username: str) -> bool:
        """Let the person in again. False if they were not disabled."""
        return await self._database.write(users.enable, username)

    async def vouched(self, issuer: str, subject: str) -> User:
        """The person for whom another service vouches, who is created if this is their first time. Nobody who
        is here already becomes this person, whatever they are called."""
        found = await self._database.read(users.vouched, issuer, subject)
        if found is None:
            found = await self._database.write(_create_vouched, issuer, subject)
        return found

    async def link(self, username: str, issuer: str, subject: str) -> None:
        """Let tokens of another service for this subject be this person."""
        if username == LOCAL:
            raise BadUsername(f"{LOCAL!r} is the person of a server without log-in")
        if issuers.subject(subject) is None:
            raise BadInput(f"an id has 1 to {issuers.LONGEST_SUBJECT} printable characters")
        await self._database.write(users.link, username, issuer, subject)

    async def unlink(self, username: str) -> bool:
        """Let no tokens of another service be this person. False if there were none."""
        return await self._database.write(users.unlink, username)

    async def page(self, asker: str, limit: int, after: str = "") -> list[Person]:
        """People by name, after this one, and what they have used. For an admin alone."""
        return await self._database.read(_page, asker, limit, after)

    async def set_role(self, username: str, role: Role) -> None:
        await self._database.write(users.set_role, username, role)

    async def ensure(self, user_id: str) -> None:
        """Make sure that this person exists, without a password: for a server without authentication."""
        if await self.get(user_id) is None:
            with suppress(UsernameTaken):  # another node was faster
                await self._database.write(users.create, user_id, users.no_password())

    async def _add_invited(self, username: str, password: str, invite: str) -> str:
        _check(username, password)
        # The invite is checked before hashing, so that a wrong code does not cost a hash.
        await self._database.read(invites.check, invite)
        await self._database.write(_create_invited, username, await self._hash(password), invite)
        return username

    async def _hash(self, password: str) -> str:
        return await self._work(lambda: self._hasher.hash(password))

    async def _verify(self, known: str, password: str) -> bool:
        return await self._work(self._matches, known, password)

    async def _work(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._queue >= _LONGEST_QUEUE:
            raise TooManyRequests(message="too many people log in at once")
        self._queue += 1
        try:
            return await self._hashing.run(work, *args, **kwargs)
        finally:
            self._queue -= 1

    @cached_property
    def _hasher(self) -> PasswordHasher:
        """Used in threads alone, so its import delays no other request."""
        from argon2 import PasswordHasher

        return self._given or PasswordHasher()

    def _matches(self, known: str, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            return self._hasher.verify(known, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _nobodys_hash(self) -> str:
        if self._nobody is None:
            self._nobody = await self._hash(ids.token())
        return self._nobody


def _create_invited(connection: Connection, username: str, password_hash: str, invite: str) -> None:
    invites.use(connection, invite)
    users.create(connection, username, password_hash)


def _page(connection: Connection, asker: str, limit: int, after: str) -> list[Person]:
    user = users.get(connection, asker)
    if user is None or user.role != "admin":
        raise Forbidden("only an admin may list people")
    return usage.page(connection, limit, after)


def _create_vouched(connection: Connection, issuer: str, subject: str) -> User:
    for name in issuers.usernames(issuer, subject, LOCAL):
        # Another request may have been faster.
        if found := users.vouched(connection, issuer, subject):
            return found
        users.create_vouched(connection, name, issuer, subject)
    found = users.vouched(connection, issuer, subject)
    if found is None:
        raise UsernameTaken
    return found


def _check(username: str, password: str) -> None:
    check_username(username)
    check_password(password)


def check_username(username: str) -> None:
    if not ids.is_username(username):
        raise BadUsername(
            "username must begin with a-z or 0-9 and have at most 50 characters of a-z, 0-9, '.', '_' and '-'"
        )
    if username == LOCAL:
        raise BadUsername(f"username must not be {LOCAL!r}: it is the person of a server without log-in")


def check_password(password: str) -> None:
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise BadPassword(f"password must have {_SHORTEST} to {_LONGEST} characters")
    if "\0" in password:
        raise BadPassword("password must not contain NUL")
