"""`python -m tests.browser.film OUT.webp` makes the film. Its frames are pictures of a real page at a real server,
which is really killed and started again."""

import asyncio
import base64
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.chromium import chromium
from tests.browser.film.webp import Frame, animated
from tests.servers.server import free_port

WIDTH, HEIGHT, STRIP = 1000, 560, 104
_STEP = 0.1
_QUALITY = 0.8
_ASKED = "list files then run cat notes.md"
_NOTES = """**Night watch.** The ship keeps a log, and the log keeps the ship.

1. Every word is written down before anybody hears it.
2. Whoever was away reads on from the place where they left.
3. If the helmsman falls asleep, another one takes the wheel.
4. What was done is not done twice, and what was said is not lost.

In the morning the captain reads the log. *Nothing is missing.*"""
_PLAIN, _RED, _GREEN, _QUIET = "#dedede", "#ff9c8b", "#76d3ae", "#9194a0"


class Film:
    """Takes pictures, as long as it is asked to."""

    def __init__(self, page: Page, desk: Page) -> None:
        self._page, self._desk = page, desk
        self.terminal: list[tuple[str, str]] = []
        self.frames: list[Frame] = []
        self._until = time.monotonic()

    async def open(self) -> None:
        await self._desk.evaluate(Path(__file__).with_name("cutting.js").read_text())
        await self._desk.evaluate(f"globalThis.cut = cutting({WIDTH}, {HEIGHT}, {STRIP})")

    async def shot(self, ms: int | None = None) -> None:
        """One picture. It is shown until the next one, or for `ms` milliseconds."""
        taken = await self._page.screenshot(animations="allow", caret="initial")
        now = time.monotonic()
        found: dict[str, Any] | None = await self._desk.evaluate(
            "([shot, lines, quality]) => cut(shot, lines, quality)",
            [base64.b64encode(taken).decode(), self.terminal[-4:], _QUALITY],
        )
        shown = ms or round((now - self._until) * 1000)
        self._until = now
        if self.frames and (ms is None or found is None):
            self._longer(shown)
        if found is not None:
            box = {name: found[name] for name in ("x", "y", "width", "height")}
            self.frames.append(Frame(**box, ms=ms or 100, picture=base64.b64decode(found["picture"])))

    async def roll(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            await self.shot()
            await asyncio.sleep(max(0.0, began + _STEP - time.monotonic()))

    def _longer(self, ms: int) -> None:
        last = self.frames[-1]
        self.frames[-1] = Frame(last.x, last.y, last.width, last.height, max(20, ms), last.picture)


class Server:
    """`caesura serve`, as anybody starts it."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    async def start(self) -> int:
        program = Path(sys.executable).with_name("caesura")
        flags = ["--port", str(self._port), "--data-dir", str(self._folder), "--auth", "none"]
        self._process = await asyncio.create_subprocess_exec(
            str(program), "serve", *flags, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        assert self._process.stderr is not None
        while b"Ctrl-C" not in await self._process.stderr.readline():
            assert self._process.returncode is None, "the server did not start"
        return self._process.pid

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


async def main(out: Path) -> None:
    with TemporaryDirectory() as folder:
        server = Server(Path(folder))
        pid = await server.start()
        try:
            film = await _filmed(server, pid, Path(folder))
        finally:
            await server.kill()
    data = animated(WIDTH, HEIGHT + STRIP, film.frames)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    seconds = sum(frame.ms for frame in film.frames) / 1000
    print(f"{out}: {len(film.frames)} frames, {seconds:.1f} s, {len(data) / 1000:.0f} kB")


async def _filmed(server: Server, pid: int, data: Path) -> Film:
    async with chromium() as browser:
        context = await browser.new_context(locale="en-GB", viewport={"width": WIDTH, "height": HEIGHT})
        page, desk = await context.new_page(), await context.new_page()
        film = Film(page, desk)
        await film.open()
        await _act(film, page, server, pid, data)
        return film


async def _act(film: Film, page: Page, server: Server, pid: int, data: Path) -> None:
    raise NotImplementedError


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
