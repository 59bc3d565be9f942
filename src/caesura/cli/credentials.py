"""Credentials: who somebody is to which server, kept in a file that nobody else may read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

#: Variables that speak for a person.
TOKEN, PASSWORD = "CAESURA_TOKEN", "CAESURA_PASSWORD"


class Credentials:
    """`tokens.json` in the user's configuration folder: the tokens by server and name, and who was last."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or _folder() / "tokens.json"

    def find(self, url: str, user: str | None) -> str | None:
        """A token of this person, or of whoever was the last one there."""
        known = self._read().get(url, {})
        tokens = known.get("tokens", {})
        found = tokens.get(user or known.get("last"))
        return found if isinstance(found, str) else None

    def keep(self, url: str, user: str, token: str) -> None:
        everything = self._read()
        known = everything.setdefault(url, {})
        known["last"] = user
        known.setdefault("tokens", {})[user] = token
        self._write(everything)

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _write(self, data: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w") as file:
            json.dump(data, file, indent=1)
        fresh.replace(self._path)


def _folder() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configured) if configured else Path.home() / ".config") / "caesura"
