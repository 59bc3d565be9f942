"""The mirror's entries in Redis. `docs/agents.md` describes the keys for operators.

A late write must not undo a newer one. So a writer first puts its token beside each conversation, then reads
the truth from the database, and then writes. The write takes effect only if the token is still there: a
writer that began later, and has read newer rows, has replaced or removed it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from redis.exceptions import RedisError

from caesura.core import ids
from caesura.service import redis_client
from caesura.store.mirrored import Waiting

PATIENCE = 3.0
#: The entries: `PREFIX`, and then the parts of `key`.
PREFIX = "caesura:interrupt:"
#: A hash of the conversations that have an entry: each with the mark of its questions, a space and the key.
INDEX = "caesura:interrupts"
#: Where changes are published.
CHANNEL = "caesura:interrupts:changes"
_CHECKER = "caesura:interrupts:checker"
_WRITER = "caesura:interrupts:writer:"
#: The milliseconds for which a token is good.
_TOKEN = 30_000

#: Sets the entry of a conversation, or removes it if the key is empty. Returns 0 if the token is gone.
_WRITE = """
local writer, index, channel = KEYS[1], KEYS[2], KEYS[3]
local token, conversation, mark, key, value, left = unpack(ARGV)
if redis.call('GET', writer) ~= token then return 0 end
redis.call('DEL', writer)
local function tell(event, name)
  redis.call('PUBLISH', channel, cjson.encode({event = event, key = name}))
end
local old = redis.call('HGET', index, conversation)
local before = old and string.match(old, ' (.*)$')
if before and before ~= key then
  redis.call('DEL', before)
  redis.call('HDEL', index, conversation)
  tell('closed', before)
end
if key ~= '' then
  local new = mark .. ' ' .. key
  redis.call('HSET', index, conversation, new)
  if left == '' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', left) end
  if old ~= new then tell('asked', key) end
end
return 1
"""
#: For pairs of a conversation and a mark: 1 where the entry is there, 0 where it is not.
_COMPARE = """
local found = {}
for place = 1, #ARGV, 2 do
  local known = redis.call('HGET', KEYS[1], ARGV[place]) or ''
  local mark, key = string.match(known, '^(%S+) (.*)$')
  local there = mark == ARGV[place + 1] and redis.call('EXISTS', key) or 0
  table.insert(found, there)
end
return found
"""
#: Makes this node the one that compares for a while, unless another one is.
_CHOOSE = """
local chosen = redis.call('GET', KEYS[1])
if chosen and chosen ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

Command = tuple[str | bytes | int, ...]


class Lost(Exception):
    """Redis does not answer, or not as it should."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`mark` names the questions. `ends` is when the entry expires, by this process's monotonic clock; None
    for never."""

    mark: str
    key: str
    value: bytes
    ends: float | None


def key(user_id: str, agent: str, session: str | None, conversation_id: str) -> str:
    """The key of a conversation's entry. A session's id is a client's own text: whatever has a meaning in a
    key is escaped, so that the key can be no other one's."""
    own = f"conversation:{conversation_id}" if session is None else _escaped(session)
    return f"{PREFIX}{_escaped(user_id)}:{_escaped(agent)}:{own}"


def _escaped(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


class RedisEntries:
    """Every method raises `Lost` within some seconds when Redis does not answer."""

    def __init__(self, url: str) -> None:
        self._redis = redis_client.connect(url, PATIENCE)
        self._name = ids.owner()

    async def check(self) -> None:
        """Whether Redis can be written to."""
        await self._ask([("SET", f"{_WRITER}{self._name}", "", "PX", 1)])

    async def chosen(self, seconds: float) -> bool:
        """Whether this process is to compare the entries with the database, for all of them. No other one is
        for this time."""
        return bool(await self._one("EVAL", _CHOOSE, 1, _CHECKER, self._name, int(seconds * 1000)))

    async def begin(self, names: Sequence[str]) -> str:
        """Begin to write the entries of these conversations. Returns the token for `write`."""
        token = ids.token()
        await self._ask([("SET", f"{_WRITER}{name}", token, "PX", _TOKEN) for name in names])
        return token

    async def write(self, token: str, names: Sequence[str], entries: Mapping[str, Entry]) -> None:
        """Set the entries of these conversations, and remove those that are not given. A conversation that
        somebody else has begun to write since is left to them."""
        await self._ask([self._written(token, name, entries.get(name)) for name in names])

    def _written(self, token: str, name: str, entry: Entry | None) -> Command:
        keys: Command = (3, f"{_WRITER}{name}", INDEX, CHANNEL)
        left: int | str = ""
        if entry is not None and entry.ends is not None:
            left = int((entry.ends - time.monotonic()) * 1000)
        if entry is None or (left != "" and int(left) <= 0):
            return ("EVAL", _WRITE, *keys, token, name, "", "", "", "")
        return ("EVAL", _WRITE, *keys, token, name, entry.mark, entry.key, entry.value, left)

    async def missing(self, waiting: Sequence[Waiting]) -> list[str]:
        """Those of these conversations whose questions have no entry."""
        pairs = [text for item in waiting for text in item]
        found: list[int] = await self._one("EVAL", _COMPARE, 1, INDEX, *pairs)
        return [item.conversation_id for item, there in zip(waiting, found, strict=True) if not there]

    async def known(self, cursor: int, count: int) -> tuple[int, list[str]]:
        """Some conversations that have an entry, and the next cursor; 0 at the end."""
        found = await self._one("HSCAN", INDEX, cursor, "COUNT", count)
        return int(found[0]), [_text(name) for name in found[1]]

    async def reset(self) -> None:
        """Drop the connections: they may be dead without an error yet."""
        with suppress(RedisError, OSError):
            async with asyncio.timeout(PATIENCE):
                await self._redis.connection_pool.disconnect()

    async def aclose(self) -> None:
        with suppress(RedisError, OSError):
            async with asyncio.timeout(PATIENCE):
                await self._redis.aclose()

    async def _one(self, *command: str | bytes | int) -> Any:
        return (await self._ask([command]))[0]

    async def _ask(self, commands: Sequence[Command]) -> list[Any]:
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            async with asyncio.timeout(PATIENCE):
                return await pipeline.execute()
        except (RedisError, OSError) as error:  # a timeout is an OSError
            why = str(error) or f"no reply within {PATIENCE:g} seconds"
            raise Lost(f"{type(error).__name__}: {why}") from error


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
