"""The web page: its built files, read once and kept in memory as they are sent, and the paths at which they
are served. A file whose name contains a hash of its content is read when it is first asked for: nobody needs
all of them, and its content cannot change under its name."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from caesura.http.headers import ASSETS, DOCS, FRAME_FILES, FRAMES

#: Where the build puts the page: a part of the package, so a wheel carries it.
BUILT = Path(__file__).parents[1] / "page"
#: The web folder of a checkout. An installed wheel has none.
_SOURCES = Path(__file__).parents[3] / "web"
#: The addresses that the page itself shows, each with the same document.
_SCREENS = ("/", "/c/{conversation_id}", "/inbox")
#: Where a program asks, or a part of the page: who errs there gets no document.
_NOT_SCREENS = ("/api", DOCS, ASSETS.rstrip("/"), FRAMES.rstrip("/"))
_INDEX = "/index.html"
_STYLE = f"{ASSETS}missing.css"
#: The build writes every address in the document from the top of the server.
_ADDRESS = re.compile(r'(\s(?:src|href|data-[a-z]+)=")/(?!/)')
#: In order of preference: the name in HTTP, and the ending of the file that the build wrote.
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
#: The name of a file in the assets contains a hash of its content.
_FOREVER = "public, max-age=31536000, immutable"
_CHECKED = "no-cache"
#: The machine's own table of types may say anything: these are the files of a build.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What a file has, in every encoding that the build made. The encoding "" is the file itself, which is
    kept only if there is no other: few clients want it, and it is four times as large."""

    digest: str
    size: int
    bodies: Mapping[str, bytes]

    def body(self, encoding: str) -> bytes:
        return self.bodies[encoding] if encoding in self.bodies else gzip.decompress(self.bodies["gzip"])

    def length(self, encoding: str) -> int:
        return len(self.bodies[encoding]) if encoding in self.bodies else self.size


class File:
    """A file of the page. It is read once, and kept."""

    def __init__(self, media_type: str, caching: str, read: Callable[[], Content]) -> None:
        self._media_type = media_type
        self._caching = caching
        self._read = read

    @cached_property
    def content(self) -> Content:
        return self._read()

    def answer(self, request: Request, status: int = 200) -> Response:
        """The response. 404 if the file is gone, because another build has replaced the one that was here at
        the start."""
        try:
            content = self.content
        except FileNotFoundError:
            raise HTTPException(404) from None
        encoding = _chosen(request.headers.get("accept-encoding", ""), content.bodies)
        etag = f'"{content.digest}{"-" if encoding else ""}{encoding}"'
        headers = {"etag": etag, "cache-control": self._caching, "vary": "accept-encoding"}
        if status == 200 and _known(request.headers.get("if-none-match", ""), etag):
            return Response(status_code=304, headers=headers)
        headers["content-type"] = self._media_type
        if encoding:
            headers["content-encoding"] = encoding
        if request.scope["path"].startswith(FRAME_FILES):
            # A sandboxed frame has no origin, and may load modules only from where everybody may.
            headers["access-control-allow-origin"] = "*"
        headers["content-length"] = str(content.length(encoding))
        body = b"" if request.method == "HEAD" else content.body(encoding)
        return Response(body, status, headers=headers)


class _Nowhere(Route):
    """Any path at which a person is lost: a browser asks for a document, and no other route knows the path,
    whatever the method. Whoever asks for something else gets the error of the API."""

    def __init__(self, app: FastAPI, files: Mapping[str, File]) -> None:
        async def nothing(request: Request) -> Response:
            return files[_INDEX].answer(request, 404)

        super().__init__("/{path:path}", nothing, methods=["GET"], include_in_schema=False)
        self._routes = app.router.routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or not _is_lost(scope):
            return Match.NONE, {}
        others = (route for route in self._routes if route is not self)
        if any(route.matches(scope)[0] != Match.NONE for route in others):
            return Match.NONE, {}
        return super().matches(scope)


def _is_lost(scope: Scope) -> bool:
    path: str = scope["path"]
    if "." in path.rstrip("/").rpartition("/")[2] or f"{path}/".startswith(
        tuple(f"{item}/" for item in _NOT_SCREENS)
    ):
        return False
    return "text/html" in Request(scope).headers.get("accept", "").lower()


def read(folder: Path) -> dict[str, File]:
    """The files of a build by their path in an address."""
    return {address: _file(address, path) for address, path in sorted(_files(str(folder), "/"))}


