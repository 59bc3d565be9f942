"""The conversation so far, as the model reads it: the branch above a turn, cached in memory.

`valid` has the rules that providers have for messages.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from sys import getsizeof
from typing import Any, NamedTuple

from sqlalchemy import Connection

from caesura.agents.tools.places import Busy, Places
from caesura.core import notes
from caesura.core.errors import Unavailable
from caesura.core.fold import NOT_DONE
from caesura.core.messages import Message
from caesura.core.turns import Turn
from caesura.engine.branch import Branch, Cut, Told
from caesura.store import turns
from caesura.store.database import Database
from caesura.store.turns import Entry

BYTES = 256 * 1024 * 1024
#: One person may use at most 1/4 of the cache, so that nobody evicts everybody else's entries.
_PART = 4
#: Seconds for which a history is kept after its last use.
_KEPT = 600.0
#: The memory that a message takes in addition to its text, in bytes, approximately.
_MESSAGE = 500
#: How many turns are looked up at once, and the stored bytes of turns that are read at once.
_STEP = 64
_PART_BYTES = 1024 * 1024
#: The stored bytes of a token, approximately.
_TOKEN_BYTES = 4
#: How many branches are read at once, and how many seconds a turn waits to read its own.
_LOADS, _PATIENCE = 4, 120.0
#: What stands for a text that is empty: providers refuse empty texts.
_NO_TEXT, _NO_OUTPUT = "(no text)", "(no output)"


class _Path(NamedTuple):
    """The messages up to and including a turn that ended under this epoch."""

    user_id: str
    epoch: int
    branch: Branch
    size: int
    used_at: float = 0.0


class _Loaded(NamedTuple):
    epoch: int
    branch: Branch


class _Use(NamedTuple):
    """The path that a running turn reads. `whole`: it was not shortened for the person's other turns."""

    user_id: str
    size: int
    whole: bool


