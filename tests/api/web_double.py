"""A search engine and some pages, on loopback: what the research agents find and read."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

_PAGE = """<!doctype html><html><head><title>All about {topic}</title></head>
<body><main><h1>All about {topic}</h1><p>Here it says that {topic} grow old. {filler}</p></main></body>
</html>"""


class WebDouble:
    """`searched` and `fetched` are what was asked for, in order. The search engine speaks as SearXNG does."""

    def __init__(self) -> None:
        self.searched: list[str] = []
        self.fetched: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, name="web-double")
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def page(self, topic: str) -> str:
        return f"{self.url}/page/{topic}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str) -> tuple[str, bytes]:
        parts = urlsplit(path)
        if parts.path == "/search":
            (query,) = parse_qs(parts.query)["q"]
            self.searched.append(query)
            topic = query if query.isascii() else "trees"
            hit = {"title": f"All about {query}", "url": self.page(topic), "content": f"{query} are tall."}
            return "application/json", json.dumps({"query": query, "results": [hit]}).encode()
        self.fetched.append(parts.path)
        topic = parts.path.rpartition("/")[2]
        return "text/html; charset=utf-8", _PAGE.format(topic=topic, filler="And more. " * 30).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, body = double.answer(self.path)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