def install(app: FastAPI, folder: Path = BUILT, root: str = "") -> None:
    """Serve the page, or where there is none a sentence about how to get it. Only known files are served: a
    path is looked up, and never becomes the name of a file. `root` is what is before each of its paths."""
    files = read(folder)
    built = _INDEX in files
    if not built:
        files = _missing(root)
    elif root:
        placed = _below(root, (folder / "index.html").read_text("utf-8"))
        files = {**files, _INDEX: _made(placed, ".html")}

    async def screen(request: Request) -> Response:
        return files[_INDEX].answer(request)

    async def file(request: Request) -> Response:
        found = files.get(request.scope["path"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request)

    own = [name for name in files if name != _INDEX and not name.startswith((ASSETS, FRAMES))]
    for path in _SCREENS:
        app.router.routes.append(Route(path, screen, methods=["GET"], include_in_schema=False))
    for path in (f"{ASSETS}{{name:path}}", f"{FRAMES}{{name:path}}", *own):
        app.router.routes.append(Route(path, file, methods=["GET"], include_in_schema=False))
    if built:
        app.router.routes.append(_Nowhere(app, files))


def _files(folder: str, address: str) -> Iterator[tuple[str, str]]:
    """The files below this folder: the address and the path of each. There are hundreds, and a `Path` of
    each would cost a start more than all else about the page."""
    try:
        entries = os.scandir(folder)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path, f"{address}{entry.name}/")
            elif _type(entry.name):
                yield address + entry.name, entry.path


def _type(name: str) -> str | None:
    suffix = os.path.splitext(name)[1]
    return _TYPES.get(suffix) or mimetypes.types_map.get(suffix)


def _file(address: str, path: str) -> File:
    hashed = address.startswith((ASSETS, FRAME_FILES))
    file = File(_type(path) or "", _FOREVER if hashed else _CHECKED, lambda: _content(Path(path)))
    if not hashed:
        file.content  # noqa: B018 - read now: another build may replace it
    return file


def _content(path: Path) -> Content:
    body = path.read_bytes()
    bodies: dict[str, bytes] = {}
    for encoding, ending in _ENCODINGS:
        encoded = path.with_name(path.name + ending)
        if encoded.is_file():
            bodies[encoding] = encoded.read_bytes()
    if "gzip" not in bodies:
        bodies[""] = body
    return Content(_digest(body), len(body), bodies)


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]


def _chosen(accepted: str, bodies: Mapping[str, bytes]) -> str:
    """The best encoding of those that the client takes. A client that says nothing gets the file itself."""
    weights: dict[str, str] = {}
    for item in accepted.lower().split(","):
        name, _, weight = item.partition(";")
        weights[name.strip()] = weight.replace(" ", "")
    for encoding, _ in _ENCODINGS:
        weight = weights.get(encoding, weights.get("*", "q=0"))
        if encoding in bodies and weight.rstrip("0.") != "q=":
            return encoding
    return ""


def _known(given: str, etag: str) -> bool:
    """Whether the client has this very content. A proxy that compresses may have made the tag a weak one."""
    tags = [tag.strip().removeprefix("W/") for tag in given.split(",")]
    return etag in tags or "*" in tags


def _below(root: str, document: str) -> str:
    """The document of the page, with the root path before the addresses of its files, and for its scripts."""
    placed = _ADDRESS.sub(lambda found: f"{found[1]}{root}/", document)
    return placed.replace("<html ", f'<html data-root="{root}" ', 1)


def _missing(root: str = "") -> dict[str, File]:
    """One sentence in place of the page. Its style is a file: the policy allows none in the document."""
    document = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Caesura</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<link rel="stylesheet" href="{root}{_STYLE}">'
        f'<p>{_advice()} The API works: see <a href="{root}/docs">/docs</a>.</p></html>'
    )
    style = (
        "html{color-scheme:light dark;font:1.0625rem/1.6 system-ui,sans-serif}"
        "body{max-width:34rem;margin:18vh auto;padding:0 1.5rem}"
        "code{font-size:.9em;padding:.1em .35em;border:1px solid #8884;border-radius:4px}"
    )
    return {
        _INDEX: _made(document, ".html"),
        _STYLE: _made(style, ".css"),
    }


def _made(text: str, suffix: str) -> File:
    body = text.encode()
    return File(_TYPES[suffix], _CHECKED, lambda: Content(_digest(body), len(body), {"": body}))


def _advice() -> str:
    if not _SOURCES.is_dir():
        return (
            "This installation came without the web page: install a wheel of Caesura that was built with it."
        )
    if shutil.which("npm") is None:
        return (
            "The web page is not built yet: install Node 20 or newer with npm, run <code>make web</code>, "
            "and start the server again."
        )
    return "The web page is not built yet: run <code>make web</code>, and start the server again."
