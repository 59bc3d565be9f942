"""The files of a conversation's workspace, from the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from caesura.cli.files import publish
from caesura.cli.screen import clean
from caesura.cli.session import Refused, opened
from caesura.client import Client, File

#: Standard input or standard output, in place of a file.
_STREAM = "-"


def show(url: str, user: str | None, conversation: str, path: str) -> None:
    with opened(url, user) as session:
        found = session.run(session.client.files.listing(conversation, path))
    for file in found:
        print(line(file))
    if not found:
        print("there are no files here", file=sys.stderr)


def get(url: str, user: str | None, conversation: str, path: str, to: str | None) -> None:
    """Save a file: under its own name in the current folder, unless `to` says where."""
    target = to or path.rstrip("/").rpartition("/")[2]
    if target != _STREAM and not to and os.path.lexists(target):
        raise Refused(f"{target} exists: name another file with --to")
    with opened(url, user) as session, _target(target, replaces=bool(to)) as file:
        session.run(_copy(session.client, conversation, path, file))


@contextmanager
def _target(name: str, replaces: bool) -> Iterator[BinaryIO]:
    """Where a file is saved. It has its name when all of it has come."""
    if name == _STREAM:
        yield sys.stdout.buffer
        return
    part = Path(f"{name}.part-{os.getpid()}")
    try:
        with part.open("xb") as file:
            yield file
        if replaces:
            part.replace(name)
        else:
            publish(part, Path(name))
    finally:
        part.unlink(missing_ok=True)


def put(url: str, user: str | None, conversation: str, source: str, path: str | None) -> None:
    target = _place(source, path or "")
    with opened(url, user) as session:
        files = session.client.files
        if source == _STREAM:
            made = session.run(files.put(conversation, target, sys.stdin.buffer.read()))
        else:
            with Path(source).open("rb") as content:
                made = session.run(files.put(conversation, target, content))
    print(line(made, made.path))


def _place(source: str, path: str) -> str:
    """Where a file goes: below its own name, if only a folder is named for it, or nothing."""
    if path and not path.endswith("/"):
        return path
    if source == _STREAM:
        raise Refused("standard input has no name: give a PATH that ends in one")
    return f"{path}{Path(source).name}"


def remove(url: str, user: str | None, conversation: str, path: str) -> None:
    with opened(url, user) as session:
        session.run(session.client.files.remove(conversation, path))
    print(clean(f"{path} was removed"))


def line(file: File, path: str | None = None) -> str:
    """The bytes, when it was changed, and the name, or the path. A folder ends in a slash."""
    try:
        at = datetime.fromtimestamp(file.modified_at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # an agent can give a file any time
        at = f"{'-':>16}"
    size = "-" if file.size is None else str(file.size)
    mark = {"file": "", "folder": "/", "link": "  (a link)", "other": "  (not a file)"}[file.kind]
    return clean(f"{size:>12}  {at}  {path or file.name}{mark}")


async def _copy(client: Client, conversation: str, path: str, to: BinaryIO) -> None:
    async with aclosing(client.files.pieces(conversation, path)) as pieces:
        async for piece in pieces:
            to.write(piece)
