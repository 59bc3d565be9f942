"""People: who there is, and whether they are who they say. A hash takes a while: it is made off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from caesura.core import ids
from caesura.core.errors import BadInput, TooManyRequests, Unauthenticated
from caesura.store import users
from caesura.store.database import Database
from caesura.store.users import User

_SHORTEST, _LONGEST = 8, 1024
#: So many hashes may be wanted at once; who would wait longer is told to come again.
_LONGEST_QUEUE = 20

P = ParamSpec("P")
T = TypeVar("T")

WRONG = "Incorrect username or password"


class People:
    def __init__(self, database: Database, hasher: PasswordHasher | None = None) -> None:
        self._database = database
        self._hasher = hasher or PasswordHasher()
        # As many hashes at once as leave the machine alive: each takes 64 MiB.
        self._gate = asyncio.Semaphore(2)
        self._queue = 0
        self._nobody: str | None = None

    async def register(self, username: str, password: str) -> str:
        """The new person's id, which is the name."""
        check_username(username)
        check_password(password)
        await self._database.write(users.create, username, await self._hash(password))
        return username

    async def authenticate(self, username: str, password: str) -> str:
        """The person's id, or `Unauthenticated`: a wrong name costs as much time as a wrong password."""
        user = await self._database.read(users.get, username) if ids.is_username(username) else None
        known = user.password_hash if user else await self._nobodys_hash()
        if len(password) > _LONGEST or not await self._verify(known, password) or user is None:
            raise Unauthenticated(WRONG)
        return user.id

    async def get(self, user_id: str) -> User | None:
        return await self._database.read(users.get, user_id)

    async def listing(self) -> list[User]:
        return await self._database.read(users.listing)

    async def set_password(self, username: str, password: str) -> None:
        check_password(password)
        await self._database.write(users.set_password, username, await self._hash(password))

    async def ensure(self, user_id: str) -> None:
        """Make sure that a person without a password exists: for the one-person mode."""
        if await self.get(user_id) is None:
            await self._database.write(users.create, user_id, "!")

    async def _hash(self, password: str) -> str:
        return await self._work(self._hasher.hash, password)

    async def _verify(self, known: str, password: str) -> bool:
        return await self._work(self._matches, known, password)

    async def _work(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._queue >= _LONGEST_QUEUE:
            raise TooManyRequests(message="too many people log in at once")
        self._queue += 1
        try:
            async with self._gate:
                return await asyncio.to_thread(work, *args, **kwargs)
        finally:
            self._queue -= 1

    def _matches(self, known: str, password: str) -> bool:
        try:
            return self._hasher.verify(known, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _nobodys_hash(self) -> str:
        if self._nobody is None:
            self._nobody = await self._hash(ids.token())
        return self._nobody


def check_username(username: str) -> None:
    if not ids.is_username(username):
        raise BadInput(
            "username must begin with a-z or 0-9 and have at most 50 characters of a-z, 0-9, '.', '_' and '-'"
        )


def check_password(password: str) -> None:
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise BadInput(f"password must have {_SHORTEST} to {_LONGEST} characters")
    if "\0" in password:
        raise BadInput("password must not contain NUL")