class History:
    """Messages up to and including a turn, by that turn's id. The messages of an ended turn change only if
    the turn is retried: then `forget` removes the entry. If another process retried the turn, its epoch
    differs."""

    def __init__(self, database: Database, kept: int = BYTES) -> None:
        """`kept` is the size of the cache in bytes, approximately. A branch may take the whole share of its
        owner, and so may all branches that the owner's running turns read. Of a longer branch only the end is
        read."""
        self._database = database
        self._kept, self._share = kept, max(kept // _PART, 1)
        self.size = 0
        self._paths: OrderedDict[str, _Path] = OrderedDict()
        #: For each person: the ids of their cached turns, in the order of `_paths`; and their total size.
        self._of: dict[str, OrderedDict[str, None]] = {}
        self._sizes: dict[str, int] = {}
        #: What running turns read, by number and epoch, and the total size for each person.
        self._uses: dict[tuple[int, int], _Use] = {}
        self._used: Counter[str] = Counter()
        self._loads = Places(_LOADS, each=1)

    async def before(self, turn: Turn, bound: int | None = None) -> Branch:
        """What was said on this turn's branch before the turn: its end, if only `bound` tokens are of use. It
        counts as used until `release`."""
        if turn.parent_id is None:
            return Branch(bound=bound)
        path = self._paths.get(turn.parent_id)
        if path is not None and not path.branch.reaches(bound):
            path = None
        if path is not None and self._database.shared:
            epoch = await self._database.read(turns.epoch, turn.parent_id)
            path = path if epoch == path.epoch else None
        if path is not None:
            self._use(turn, path, whole=True)
            return path.branch
        try:
            # One at a time of each person, because what is left for the next depends on what this one takes.
            async with self._loads.one(turn.user_id, _PATIENCE):
                return await self._load(turn, turn.parent_id, bound)
        except Busy as error:
            raise Unavailable("too many histories are being read") from error

    async def _load(self, turn: Turn, parent_id: str, bound: int | None) -> Branch:
        most = max(self._share - self._used[turn.user_id], 0)
        found = await self._database.read(_read, turn.conversation_id, parent_id, most, bound)
        size = _size(found.branch.messages)
        self._use(turn, _Path(turn.user_id, found.epoch, found.branch, size), whole=most == self._share)
        return found.branch

    def _use(self, turn: Turn, path: _Path, whole: bool) -> None:
        if whole and turn.parent_id is not None:
            self._keep(turn.parent_id, path)
        self.release(turn)
        self._uses[turn.num, turn.epoch] = _Use(turn.user_id, path.size, whole)
        self._used[turn.user_id] += path.size

    def release(self, turn: Turn) -> None:
        """The turn no longer runs."""
        use = self._uses.pop((turn.num, turn.epoch), None)
        if use is not None:
            self._used[use.user_id] -= use.size
            if not self._used[use.user_id]:
                del self._used[use.user_id]

    def extend(self, turn: Turn, before: Branch, messages: list[Message], cut: Cut | None = None) -> None:
        """The turn has ended: cache the path up to it, in place of the path up to its parent. A path that was
        shortened is not cached: the next turn may have space for more."""
        known = self._paths.get(turn.parent_id) if turn.parent_id is not None else None
        if turn.parent_id is not None:
            self.forget(turn.parent_id)
        use = self._uses.get((turn.num, turn.epoch))
        if use is not None and not use.whole:
            return
        said = said_in(turn.content, messages)
        branch = before.extended(Told.of(turn.id, said), cut)
        above = known.size if known is not None and known.branch is before else _size(before.messages)
        gone = len(before.turns) + 1 - len(branch.turns)
        size = above + _size(said) - sum(_size(item.messages) for item in before.turns[:gone])
        self._keep(turn.id, _Path(turn.user_id, turn.epoch, branch, size))

    def forget_old(self) -> None:
        """Forget what no turn has used for a while."""
        latest = time.monotonic() - _KEPT
        while self._paths and next(iter(self._paths.values())).used_at < latest:
            self.forget(next(iter(self._paths)))

    def forget(self, turn_id: str) -> None:
        path = self._paths.pop(turn_id, None)
        if path is None:
            return
        self.size -= path.size
        self._sizes[path.user_id] -= path.size
        own = self._of[path.user_id]
        del own[turn_id]
        if not own:
            del self._of[path.user_id], self._sizes[path.user_id]

    def _keep(self, turn_id: str, path: _Path) -> None:
        self.forget(turn_id)
        if path.size > self._share:
            return  # too long: the next turn reads the end of the branch again
        self._paths[turn_id] = path._replace(used_at=time.monotonic())
        self.size += path.size
        own = self._of.setdefault(path.user_id, OrderedDict())
        own[turn_id] = None
        self._sizes[path.user_id] = self._sizes.get(path.user_id, 0) + path.size
        while self._sizes[path.user_id] > self._share:
            self.forget(next(iter(own)))
        while self.size > self._kept:
            self.forget(next(iter(self._paths)))


def said_in(content: str, messages: Iterable[Message]) -> list[Message]:
    """What a turn that has ended adds to the history: without reasoning, and without what the provider wanted
    back only as long as the turn lasted."""
    own = (_settled(item) for item in messages if item.parent is None)
    return valid([Message("user", content), *own])


def _size(messages: list[Message]) -> int:
    """The memory that these messages take, approximately."""
    return sum(_MESSAGE + getsizeof(message.content) + _called_in(message) for message in messages)


def _read(connection: Connection, conversation_id: str, leaf: str, most: int, bound: int | None) -> _Loaded:
    """The end of a branch: at most `most` bytes of memory, approximately, and `bound` tokens, but at least
    one turn. What is above it is not looked at."""
    found: list[Told] = []
    epoch, above, size, weight = 0, None, 0, 0
    cut: Cut | None = None
    for numbers in _parts(_upwards(connection, conversation_id, leaf), bound):
        for turn in reversed(turns.some(connection, numbers)):
            told = Told.of(turn.id, said_in(turn.content, turn.messages or ()))
            size += _turn_size(turn)
            weight += told.tokens
            if found and (size > most or (bound is not None and weight > bound)):
                return _Loaded(epoch, Branch(found[::-1], turn.id, bound, cut))
            epoch = epoch if found else turn.epoch
            cut = cut or _cut(turn)
            above = turn.parent_id
            found.append(told)
    return _Loaded(epoch, Branch(found[::-1], above, bound, cut))


def _cut(turn: Turn) -> Cut | None:
    about = notes.read(turn.about)
    return Cut(about.model, about.context_from) if about.model else None


def _upwards(connection: Connection, conversation_id: str, leaf: str) -> Iterator[Entry]:
    """The branch from this turn upwards, as far as somebody asks for it."""
    above: str | None = leaf
    while above is not None:
        found = turns.above(connection, conversation_id, above, _STEP)
        yield from found
        above = found[-1].parent_id if len(found) == _STEP else None


def _parts(entries: Iterable[Entry], bound: int | None) -> Iterator[list[int]]:
    """The turns in parts of limited size: what they take in memory, and their tokens, are known only after
    reading."""
    most = _PART_BYTES if bound is None else min(_PART_BYTES, bound * _TOKEN_BYTES)
    part: list[int] = []
    size = 0
    for entry in entries:
        part.append(entry.num)
        size += entry.size
        if size > most:
            yield part
            part, size = [], 0
    if part:
        yield part


def _turn_size(turn: Turn) -> int:
    said = (_MESSAGE + getsizeof(item.content) + _called_in(item) for item in turn.messages or ())
    return _MESSAGE + getsizeof(turn.content) + sum(said)


def _called_in(item: Message) -> int:
    return getsizeof(str(item.tool_calls)) if item.tool_calls else 0


def _settled(item: Message) -> Message:
    return Message(
        item.role,
        item.content,
        tool_calls=item.tool_calls,
        tool_call_id=item.tool_call_id,
        name=item.name,
        status=item.status,
    )


def valid(messages: Iterable[Message]) -> list[Message]:
    """The same messages as every provider takes them. After a message with tool calls come their results, in
    the order of the calls: one that is missing says so, and one without a call is left out. No text is empty.
    A call is known by its id, and the first one with an id counts."""
    items = list(messages)
    results = {item.tool_call_id: item for item in reversed(items) if item.role == "tool"}
    found: list[Message] = []
    called: set[str] = set()
    for item in items:
        if item.role == "user":
            found.append(item if item.content.strip() else replace(item, content=_NO_TEXT))
        elif item.role == "assistant":
            calls = tuple(_first_of(item.tool_calls, called))
            if calls or item.content.strip():
                found.append(_spoken(item, calls))
                found += (_result(call, results.get(call["id"])) for call in calls)
    return found


def _first_of(calls: Iterable[dict[str, Any]], called: set[str]) -> Iterator[dict[str, Any]]:
    for call in calls:
        if call["id"] not in called:
            called.add(call["id"])
            yield call


def _spoken(item: Message, calls: tuple[dict[str, Any], ...]) -> Message:
    content = item.content if item.content.strip() else ""
    if content == item.content and calls == item.tool_calls:
        return item
    return replace(item, content=content, tool_calls=calls)


def _result(call: dict[str, Any], result: Message | None) -> Message:
    if result is None:
        status = "not_done"
        return Message("tool", NOT_DONE, tool_call_id=call["id"], name=call["name"], status=status)
    return result if result.content.strip() else replace(result, content=_NO_OUTPUT)
