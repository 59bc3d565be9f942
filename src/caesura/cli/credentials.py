"""Credentials: a person's tokens for each server, in a file that nobody else may read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

#: Environment variables that authenticate a person.
TOKEN, PASSWORD = "CAESURA_TOKEN", "CAESURA_PASSWORD"


class Credentials:
    """`tokens.json` in the user's configuration folder: tokens by server and name, and the last name used."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or _folder() / "tokens.json"

    def find(self, url: str, user: str | None) -> str | None:
        """The token of this person, or of the last person on this server."""
        known = _members(self._read().get(url))
        found = _members(known.get("tokens")).get(str(user or known.get("last")))
        return found if isinstance(found, str) else None

    def keep(self, url: str, user: str, token: str) -> None:
        """Store a token. Raises `OSError` if that fails."""
        everything = self._read()
        tokens = _members(_members(everything.get(url)).get("tokens"))
        self._write(everything | {url: {"last": user, "tokens": tokens | {user: token}}})

    def _read(self) -> dict[str, Any]:
        try:
            return _members(json.loads(self.path.read_bytes()))
        except (OSError, ValueError, RecursionError):
            return {}

    def _write(self, data: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with open(handle, "w") as file:
                json.dump(data, file, indent=1)
            fresh.replace(self.path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise


def _members(value: object) -> dict[str, Any]:
    """The members of an object. Anything else in the file has none: somebody may have edited it."""
    return value if isinstance(value, dict) else {}


def _folder() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configured) if configured else _home() / ".config") / "caesura"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)  # no home folder: nothing is found below this path, and nothing kept
