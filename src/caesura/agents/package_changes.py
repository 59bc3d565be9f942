"""Files of loaded packages that change on disk: the process does not use them until it is started again."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from caesura.agents import packages
from caesura.agents.packages import Source

logger = logging.getLogger(__name__)


class PackageChanges:
    """Warns once of each change."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[str, Source]]] = {}

    def look(self, names: Iterable[str]) -> None:
        for name in sorted(set(names)):
            found = packages.changed(name)
            known, self._told[name] = self._told.get(name, []), found
            if new := [file for file, source in found if (file, source) not in known]:
                logger.warning("%s", _text(new))


def _text(files: list[str]) -> str:
    if len(files) == 1:
        return f"{files[0]} has changed: restart the server to use it"
    others = "another file" if len(files) == 2 else f"{len(files) - 1} other files"
    return f"{files[0]} and {others} have changed: restart the server to use them"
