"""An MCP server of an agent: its session, which is opened when it is needed, and the tools that it offers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from caesura.agents.mcp import failures, listing, requests, results
from caesura.agents.mcp.failures import Away, Forgotten
from caesura.agents.mcp.listing import Listed, Offered
from caesura.agents.mcp.pause import Pause
from caesura.agents.mcp.secrets import Secrets
from caesura.agents.mcp.session import OPENING, Session
from caesura.agents.mcp.shares import Share
from caesura.agents.spec import McpServer
from caesura.agents.tools.tool import Result, ToolError
from caesura.core import json_data, shown

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
#: Seconds in which a server that has left a question unanswered must answer the simplest one.
_PING = 4.0
#: Seconds in which turns do not wait for a server that kept one waiting in vain; twice as long after each
#: further time, at most this.
_REST, _LONGEST_REST = 30.0, 300.0
#: Seconds that a call waits for a server which could not be opened the last time.
_AGAIN = 5.0
#: Seconds after which a session of an entry that no file has any more is closed.
_UNUSED = 30.0
_FROZEN = "it does not answer any more"
_EFFECT = "The call may have had an effect."
#: How often a call is offered to a server that does not take it.
_TRIES = 2


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
        share: Share,
        is_current: Callable[[Server], bool],
    ) -> None:
        """`is_current` tells whether a file still has this entry."""
        self.agent, self.entry = agent, entry
        self._environ, self._share, self._is_current = environ, share, is_current
        secrets = [*entry.env.values(), *(environ.get(name, "") for name in entry.headers_env.values())]
        self.secrets = Secrets(secrets)
        self._session: Session | None = None
        #: All connections that have not ended: the one in use, and those that finish their calls.
        self._sessions: set[Session] = set()
        self._reason = ""
        self._pause, self._rest = Pause(_PAUSE, _LONGEST_PAUSE), Pause(_REST, _LONGEST_REST)
        self._found = Listed([], [])
        self._offered: tuple[Offered, ...] | None = None
        #: Which tools of the list are left out and why.
        self.left_out = ""
        self._listed = self._used = -float("inf")
        #: Counts what may have changed the tools since they were listed.
        self._changes = 0
        #: A session that has left a question unanswered.
        self._doubted: Session | None = None
        #: An open session that kept a turn waiting in vain.
        self._silent: Session | None = None
        self._doubts = asyncio.Lock()
        #: When an attempt to use the server failed last.
        self.failed = -float("inf")

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def is_known(self) -> bool:
        """Whether the server has listed its tools at some time."""
        return self._offered is not None

    @property
    def names(self) -> set[str]:
        """The names of all tools that the server listed last."""
        return {tool.name for tool in self._found.tools}

    def nothing_done(self, reason: str | None = None) -> str:
        """What an agent is told about a call that was not made."""
        why = reason or self._reason or "it did not answer in time"
        return self.secrets.line(f"Nothing was done. The MCP server {self.name} is away: {why}.")

    async def offer(self, within: float, insist: bool = False) -> Offer:
        """The tools that the server has now, or had when it could last be asked. Waits at most `within`
        seconds, and hardly at all for a server that kept others waiting in vain a moment ago, unless the
        caller insists. An attempt to reach the server goes on without the caller."""
        known = self._offered is not None
        session: Session | None = None
        wait = 0.0
        try:
            session = self._opening()
            # What has opened since it kept others waiting is worth a wait.
            opened = session.was_open and session is not self._silent
            wait = within if insist or opened or not self._rest.lasts else 0.0
            if wait > 0 or session.was_open:
                async with asyncio.timeout(min(max(wait, _LEAST), _RELIST if known else OPENING)):
                    session = await self._answering(session)
                    await self._refresh(session)
        except TimeoutError:
            self._fail("it did not answer in time")
            self._doubt(session)
            if wait > 0:
                self._rest.fail()
                self._silent = session if session is not None and session.was_open else None
        except Away as error:
            self._fail(str(error))
        if self._offered is None:
            return Offer((), self.secrets.line(self._reason or "it did not answer in time"))
        return Offer(self._offered)

    def forget(self) -> None:
        """The list of tools is too old for whoever asks next."""
        self._has_changed()

    async def call(
        self, tool: str, args: dict[str, Any], key: str, show: Callable[[str], None] = _unseen
    ) -> Result:
        """Call a tool. `show` is told what the server says about its progress. Raises `ToolError` if the
        server could not do it."""
        arguments = json_data.clean(args)
        for _ in range(_TRIES):
            session = await self._open()
            try:
                self._used = time.monotonic()
                found = await session.request(
                    lambda client: requests.call(client, tool, arguments, key, show)
                )
                return await self._share.run(results.read, found)
            except asyncio.CancelledError:
                self._doubt(session)
                raise
            except Forgotten:
                # As after a restart of the server. It has not taken the call.
                self._drop(session)
            except Away as error:
                self._drop(session)
                raise ToolError(f"{self._away(error)} {_EFFECT}") from error
            except Exception as error:
                raise ToolError(self._told(session, tool, error)) from error
            finally:
                self._has_changed()
        raise ToolError(self.nothing_done("it forgets its sessions at once"))

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions)))

    def _told(self, session: Session, tool: str, error: Exception) -> str:
        if isinstance(error, ToolError):
            return str(error)
        told = f"The MCP server {self.name} failed at {tool}"
        if session.denied is not None:
            return self.secrets.line(f"{told}: {session.denied}.")
        line = self.secrets.line(f"{told}: {failures.reason(error).rstrip('.')}.")
        return line if requests.has_done_nothing(error) else f"{line} {_EFFECT}"

    def _away(self, error: Away) -> str:
        return self.secrets.line(f"The MCP server {self.name} is away: {error}.")

    # --- the session

    async def _open(self) -> Session:
        """The open session, for a call. Raises `ToolError` if there is none."""
        try:
            session = self._opening()
            # An attempt goes on without the caller.
            async with asyncio.timeout(_AGAIN if self._pause.has_failed else OPENING):
                session = await self._answering(session)
                await session.request(requests.nothing)
        except Away as error:
            self._fail(str(error))
            raise ToolError(self.nothing_done(str(error))) from error
        except TimeoutError as error:
            raise ToolError(self.nothing_done("it did not answer in time")) from error
        return session

    def _doubt(self, session: Session | None) -> None:
        """A question was left unanswered. If others still wait, the server may simply be at work."""
        if session is not None and session.was_open and session.is_idle:
            self._doubted = session

    async def _answering(self, session: Session) -> Session:
        """The session, or another one if the server has stopped answering there."""
        async with self._doubts:
            if self._doubted is not session:
                return self._opening()
            try:
                async with asyncio.timeout(_PING):
                    await session.request(requests.ping)
            except TimeoutError:
                session.abandon(_FROZEN)
            except Away:
                self._drop(session)
            except Exception as error:
                if not requests.is_answer(error):
                    raise Away(failures.reason(error)) from error
            self._doubted = None
            if not session.usable:
                self._drop(session)
            return self._opening()

    def _opening(self) -> Session:
        """The session that is open or being opened. Raises `Away` if it is too early for another attempt."""
        self._used = time.monotonic()
        if self._session is not None and self._session.usable:
            return self._session
        if self._pause.lasts:
            raise Away(self._reason)
        self._session = session = Session(
            self.entry, self._environ, self._share, self._has_changed, self._is_wanted
        )
        self._sessions.add(session)
        session.task.add_done_callback(lambda task: self._ended(session))
        return session

    def _ended(self, session: Session) -> None:
        self._sessions.discard(session)
        reason = self._reason = session.reason
        if session is self._session:
            self._session = None
        if quiet := session.was_open and not session.is_cut_off:
            self._pause.end()
        else:
            self._pause.fail()
        complaint = f": {self.secrets.line(session.complaint)}" if session.complaint else ""
        level = logging.INFO if quiet and not complaint else logging.WARNING
        told = self.secrets.line(reason)
        logger.log(level, "MCP server %s of agent %s: %s%s", self.name, self.agent, told, complaint)

    def _drop(self, session: Session) -> None:
        session.leave()
        if self._session is session:
            self._session = None

    def _fail(self, reason: str) -> None:
        self._reason, self.failed = reason, time.monotonic()

    def _has_changed(self) -> None:
        self._changes += 1
        self._listed = -float("inf")

    def _is_wanted(self) -> bool:
        return time.monotonic() - self._used < _UNUSED or self._is_current(self)

    # --- the tools

    async def _refresh(self, session: Session) -> None:
        if self._offered is not None and time.monotonic() - self._listed < _FRESH:
            return
        began, changes = time.monotonic(), self._changes
        try:
            found = await session.request(requests.tools)
        except Away:
            self._drop(session)
            raise
        except Exception as error:
            raise Away(session.denied or failures.reason(error)) from error
        self.failed = -float("inf")
        self._rest.end()
        self._silent = None
        if self._offered is None or found != self._found:
            # Whoever waits for it may go before it is read, and then it is not known.
            read = await listing.read(self.name, found, self.entry.tools, self._share)
            self._found = found
            self._offered, self.left_out = read
            self._warn(found)
        if changes == self._changes:
            self._listed = began

    def _warn(self, found: Listed) -> None:
        """A misspelt name in the entry forbids nothing and offers nothing."""
        if self.left_out:
            told = self.secrets.hidden(self.left_out)
            logger.warning(
                "MCP server %s of agent %s lists what is left out: %s", self.name, self.agent, told
            )
        for field, unknown in listing.unknown(self.entry, found).items():
            logger.warning(
                "MCP server %s of agent %s: %s names what the server does not have: %s",
                self.name,
                self.agent,
                field,
                shown.line(", ".join(unknown)),
            )
