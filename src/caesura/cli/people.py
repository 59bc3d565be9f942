"""People, changed directly in the database, even while a server uses it."""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from caesura.agents.aside import Aside
from caesura.cli import database, streams
from caesura.cli.credentials import PASSWORD
from caesura.cli.files import is_there
from caesura.core.errors import BadInput, NotFound, StartupError
from caesura.http.tokens import Tokens
from caesura.service.people import People, check_password, check_username
from caesura.settings import Settings, secret_of
from caesura.store.open import open_database

T = TypeVar("T")


def add(name: str, **flags: str | None) -> None:
    settings = Settings.load(**flags)
    check_username(name)
    password = new_password(name)
    _with_people(settings, lambda people: people.add(name, password))
    print(f"{name} was added")


def passwd(name: str, **flags: str | None) -> None:
    settings = _existing(flags)

    async def change(people: People) -> None:
        if await people.get(name) is None:
            raise NotFound(f"user not found: {name}")
        await people.set_password(name, await Aside("caesura-prompt").run(new_password, name))

    _with_people(settings, change)
    print(f"{name} has a new password; earlier tokens are worth nothing")


def disable(name: str, **flags: str | None) -> None:
    """What they have stays: to disable somebody must be possible in a hurry, and be undone."""
    if _with_people(_existing(flags), lambda people: people.disable(name)):
        print(f"{name} is disabled: earlier tokens are worth nothing; their conversations are kept")
    else:
        print(f"{name} was disabled already")


def enable(name: str, **flags: str | None) -> None:
    if _with_people(_existing(flags), lambda people: people.enable(name)):
        print(f"{name} can log in again, with the password and the conversations from before")
    else:
        print(f"{name} was not disabled")


def listing(**flags: str | None) -> None:
    for user in _with_people(_existing(flags), People.listing):
        disabled = "  disabled" if user.disabled else ""
        print(f"{user.id:<50}  {user.conversation_count:>6}  {_time(user.created_at)}{disabled}")


def invite(days: int, **flags: str | None) -> None:
    """Print only the code, so that a program can read it."""
    print(_with_people(_existing(flags), lambda people: people.invite(days)))


def invites(**flags: str | None) -> None:
    for found in _with_people(_existing(flags), People.invites):
        print(f"{found.id}  {_time(found.created_at)}  {_time(found.expires_at)}")


def revoke(invite: str, **flags: str | None) -> None:
    _with_people(_existing(flags), lambda people: people.revoke(invite))
    print("the invite was revoked")


def token(name: str, **flags: str | None) -> None:
    settings = _existing(flags)
    _require_secret(settings)
    user = _with_people(settings, lambda people: people.get(name))
    if user is None:
        raise NotFound(f"user not found: {name}")
    if user.disabled:
        raise BadInput(f"{name} is disabled: `caesura user enable {name}` lets them in again")
    print(Tokens(secret_of(settings), settings.token_hours).issue(user.id, user.stamp))


def new_password(name: str) -> str:
    """From the environment, from standard input, or asked for twice. Never an argument: others could see
    that."""
    if (given := os.environ.get(PASSWORD)) is not None:
        password = streams.legible(given, PASSWORD)
    elif streams.human():
        password = _prompted(name)
    else:
        password = _first_line()
    check_password(password)
    return password


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%MZ")


def _prompted(name: str) -> str:
    password = getpass.getpass(f"password for {name}: ")
    check_password(password)
    if getpass.getpass("once more: ") != password:
        raise BadInput("the two passwords differ")
    return password


def _first_line() -> str:
    try:
        return streams.line()
    except EOFError:
        return ""


def _existing(flags: Mapping[str, str | None]) -> Settings:
    """Settings of an existing database. Only adding the first person may create one."""
    settings = Settings.load(**flags)
    database.require(settings)
    return settings


def _require_secret(settings: Settings) -> None:
    """A secret may be created in the data folder of its own database. Elsewhere it would be useless."""
    path = settings.data_dir / "secret"
    if settings.secret is None and settings.database_url and not is_there(path):
        raise StartupError(f"there is no secret {path}: name the server's --data-dir, or set CAESURA_SECRET")


def _with_people(settings: Settings, work: Callable[[People], Awaitable[T]]) -> T:
    async def run() -> T:
        opened = await open_database(settings.database, beside=True)
        try:
            return await work(People(opened))
        finally:
            await opened.close()

    return asyncio.run(run())
