"""What an owner can do with the artifacts of a conversation: list, read, compare, create and edit them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from caesura.core import artifacts as core
from caesura.core import diffs
from caesura.core.artifacts import Artifact, Edit, Entry, Version
from caesura.core.errors import BadInput, NotFound, Outdated, StorageFull
from caesura.service.conversations import Refused
from caesura.service.locks import PersonLocks
from caesura.service.long_reads import LongReads
from caesura.store import artifacts as rows
from caesura.store import conversations, shares
from caesura.store.artifacts import Base, Draft
from caesura.store.database import Database
from caesura.store.shares import UNBOUNDED, Share

T = TypeVar("T")
#: Makes the next content from the current one: `core.artifacts.rewrite` or `update`. Runs in a thread.
Change = Callable[[str], Edit]
#: How often an edit is made again because somebody else was faster.
_TRIES = 8


class Made(NamedTuple):
    """An artifact after a person has created or edited it, and how."""

    artifact: Artifact
    edit: Edit


class Comparison(NamedTuple):
    """What changed from one version to another; version 0 is an empty text."""

    from_: int
    to: int
    unified: str
    hunks: tuple[diffs.Hunk, ...]


class Artifacts:
    def __init__(
        self,
        database: Database,
        locks: PersonLocks,
        share: Share = UNBOUNDED,
        refused: Refused = lambda error: None,
    ) -> None:
        self._database, self._locks, self._refused = database, locks, refused
        # One at once: threads that compute delay the event loop, each one more.
        self._long = LongReads("caesura-documents", at_once=1)
        self._comparing = LongReads("caesura-diffs", at_once=1)
        #: A person who edits starts no run and asks no question.
        self._share = replace(share, runs=None, questions=None)

    async def listing(
        self, user_id: str, conversation_id: str, write: Callable[[list[Artifact]], bytes]
    ) -> bytes:
        """All artifacts without their contents, oldest first. `write` serializes them in a thread."""
        return await self._long_list(write, rows.of, user_id, conversation_id)

    async def get(self, user_id: str, conversation_id: str, artifact_id: str) -> tuple[Artifact, Version]:
        """The artifact and its current version."""
        return await self._read(rows.current, user_id, conversation_id, artifact_id)

    async def versions(
        self, user_id: str, conversation_id: str, artifact_id: str, write: Callable[[list[Entry]], bytes]
    ) -> bytes:
        """All versions without their contents, oldest first. `write` serializes them in a thread."""
        return await self._long_list(write, rows.versions, user_id, conversation_id, artifact_id)

    async def version(self, user_id: str, conversation_id: str, artifact_id: str, number: int) -> Version:
        return await self._read(rows.version, user_id, conversation_id, artifact_id, number)

    async def diff(
        self,
        user_id: str,
        conversation_id: str,
        artifact_id: str,
        from_: int | None,
        to: int | None,
        write: Callable[[Comparison], bytes],
    ) -> bytes:
        """What changed from one version to another. `to` is the current version unless given, `from_` the one
        before `to`. Version 0 is an empty text. `write` serializes it in a thread: one is in memory at a
        time."""
        async with self._comparing.of(user_id):
            old, new = await self._read(_pair, user_id, conversation_id, artifact_id, from_, to)
            return await self._comparing.run(lambda: write(_compare(artifact_id, old, new)))

    async def create(
        self,
        user_id: str,
        conversation_id: str,
        artifact_id: str,
        title: str,
        content_type: str,
        content: str,
    ) -> Made:
        """Create an artifact that a person uploads."""
        new = core.check_id(artifact_id)
        titled, kind = core.check_title(title), core.check_content_type(content_type)

        def write(connection: Connection, user: str) -> Artifact:
            self._admit(connection, user, conversation_id)
            return rows.create(connection, conversation_id, new, title=titled, content_type=kind, first=first)

        async with self._long.of(user_id):
            edit, first = await self._long.run(_drafted, lambda text: core.create(content), None)
            return Made(await self._write(user_id, write), edit)

    async def edit(
        self, user_id: str, conversation_id: str, artifact_id: str, change: Change, base: int | None = None
    ) -> Made:
        """Add a version that a person makes. `Outdated` if the current version is not `base`, where that is
        given. Otherwise the edit is made again from what somebody else wrote meanwhile."""
        async with self._long.of(user_id):
            for _ in range(_TRIES):
                held = await self._read(rows.base, user_id, conversation_id, artifact_id)
                if base is not None and held.version != base:
                    break
                edit, made = await self._long.run(_drafted, change, held)
                try:
                    return Made(await self._add(user_id, conversation_id, artifact_id, made), edit)
                except Outdated:
                    continue
        raise Outdated(f"artifact {artifact_id} has changed: its version is not {base or held.version} now")

    async def written(self, user_id: str, write: Callable[[T], bytes], value: T) -> bytes:
        """Serialize a large answer in a thread."""
        async with self._long.of(user_id):
            return await self._long.run(write, value)

    async def _long_list(self, write: Callable[[T], bytes], work: Callable[..., T], *args: str) -> bytes:
        """A list of thousands: one for each person at a time."""
        user_id, conversation_id, *rest = args
        async with self._long.of(user_id):
            found = await self._read(work, user_id, conversation_id, *rest)
            return await self._long.run(write, found)

    async def _read(self, work: Callable[..., T], user_id: str, conversation_id: str, *args: object) -> T:
        return await self._database.read(_gated, work, user_id, conversation_id, *args)

    async def _add(self, user_id: str, conversation_id: str, artifact_id: str, made: Draft) -> Artifact:
        def write(connection: Connection, user: str) -> Artifact:
            self._admit(connection, user, conversation_id)
            return rows.add(connection, conversation_id, _stored_id(artifact_id), made)

        return await self._write(user_id, write)

    async def _write(self, user_id: str, write: Callable[[Connection, str], Artifact]) -> Artifact:
        try:
            async with self._locks.of(user_id):
                return await self._database.write(write, user_id)
        except StorageFull as error:
            self._refused(error)
            raise

    def _admit(self, connection: Connection, user_id: str, conversation_id: str) -> None:
        shares.hold(connection, user_id)
        conversations.get(connection, conversation_id, user_id)
        shares.check(connection, user_id, self._share)


def _drafted(change: Change, base: Base | None) -> tuple[Edit, Draft]:
    edit = change(base.content if base is not None else "")
    return edit, rows.draft(edit, base)


def _gated(
    connection: Connection, work: Callable[..., T], user_id: str, conversation_id: str, *args: object
) -> T:
    conversations.get(connection, conversation_id, user_id)
    if not args:
        return work(connection, conversation_id)
    artifact_id, *rest = args
    return work(connection, conversation_id, _stored_id(str(artifact_id)), *rest)


def _stored_id(artifact_id: str) -> str:
    """An id that nobody can have given is not looked for."""
    try:
        return core.check_id(artifact_id)
    except BadInput as error:
        raise NotFound("artifact not found") from error


def _pair(
    connection: Connection, conversation_id: str, artifact_id: str, from_: int | None, to: int | None
) -> tuple[tuple[int, str], tuple[int, str]]:
    current = rows.get(connection, conversation_id, artifact_id).version

    def text(number: int) -> tuple[int, str]:
        if number == 0:
            return 0, ""
        return number, rows.version(connection, conversation_id, artifact_id, number).content

    last = current if to is None else to
    return text(max(last - 1, 0) if from_ is None else from_), text(last)


def _compare(artifact_id: str, old: tuple[int, str], new: tuple[int, str]) -> Comparison:
    names = [f"{artifact_id} {number}" for number, _ in (old, new)]
    made = diffs.diff(old[1], new[1], *names)
    return Comparison(old[0], new[0], made.unified, made.hunks)
