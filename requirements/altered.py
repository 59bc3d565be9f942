"""Prints the packages of a lock that are not installed as it says, for example because pip has put another
version in the place of one."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

LINE = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)\s*(;?)", re.MULTILINE)


def altered(lock: str) -> Iterator[str]:
    for name, version, condition in LINE.findall(lock):
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = version if condition else ""  # it may belong to another system
        if found != version:
            yield name


if __name__ == "__main__":
    print(*altered(Path(sys.argv[1]).read_text(encoding="utf-8")))
