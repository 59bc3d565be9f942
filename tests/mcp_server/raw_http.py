"""An MCP server with sessions over streamable HTTP, in a thread. It may forget them, and send anything."""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.mcp_server.raw import text, tool

Answer = Callable[[], bytes]


class RawHttp:
    """Begins with `with`. `sessions` are those that it knows; `calls` the tools that were called."""

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.calls: list[str] = []
        self._numbers = itertools.count()
        #: What a tool answers instead of its name: the body and its content type.
        self.bodies: dict[str, tuple[bytes, str]] = {}
        #: With what the tools begin their answers that never end, and those whose callers have gone.
        self.unfinished: dict[str, Iterable[bytes]] = {}
        self.left: list[str] = []
        #: The method of the message that it never answers.
        self.mute = ""
        #: The errors with which tools answer, and their status.
        self.errors: dict[str, tuple[int, dict[str, Any]]] = {}
        #: What it answers to a session that it does not know.
        self.unknown: tuple[int, bytes, str] = (404, b"gone", "text/plain")
        self.gzipped = False
        #: What it sends to each who listens, and how often somebody did.
        self.stream: Iterable[bytes] | None = None
        self.listeners = 0
        #: The status with which it refuses everything, if it does.
        self.denies: int | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp?key=sk-in-the-address"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, message: dict[str, Any], session: str | None) -> tuple[int, dict[str, str], bytes, str]:
        method, headers = message.get("method"), dict[str, str]()
        if self.denies is not None:
            return self.denies, headers, b"no", "text/plain"
        if method == "server/discover":
            return 404, headers, b"", "text/plain"
        if method == "initialize":
            name = f"session-{next(self._numbers)}"
            self.sessions.add(name)
            about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            result = {**about, "serverInfo": {"name": "raw", "version": "1"}}
            return 200, {"mcp-session-id": name}, _result(message, result), "application/json"
        if session not in self.sessions:
            status, body, kind = self.unknown
            return status, headers, body, kind
        if method is None or "id" not in message:
            return 202, headers, b"", "text/plain"
        if method == "tools/list":
            tools = [tool(name) for name in ("say", *self.bodies, *self.errors, *self.unfinished)]
            return 200, headers, _result(message, {"tools": tools}), "application/json"
        if method == "ping":
            return 200, headers, _result(message, {}), "application/json"
        name = message["params"]["name"]
        self.calls.append(name)
        if name in self.errors:
            status, error = self.errors[name]
            return status, headers, failure(error, message["id"]), "application/json"
        body, kind = self.bodies.get(name, (b"", "application/json"))
        return 200, headers, body or _result(message, text(name)), kind

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if self._is_unfinished(message):
                    return
                status, headers, body, kind = server.reply(message, self.headers.get("mcp-session-id"))
                if server.gzipped and message["method"] == "tools/call":
                    body, headers = gzip.compress(body), {"content-encoding": "gzip"}
                self.send_response(status)
                for name, value in {
                    **headers,
                    "content-type": kind,
                    "content-length": str(len(body)),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def _is_unfinished(self, message: dict[str, Any]) -> bool:
                name = (message.get("params") or {}).get("name")
                if message.get("method") == server.mute:
                    name = server.mute
                elif message.get("method") != "tools/call" or name not in server.unfinished:
                    return False
                server.calls.append(name)
                self.wfile.writelines(server.unfinished.get(name, ()))
                self.close_connection = not self.connection.recv(1)  # returns when the caller has gone
                server.left.append(name)
                return True

            def do_GET(self) -> None:
                server.listeners += 1
                if server.stream is None:
                    self.send_error(405)
                    return
                self.send_response(200)
                self.send_header("content-type", "text/event-stream; charset=utf-7")
                self.end_headers()
                self.wfile.writelines(server.stream)

            def do_DELETE(self) -> None:
                self.send_error(405)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def failure(error: dict[str, Any], number: int | None = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()


def _result(message: dict[str, Any], result: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
