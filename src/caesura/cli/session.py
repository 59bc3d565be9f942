"""A session with a server: the client, its person, and one event loop for all requests."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from collections.abc import Coroutine, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

from caesura.cli import streams, typeahead
from caesura.cli.credentials import PASSWORD, TOKEN, Credentials
from caesura.client import Client, ClientError
from caesura.client.patience import Waiting
from caesura.core import ids, shown, urls
from caesura.core.errors import CaesuraError, UsernameTaken

T = TypeVar("T")
_PATIENCE = 600.0
#: How often a person may type a wrong password.
_TRIES = 3
_TAKEN = UsernameTaken().message
_NAMES = "a name has at most 50 characters of a-z, 0-9, '.', '_' and '-', and begins with a letter or a digit"


class Refused(CaesuraError):
    """The server refused"""

    code = "refused"


class Session:
    """Calls are synchronous: between them the terminal belongs to the person."""

    def __init__(self, runner: asyncio.Runner, client: Client, user: str) -> None:
        self._runner, self.client, self.user = runner, client, user

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def last_conversation(self) -> str | None:
        async with aclosing(self.client.conversations()) as found:
            async for conversation in found:
                return conversation.id
        return None


@contextmanager
def opened(url: str, user: str | None, waiting: Waiting | None = None) -> Iterator[Session]:
    """A session of this person, after a log-in if needed. The server must be reachable at first. After that
    it may go down and come back."""
    with asyncio.Runner() as runner, errors_in_one_line(url):
        client = Client(url, patience=0, waiting=waiting)
        try:
            name = _enter(runner, client, url, user)
            client.patience = _PATIENCE
            yield Session(runner, client, name)
        finally:
            runner.run(client.close())


@contextmanager
def errors_in_one_line(url: str) -> Iterator[None]:
    """Turn an error of the server or the connection into one line."""
    try:
        yield
    except ClientError as error:
        away = error.code == "unreachable"
        remedy = f" (is `caesura serve` running at {urls.shown(url)}?)" if away else ""
        raise Refused(f"{error.message}{remedy}") from error


def _enter(runner: asyncio.Runner, client: Client, url: str, user: str | None) -> str:
    kept = Credentials()
    given = os.environ.get(TOKEN, "").strip()
    try:
        client.token = given or kept.find(url, user)
        return runner.run(client.me())
    except ClientError as error:
        if error.status != 401:
            raise
        if given:
            raise Refused(f"{TOKEN}: {error.message}") from error
    name = _name(user)
    password = streams.legible(os.environ.get(PASSWORD, ""), PASSWORD) or _password(name)
    client.token = None
    token = _log_in(runner, client, name, password, is_new=kept.find(url, name) is None)
    _keep(kept, url, name, token)
    return name


def _name(given: str | None) -> str:
    """A name that a person can have: otherwise they would be asked for a password in vain."""
    name = given or _line("name (a new one is registered): ")
    while not ids.is_username(name):
        if given or not streams.human():
            raise Refused(f"{name!r} cannot be a name: {_NAMES}")
        print(f"{_NAMES}.")
        name = _line("name (a new one is registered): ")
    return name


def _keep(kept: Credentials, url: str, name: str, token: str) -> None:
    """If the token cannot be stored, the person is logged in anyway, and asked again the next time."""
    try:
        kept.keep(url, name, token)
    except OSError as error:
        reason = shown.line(f"{error.filename or kept.path}: {error.strerror or error}")
        print(f"caesura: the token could not be kept: {reason}", file=sys.stderr)


def _log_in(runner: asyncio.Runner, client: Client, name: str, password: str, is_new: bool) -> str:
    """The token. Somebody who has never logged in here may be new, and can register. Others may have mistyped
    their password."""
    for left in reversed(range(_TRIES)):
        try:
            return runner.run(client.login(name, password))
        except ClientError as error:
            if error.status != 401 or not streams.human():
                raise
            reason = shown.line(error.message)
        if is_new and _wants_to_register(name):
            if _registered(runner, client, name, password):
                return runner.run(client.login(name, password))
            reason = f"{name} is registered already: the password is wrong"
        print(f"{reason}.")
        is_new = False
        if left:
            password = _password(name)
    raise Refused("not logged in")


def _wants_to_register(name: str) -> bool:
    print(f"`{name}` with this password is not known. Register it as a new name?")
    typeahead.drop()
    return _line("[y/N] ").lower() in ("y", "yes")


def _registered(runner: asyncio.Runner, client: Client, name: str, password: str) -> bool:
    """Register a person. False if the name is taken."""
    try:
        _register(runner, client, name, password)
    except ClientError as error:
        if error.message != _TAKEN:
            raise
        return False
    return True


def _register(runner: asyncio.Runner, client: Client, name: str, password: str) -> None:
    try:
        runner.run(client.register(name, password))
    except ClientError as error:
        if error.status != 403 or "invite" not in error.message:
            raise
        print(f"{shown.line(error.message)}.")
        invite = _line("invite (nothing to leave): ")
        if not invite:
            raise Refused("not logged in") from error
        runner.run(client.register(name, password, invite))


def _line(prompt: str) -> str:
    try:
        return streams.line(prompt).strip()
    except (EOFError, streams.Unreadable) as error:
        raise Refused("a log-in is needed: say who you are with --user") from error


def _password(name: str) -> str:
    password = _secret(f"password of {name}: ")
    if not password:
        raise Refused("not logged in")
    return password


def _secret(prompt: str) -> str:
    if not streams.human():
        raise Refused(f"a log-in is needed: set {TOKEN} or {PASSWORD}")
    return getpass.getpass(prompt)
