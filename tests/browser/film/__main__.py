"""`python -m tests.browser.film OUT.webp` makes the film. Its frames are pictures of a real page at a real
server, which is really killed and started again."""

import asyncio
import base64
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.async_api import Page, expect

from tests import agent_files
from tests.browser.chromium import chromium
from tests.browser.film.webp import Frame, animated
from tests.servers.server import free_port

WIDTH, HEIGHT, STRIP = 1000, 620, 112
#: Seconds: shorter frames are left out, and the last one is shown for longer.
_STEP, _LAST = 0.1, 4.0
_QUALITY = 0.9
_ASKED = "read notes.md"
_NOTES = """**Night watch.** The ship keeps a log, and the log keeps the ship.

1. Every word is written down before anybody hears it.
2. Whoever was away reads on from the place where they left.
3. If the helmsman falls asleep, another one takes the wheel.
4. What was done is not done twice, and what was said is not lost.

In the morning the captain reads the log. *Nothing is missing.*"""
_SPEC = """
model: {primary: demo, options: {delay: 0.07, think: false}}
tools: [read_file]
"""
_PLAIN, _RED, _GREEN, _QUIET = "#dedede", "#ff9c8b", "#76d3ae", "#9194a0"


@dataclass(frozen=True)
class Shot:
    at: float
    window: str
    terminal: list[tuple[str, str]]


class Film:
    """What the page shows, as Chromium tells it whenever something has changed. `terminal` is shown below."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._terminal: list[tuple[str, str]] = []
        self._shots: list[Shot] = []

    async def roll(self) -> None:
        self._tape = await self._page.context.new_cdp_session(self._page)
        self._tape.on("Page.screencastFrame", self._seen)
        await self._tape.send("Page.startScreencast", {"format": "png"})

    def _seen(self, event: dict[str, Any]) -> None:
        self._shots.append(Shot(time.monotonic(), event["data"], self._terminal[-4:]))
        self._waiting = asyncio.ensure_future(
            self._tape.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})
        )

    def types(self, *lines: tuple[str, str]) -> None:
        """Something new in the terminal."""
        self._terminal += lines
        if self._shots:
            self._shots.append(Shot(time.monotonic(), self._shots[-1].window, self._terminal[-4:]))

    async def cut(self, desk: Page) -> list[Frame]:
        """The frames. Each has what is new in it."""
        await self._tape.send("Page.stopScreencast")
        await desk.add_script_tag(path=Path(__file__).with_name("cutting.js"))
        await desk.evaluate(f"void (globalThis.cut = cutting({WIDTH}, {HEIGHT}, {STRIP}))")
        frames: list[Frame] = []
        ends = [shot.at for shot in self._shots[1:]] + [self._shots[-1].at + _LAST]
        begin = self._shots[0].at
        for shot, end in zip(self._shots, ends, strict=True):
            if end - begin < _STEP:
                continue
            ms = round((end - begin) * 1000)
            begin = end
            found: dict[str, Any] | None = await desk.evaluate(
                "([window, lines, quality]) => cut(window, lines, quality)",
                [shot.window, shot.terminal, _QUALITY],
            )
            if found is None:
                frames[-1] = replace(frames[-1], ms=frames[-1].ms + ms)
            else:
                picture = base64.b64decode(found.pop("picture"))
                frames.append(Frame(**found, ms=ms, picture=picture))
        return frames


class Server:
    """`caesura serve`, as anybody starts it."""

    def __init__(self, folder: Path) -> None:
        self.data, self._port = folder / "data", free_port()
        # The model speaks as slowly as people read.
        self._agents = agent_files.put(folder / "agents", "assistant", _SPEC).parent
        self.url = f"http://127.0.0.1:{self._port}"

    async def start(self) -> int:
        program = Path(sys.executable).with_name("caesura")
        flags = ["--port", str(self._port), "--data-dir", str(self.data), "--auth", "none"]
        flags += ["--agents-dir", str(self._agents)]
        self._process = await asyncio.create_subprocess_exec(
            str(program), "serve", *flags, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        assert self._process.stderr is not None
        while b" is at http" not in await self._process.stderr.readline():
            assert self._process.returncode is None, "the server did not start"
        return self._process.pid

    async def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        await self._process.wait()


async def main() -> list[Frame]:
    with TemporaryDirectory() as folder:
        server = Server(Path(folder))
        pid = await server.start()
        try:
            return await _filmed(server, pid)
        finally:
            await server.kill()


def write(out: Path, frames: list[Frame]) -> None:
    data = animated(WIDTH, HEIGHT + STRIP, frames)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    seconds = sum(frame.ms for frame in frames) / 1000
    print(f"{out}: {len(frames)} frames, {seconds:.1f} s, {len(data) / 1000:.0f} kB")


async def _filmed(server: Server, pid: int) -> list[Frame]:
    async with chromium() as browser:
        context = await browser.new_context(
            locale="en-GB", viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce"
        )
        page = await context.new_page()
        film = Film(page)
        await _act(film, page, server, pid)
        return await film.cut(await context.new_page())


async def _act(film: Film, page: Page, server: Server, pid: int) -> None:
    film.types((_PLAIN, "$ caesura serve"), (_QUIET, f"Caesura is at {server.url}, process {pid}"))
    await page.goto(f"{server.url}/c/{await _conversation(server)}")
    box = page.locator("#box")
    await expect(box).to_be_focused()
    await asyncio.sleep(1)
    await film.roll()
    await asyncio.sleep(1)
    await box.press_sequentially(_ASKED, delay=60)
    await asyncio.sleep(0.5)
    await box.press("Enter")
    await expect(page.get_by_text("anybody hears")).to_be_visible()
    film.types((_PLAIN, f"$ kill -9 {pid}"), (_RED, "Killed"))
    await server.kill()
    await expect(page.locator(".keep.lost")).to_be_visible()
    await asyncio.sleep(1.5)
    film.types((_PLAIN, "$ caesura serve"))
    pid = await server.start()
    film.types((_GREEN, f"Caesura is at {server.url}, process {pid}"))
    await asyncio.sleep(0.5)
    if await (again := page.get_by_role("button", name="Try now")).count():
        await again.click()
    await expect(page.locator(".turn.done")).to_be_visible(timeout=120_000)
    await asyncio.sleep(1)


async def _conversation(server: Server) -> str:
    """A conversation with a file in it, and what the person says about it."""
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as api:
        made = await api.post("/api/v2/conversations", json={"title": "The log of the ship"})
    here: str = made.json()["id"]
    folder = server.data / "workspaces" / here
    folder.mkdir(parents=True)
    (folder / "notes.md").write_text(_NOTES)
    return here


if __name__ == "__main__":
    write(Path(sys.argv[1]), asyncio.run(main()))
