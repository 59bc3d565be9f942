"""An MCP server of an agent: its session, which is opened when it is needed, and the tools that it offers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from caesura.agents.aside import Aside
from caesura.agents.mcp import failures, listing, requests, results
from caesura.agents.mcp.failures import Away
from caesura.agents.mcp.listing import Offered
from caesura.agents.mcp.secrets import Secrets
from caesura.agents.mcp.session import OPENING, Session
from caesura.agents.spec import McpServer
from caesura.agents.tools.tool import Result, ToolError
from caesura.core import json_data

if TYPE_CHECKING:
    from mcp_types import Tool

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds without an attempt after the first failure; twice as long after each further one, at most this.
_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
#: Seconds for which a list of tools counts as new.
_FRESH = 1.0
#: Seconds to wait for a newer list if there is an older one.
_RELIST = 5.0
#: Seconds for an open connection to list its tools, also when nothing is left to wait for others.
_LEAST = 0.5
#: Seconds that a call waits for a server which could not be opened the last time.
_AGAIN = 5.0
#: Seconds after which a session of an entry that no file has any more is closed.
_UNUSED = 30.0


def _unseen(text: str) -> None:
    pass


class Offer(NamedTuple):
    """The tools of a server. `missing` is why there are none."""

    tools: tuple[Offered, ...]
    missing: str | None = None


class Server:
    def __init__(
        self,
        agent: str,
        entry: McpServer,
        environ: Mapping[str, str],
        aside: Aside,
        is_current: Callable[[Server], bool],
    ) -> None:
        """`is_current` tells whether a file still has this entry."""
        self.agent, self.entry = agent, entry
        self._environ, self._aside, self._is_current = environ, aside, is_current
        secrets = [*entry.env.values(), *(environ.get(name, "") for name in entry.headers_env.values())]
        self.secrets = Secrets(secrets)
        self._session: Session | None = None
        #: All connections that have not ended: the one in use, and those that finish their calls.
        self._sessions: set[Session] = set()
        self._reason = ""
        self._failures, self._not_before = 0, 0.0
        self._found: list[Tool] = []
        self._offered: tuple[Offered, ...] | None = None
        self._listed = self._used = -float("inf")
        #: When an attempt to use the server failed last.
        self.failed = -float("inf")

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def is_known(self) -> bool:
        """Whether the server has listed its tools at some time."""
        return self._offered is not None

    def nothing_done(self, reason: str | None = None) -> str:
        """What an agent is told about a call that was not made."""
        why = reason or self._reason or "it did not answer in time"
        return self.secrets.line(f"Nothing was done. The MCP server {self.name} is away: {why}.")

    async def offer(self, within: float) -> Offer:
        """The tools that the server has now, or had when it could last be asked. Waits at most `within`
        seconds. An attempt to reach the server goes on without the caller."""
        known = self._offered is not None
        try:
            session = self._opening()
            if within > 0 or session.was_open:
                async with asyncio.timeout(min(max(within, _LEAST), _RELIST if known else OPENING)):
                    await self._refresh(session)
        except TimeoutError:
            self._fail("it did not answer in time")
        except Away as error:
            self._fail(str(error))
        if self._offered is None:
            return Offer((), self.secrets.line(self._reason or "it did not answer in time"))
        return Offer(self._offered)

    async def call(
        self, tool: str, args: dict[str, Any], key: str, show: Callable[[str], None] = _unseen
    ) -> Result:
        """Call a tool. `show` is told what the server says about its progress. Raises `ToolError` if the
        server could not do it."""
        arguments = json_data.clean(args)
        for attempt in range(2):
            session = await self._open()
            try:
                self._used = time.monotonic()
                found = await session.request(
                    lambda client: requests.call(client, tool, arguments, key, show)
                )
                return await self._aside.run(results.read, found)
            except Away as error:
                self._drop(session)
                told = f"{self._away(error)} The call may have had an effect."
                raise ToolError(told) from error
            except Exception as error:
                if attempt == 0 and requests.is_refused(error):
                    # The server has forgotten the session, as after a restart, and has done nothing.
                    self._drop(session)
                    continue
                if requests.is_closed(error):
                    self._drop(session)
                    await asyncio.wait({session.task}, timeout=1.0)
                    told = self._away(Away(session.reason))
                    raise ToolError(f"{told} The call may have had an effect.") from error
                raise ToolError(self._told(tool, error)) from error
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions)))

    def _told(self, tool: str, error: Exception) -> str:
        if isinstance(error, ToolError):
            return str(error)
        return self.secrets.line(f"The MCP server {self.name} did not do {tool}: {failures.reason(error)}.")

    def _away(self, error: Away) -> str:
        return self.secrets.line(f"The MCP server {self.name} is away: {error}.")

    # --- the session

    async def _open(self) -> Session:
        """The open session, for a call. Raises `ToolError` if there is none."""
        try:
            session = self._opening()
            # An attempt goes on without the caller.
            async with asyncio.timeout(_AGAIN if self._failures else OPENING):
                await session.request(requests.nothing)
        except Away as error:
            self._fail(str(error))
            raise ToolError(self.nothing_done(str(error))) from error
        except TimeoutError as error:
            raise ToolError(self.nothing_done("it did not answer in time")) from error
        return session

    def _opening(self) -> Session:
        """The session that is open or being opened. Raises `Away` if it is too early for another attempt."""
        self._used = time.monotonic()
        if self._session is not None and self._session.usable:
            return self._session
        if time.monotonic() < self._not_before:
            raise Away(self._reason)
        self._session = session = Session(
            self.entry, self._environ, self._aside, self._has_changed, self._is_wanted
        )
        self._sessions.add(session)
        session.task.add_done_callback(lambda task: self._ended(session))
        return session

    def _ended(self, session: Session) -> None:
        self._sessions.discard(session)
        reason = self._reason = session.reason
        if session is self._session:
            self._session = None
        if session.was_open:
            self._failures, self._not_before = 0, 0.0
        else:
            pause = min(_PAUSE * 2**self._failures, _LONGEST_PAUSE)
            self._failures, self._not_before = self._failures + 1, time.monotonic() + pause
        complaint = f": {self.secrets.line(session.complaint)}" if session.complaint else ""
        level = logging.INFO if session.was_open and not complaint else logging.WARNING
        told = self.secrets.line(reason)
        logger.log(level, "MCP server %s of agent %s: %s%s", self.name, self.agent, told, complaint)

    def _drop(self, session: Session) -> None:
        session.leave()
        if self._session is session:
            self._session = None

    def _fail(self, reason: str) -> None:
        self._reason, self.failed = reason, time.monotonic()

    def _has_changed(self) -> None:
        self._listed = -float("inf")

    def _is_wanted(self) -> bool:
        return time.monotonic() - self._used < _UNUSED or self._is_current(self)

    # --- the tools

    async def _refresh(self, session: Session) -> None:
        if self._offered is not None and time.monotonic() - self._listed < _FRESH:
            return
        try:
            found = await session.request(requests.tools)
        except Away:
            raise
        except Exception as error:
            if requests.is_closed(error) or requests.is_refused(error):
                self._drop(session)
            raise Away(failures.reason(error)) from error
        self._listed, self.failed = time.monotonic(), -float("inf")
        if self._offered is not None and found == self._found:
            return
        self._found = found
        self._offered = await self._aside.run(listing.read, self.name, found, self.entry.tools)
