"""People, changed directly in the database, even while a server uses it."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from caesura.agents.aside import Aside
from caesura.cli import database, streams
from caesura.cli.credentials import PASSWORD
from caesura.cli.files import is_there
from caesura.cli.screen import clean
from caesura.core import issuers
from caesura.core.errors import BadInput, NotFound, StartupError
from caesura.http.tokens import Tokens
from caesura.service.people import People, check_password, check_username
from caesura.service.removal import Belongings, Removal
from caesura.settings import PREFIX, Settings, secret_of
from caesura.store import conversations as rows
from caesura.store.database import Database
from caesura.store.open import open_database
from caesura.store.users import Role

T = TypeVar("T")


def add(name: str, **flags: str | None) -> None:
    settings = _settings(flags)
    check_username(name)
    password = new_password(name)
    _with_people(settings, lambda people: people.add(name, password))
    print(f"{name} was added")


def password(name: str, **flags: str | None) -> None:
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
        print(f"{name} can come in as before, and has the conversations from before")
    else:
        print(f"{name} was not disabled")


def role(name: str, role: Role, **flags: str | None) -> None:
    _with_people(_existing(flags), lambda people: people.set_role(name, role))
    what = "may list people and their usage" if role == "admin" else "is a member like others"
    print(f"{name} {what}")


def link(name: str, subject: str, **flags: str | None) -> None:
    settings = Settings.load(**flags)
    database.require(settings)
    if settings.issuer is None:
        wanted = issuers.needed(f"{PREFIX}JWT_")
        raise StartupError(f"{wanted} are not set: this command needs them as the server has them")
    issuer = settings.issuer.name
    _with_people(settings, lambda people: people.link(name, issuer, subject))
    print(clean(f"tokens of {issuer} for {subject} are {name}'s now"))


def unlink(name: str, **flags: str | None) -> None:
    if _with_people(_existing(flags), lambda people: people.unlink(name)):
        print(f"no tokens of another service are {name}'s now")
    else:
        print(f"no tokens of another service were {name}'s: nothing was changed")


def remove(name: str, conversations: str | None, yes: bool, **flags: str | None) -> None:
    settings = _existing(flags)
    found = _with_database(settings, lambda opened: Removal(opened).belongings(name))
    heir = _heir(name, conversations, found)
    if heir is not None:
        _with_database(settings, lambda opened: Removal(opened).check(name, heir))
    print(_announced(name, heir, found), file=sys.stderr)
    if not yes:
        _confirm(name)

    async def work(opened: Database) -> None:
        await Removal(opened).remove(name, heir)
        await _sweep(settings, opened)

    _with_database(settings, work)
    print(f"{name} was removed")


def _heir(name: str, conversations: str | None, found: Belongings) -> str | None:
    """Who gets the conversations; None if they are deleted."""
    what, _, heir = (conversations or "").partition("=")
    if what == "give" and heir:
        return heir
    if conversations == "delete" or (conversations is None and not found.conversations):
        return None
    if conversations is not None:
        raise BadInput(f"--conversations must be delete or give=NAME, not {conversations}")
    choice = "--conversations delete, or --conversations give=NAME"
    kept = f"`caesura user disable {name}` keeps them"
    raise BadInput(f"{name} has {_many(found.conversations, 'conversation')}: say {choice} ({kept})")


def _announced(name: str, heir: str | None, found: Belongings) -> str:
    """What will be done, if the operator means it and nothing is in the way."""
    told = f"{name} has {_many(found.conversations, 'conversation')}"
    if found.conversations:
        they = "it" if found.conversations == 1 else "they"
        fate = f"given to {heir}" if heir is not None else "deleted for good, with documents and files"
        told += f": {they} will be {fate}"
    turns = _many(found.live_turns, "turn")
    return clean(f"{told}. {turns} under way will be stopped." if found.live_turns else f"{told}.")


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _confirm(name: str) -> None:
    if not streams.human():
        raise BadInput("nothing was changed, because nobody can be asked here: say --yes")
    if streams.line(f"remove {name}? [y/N] ").strip().lower() not in ("y", "yes"):
        raise BadInput("nothing was changed")


async def _sweep(settings: Settings, opened: Database) -> None:
    """Remove the files of conversations that are gone, on this machine."""
    from caesura.engine.workspaces import Workspaces
    from caesura.resources import origin_of  # slow to import

    files = Workspaces(settings.data_dir.absolute() / "workspaces", origin_of(settings))
    try:
        await files.sweep(lambda names: opened.read(rows.known, names))
    finally:
        files.close()


def listing(**flags: str | None) -> None:
    """The columns that only some people have come last."""
    for user in _with_people(_existing(flags), People.listing):
        some = (user.role if user.role != "member" else "", user.subject, "disabled" if user.disabled else "")
        more = "".join(f"  {item}" for item in some if item)
        print(clean(f"{user.id:<50}  {user.conversation_count:>6}  {_time(user.created_at)}{more}"))


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


def _settings(flags: Mapping[str, str | None]) -> Settings:
    """Without those of a service that vouches for people, which only `link` needs: an operator's shell may
    have some of them and not all."""
    return Settings.load_without("jwt_", **flags)


def _existing(flags: Mapping[str, str | None]) -> Settings:
    """Settings of an existing database. Only adding the first person may create one."""
    settings = _settings(flags)
    database.require(settings)
    return settings


def _require_secret(settings: Settings) -> None:
    """A secret may be created in the data folder of its own database. Elsewhere it would be useless."""
    path = settings.data_dir / "secret"
    if settings.secret is None and settings.database_url and not is_there(path):
        raise StartupError(f"there is no secret {path}: name the server's --data-dir, or set CAESURA_SECRET")


def _with_people(settings: Settings, work: Callable[[People], Awaitable[T]]) -> T:
    return _with_database(settings, lambda opened: work(People(opened)))


def _with_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    async def run() -> T:
        opened = await open_database(settings.database, beside=True)
        try:
            return await work(opened)
        finally:
            await opened.close()

    return asyncio.run(run())
