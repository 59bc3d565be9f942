"""Where the states are: a server, a person in front of one page, and what they have said before."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import Page, ViewportSize, expect

from tests import effort
from tests.api.server import PASSWORD, Served
from tests.browser.states import texts
from tests.browser.states.crash import Crash
from tests.browser.visitor import Visitor

_PATIENCE = 60.0
_COOKIE = "caesura_session"
#: The drawn design has this window.
DESKTOP = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
#: Goes to another place of the page without a load, unless something is open that would stay open.
_MOVE = """async (path) => {
  const open = "dialog[open], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]";
  if (document.querySelector(open) || history.state?.layers) return false;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (const next of ["/-", path]) {
    sessionStorage.clear();
    history.pushState(null, "", next);
    dispatchEvent(new PopStateEvent("popstate"));
    await drawn();
  }
  return true;
}"""


@dataclass
class Stage:
    server: Served
    #: A server that asks newcomers for an invite.
    closed: Served
    #: A server that can be killed.
    crash: Crash
    visitor: Visitor
    #: The ids of the conversations, by title.
    made: dict[str, str] = field(default_factory=dict)
    #: Whether the page was loaded by the person who is signed in, and nothing broke in it since.
    loaded: bool = False
    #: What is to be undone when the state has been looked at.
    later: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def data(self) -> Path:
        """Where the server keeps its data."""
        return self.server.settings.data_dir

    @property
    def page(self) -> Page:
        return self.visitor.page

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        found = await self.visitor.api.post(f"/api/v2{path}", json=body)
        assert found.status_code < 300, found.text
        return found.json()

    async def begin(self, title: str, files: dict[str, str] | None = None, agent: str = "lead_agent") -> str:
        """A new conversation with a title and some files in its workspace."""
        made: str = (await self.post("/conversations", {"agent": agent, "title": title}))["id"]
        self.made[title] = made
        for path, content in (files or {}).items():
            self.put(made, path, content)
        return made

    def put(self, conversation: str, path: str, content: str) -> None:
        folder = self.data / "workspaces" / conversation
        folder.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)

    async def say(self, conversation: str, content: str, **more: Any) -> str:
        """Say something there. Returns the turn."""
        made: str = (await self.post(f"/conversations/{conversation}/turns", {"content": content, **more}))[
            "id"
        ]
        return made

    async def say_for_now(self, conversation: str, content: str) -> None:
        """Say something whose turn is stopped when the state has been looked at: commands wait for others of
        the same person."""
        turn = await self.say(conversation, content)
        self.later.push_async_callback(self.visitor.api.post, f"/api/v2/turns/{turn}/stop")

    async def turn(self, conversation: str) -> dict[str, Any]:
        """The newest turn of a conversation."""
        found = await self.visitor.api.get(f"/api/v2/conversations/{conversation}/snapshot")
        assert found.status_code == 200, found.text
        newest: dict[str, Any] = found.json()["turns"][-1]
        return newest

    async def until(self, conversation: str, check: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(_PATIENCE):
            while not check(turn := await self.turn(conversation)):  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        return turn

    async def ended(self, conversation: str) -> dict[str, Any]:
        return await self.until(conversation, lambda turn: turn["status"] in ("done", "failed", "stopped"))

    async def asked(self, conversation: str) -> list[dict[str, Any]]:
        """The questions that wait there."""
        turn = await self.until(conversation, lambda turn: bool(turn["interrupts"]))
        found: list[dict[str, Any]] = turn["interrupts"]
        return found

    async def answer(self, conversation: str, **answer: Any) -> None:
        """Answer the first question that waits there, from elsewhere than the page."""
        self.loaded = False  # a page that has heard of the question shows that it was answered elsewhere
        [first, *_] = await self.asked(conversation)
        await self.post(f"/interrupts/{first['id']}/answer", answer)

    async def document(self, conversation: str, id: str, kind: str, *versions: str) -> None:
        first, *later = versions
        path = f"/conversations/{conversation}/artifacts"
        title = id.replace("-", " ").capitalize()
        await self.post(path, {"id": id, "title": title, "content_type": kind, "content": first})
        for content in later:
            await self.post(f"{path}/{id}/versions", {"content": content})

    async def report(self) -> str:
        """A conversation with a document in four versions. It is made once."""
        await self.sign_in()
        if (here := self.made.get("Build speed report")) is None:
            here = await self.begin("Build speed report", {"report.md": texts.REPORT}, "free_agent")
            await self.document(here, "build-speed-report", "markdown", *texts.VERSIONS)
            args = {"id": "build-speed-report", "old": "8-core", "new": "16-core"}
            await self.say(here, f"list files then call update_artifact {json.dumps(args)}")
            await self.ended(here)
        return here

    async def fall(self) -> Crash:
        """The server that was killed. That happens once, when a state needs it."""
        if not self.crash.conversation:
            await asyncio.to_thread(self.crash.happen)
        return self.crash

    async def enter(self, name: str = "alice") -> None:
        """Somebody signs in, and sees the page of a new conversation."""
        await self.sign_in(name)
        await self.go("/")

    async def sign_in(self, name: str = "alice") -> None:
        """Somebody signs in, unless they are, and is about to open a conversation."""
        cookies = await self.page.context.cookies(self.server.url)
        if self.visitor.name == name and any(cookie.get("name") == _COOKIE for cookie in cookies):
            return
        self.loaded = False
        await self.page.context.clear_cookies()
        self.server.token(name)
        self.visitor.name, self.visitor.url = name, self.server.url
        await self.visitor.begin_session(PASSWORD)

    async def leave(self, server: Served) -> None:
        """Nobody is signed in."""
        self.loaded = False
        await self.page.context.clear_cookies()
        await self.page.goto(server.url)
        await expect(self.page.locator(".door")).to_be_visible()

    async def open(self, conversation: str) -> None:
        """Open a conversation in which the person has written nothing yet."""
        await self.go(f"/c/{conversation}")
        await self.drawn()

    async def go(self, path: str) -> None:
        """Go to a place of the page. A load takes half of the time of a state: there is one only if the last
        state needs it, or the tests are thorough."""
        here = self.loaded and not effort.thorough() and self.page.url.startswith(f"{self.server.url}/")
        if not (here and await self.page.evaluate(_MOVE, path)):
            await self.load(path)

    async def load(self, path: str) -> None:
        if self.page.url.startswith("http"):
            await self.page.evaluate("sessionStorage.clear()")
        await self.visitor.open(path)
        self.loaded = True

    def broken(self) -> None:
        """The page of this state is not used for the next one."""
        self.later.callback(setattr, self, "loaded", False)

    async def drawn(self) -> None:
        """Wait for the parts of the page that come a moment later."""
        await expect(self.page.locator(".prose.lines-kept")).to_have_count(0)
