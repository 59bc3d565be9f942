"""A connection to an MCP server that runs as a child process and speaks over its standard input and output.

The transport of the package `mcp` reads a line of any length, and copies what it has with every piece of it.
Here a line has a largest size, and a server that exceeds it is ended.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from caesura.agents.mcp import messages, requests
from caesura.agents.mcp.allowance import Allowance, kind_of
from caesura.agents.mcp.messages import Unwieldy
from caesura.agents.mcp.shares import Held, Share

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, Process
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

logger = logging.getLogger(__name__)

#: Seconds for a server to end after its input was closed, and after it was asked to end.
_GRACE, _INSISTENCE = 2.0, 1.0
_LOOK = 0.02
#: Seconds in which the status of a process is known after its output has ended.
_SETTLING = 1.0
#: How much of what a server wrote last on its standard error is kept.
_KEPT = 4000


class Child:
    """The process of a server: `ended` is why it is gone, and `complaint` what it wrote last about it."""

    def __init__(
        self,
        command: Sequence[str],
        env: dict[str, str],
        share: Share,
        allowance: Allowance,
        gone: Callable[[], None],
    ) -> None:
        """`env` is added to the few variables that every server gets. `gone` is called when the server can no
        longer be spoken to."""
        self._command, self._env, self._share, self._gone = command, env, share, gone
        self._allowance = allowance
        self._errors = bytearray()
        self.ended: str | None = None

    @property
    def complaint(self) -> str:
        """The last line, if it is there as a whole: in half of a key nobody would find the key."""
        text = self._errors.decode("utf-8", "replace").strip()
        lines = text.splitlines()
        whole = len(lines) > 1 or len(self._errors) < _KEPT
        return lines[-1] if lines and whole else ""

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        """The messages of the server and to it. When the process has ended, the first stream ends."""
        import anyio
        from anyio import create_memory_object_stream as stream
        from mcp.client.stdio import get_default_environment

        process = await anyio.open_process(
            list(self._command), env=get_default_environment() | self._env, start_new_session=True
        )
        # Nothing is awaited before the task group: a cancellation here would leave the process behind.
        incoming, received = stream["SessionMessage | Exception"](0)
        outgoing, sent = stream["SessionMessage"](0)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read, process, incoming)
                group.start_soon(self._write, process, sent, incoming)
                group.start_soon(self._listen, process)
                try:
                    yield received, outgoing
                finally:
                    with anyio.CancelScope(shield=True):
                        await _end(process)
                    group.cancel_scope.cancel()
        finally:
            _kill(process)
            for end in (incoming, received, outgoing, sent):
                end.close()
            with suppress(OSError), anyio.CancelScope(shield=True), anyio.move_on_after(_GRACE):
                await process.aclose()

    async def _read(
        self, process: Process, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        import anyio

        assert process.stdout is not None  # noqa: S101 - for the type checker
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async with incoming:
                try:
                    with self._share.hold() as held:
                        await self._receive(process.stdout, incoming, held)
                    self.ended = await _how(process)
                except Unwieldy as error:
                    self.ended = str(error)
        self._gone()

    async def _receive(
        self,
        output: ByteReceiveStream,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        held: Held,
    ) -> None:
        async for chunk in output:
            start = len(held.data)
            held.add(chunk)
            while (end := held.data.find(b"\n", start)) >= 0:
                line = held.take(end, 1).strip()
                start = 0
                if not line:
                    self._allowance.take(1)
                    continue
                item = await self._message(line)
                message = getattr(item, "message", None)
                self._allowance.take(len(line), kind_of(vars(message)) if message else "other")
                await incoming.send(item)
            held.check()

    async def _message(self, line: bytes) -> SessionMessage | Exception:
        from mcp.shared.message import SessionMessage
        from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

        await messages.check(line, self._share)
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            if (answers := messages.id_of(line)) is None:
                return ValueError("a line that is no message")
            # Nothing better will come, so nobody waits for it.
            fault = ErrorData(code=PARSE_ERROR, message=requests.UNREADABLE)
            return SessionMessage(JSONRPCError(jsonrpc="2.0", id=answers, error=fault))

    async def _write(
        self,
        process: Process,
        sent: MemoryObjectReceiveStream[SessionMessage],
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        import anyio

        assert process.stdin is not None  # noqa: S101 - for the type checker
        try:
            async with sent:
                async for item in sent:
                    self._allowance.send(kind_of(vars(item.message)))
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(text.encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            self.ended = self.ended or await _how(process)
            incoming.close()  # whoever waits for an answer is told
            self._gone()

    async def _listen(self, process: Process) -> None:
        import anyio

        assert process.stderr is not None  # noqa: S101 - for the type checker
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for chunk in process.stderr:
                self._errors += chunk[-_KEPT:]
                del self._errors[:-_KEPT]


async def _end(process: Process) -> None:
    """Close the input of the server, and end it if it does not end by itself."""
    import anyio

    assert process.stdin is not None  # noqa: S101 - for the type checker
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        await process.stdin.aclose()
    if await _has_ended(process, _GRACE):
        return
    _signal(process, signal.SIGTERM)
    await _has_ended(process, _INSISTENCE)


async def _how(process: Process) -> str:
    """How a process has ended that takes or says nothing any more."""
    if not await _has_ended(process, _SETTLING):
        return "its process closed its output"
    status = process.returncode or 0
    return (
        f"its process ended with status {status}"
        if status >= 0
        else f"its process was ended by signal {-status}"
    )


async def _has_ended(process: Process, within: float) -> bool:
    """`wait` would also wait for children of the server that hold its output open."""
    import anyio

    deadline = anyio.current_time() + within
    while process.returncode is None and anyio.current_time() < deadline:  # noqa: ASYNC110
        await anyio.sleep(_LOOK)
    return process.returncode is not None


def _kill(process: Process) -> None:
    """Kill what is left of the server: it leads a process group of its own."""
    _signal(process, signal.SIGKILL)


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
