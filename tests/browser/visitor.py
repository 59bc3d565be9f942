"""A person in front of the page: what they do, what they see, and what the server has of it."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
from playwright.async_api import BrowserContext, Locator, Page, TimeoutError, expect

#: The marks of code and of lists.
_MARKS = re.compile(r"`|^- ", re.MULTILINE)
_BLANKS = re.compile(r"\s+")


@dataclass
class Visitor:
    """`page` is the tab in which they are. `api` reads the same things without a page, in their name."""

    name: str
    url: str
    context: BrowserContext
    page: Page
    api: httpx.AsyncClient

    async def sign_in(self, password: str) -> None:
        """Sign in without the form, which is quicker, and open the page."""
        await self.begin_session(password)
        await self.open("/")

    async def begin_session(self, password: str) -> None:
        """Sign in, and leave the page as it is."""
        body = {"username": self.name, "password": password}
        begun = await self.context.request.post(f"{self.url}/api/auth/session", data=body)
        assert begun.ok, await begun.text()

    async def open(self, path: str) -> None:
        await self.page.goto(f"{self.url}{path}")
        await expect(self.page.locator(".app")).to_be_visible()

    async def tab(self, path: str) -> Page:
        """Another tab of the same browser."""
        page = await self.context.new_page()
        await page.goto(f"{self.url}{path}")
        return page

    @property
    def box(self) -> Locator:
        """Where they write."""
        return self.page.locator("#box")

    @property
    def keep(self) -> Locator:
        """The line that says what is safe."""
        return self.page.locator(".keep")

    @property
    def ask(self) -> Locator:
        """What waits for them in the conversation."""
        return self.page.locator("section.ask")

    @property
    def answer(self) -> Locator:
        """The newest answer."""
        return self.page.locator(".leaf.last article.turn")

    @property
    def conversation(self) -> str:
        """The id of the open conversation."""
        found = re.search(r"/c/([^/?#]+)", self.page.url)
        assert found, self.page.url
        return found[1]

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name)

    async def say(self, text: str) -> None:
        # While an answer is written, the message stays in the box.
        await expect(self.page.locator(".keep.running")).to_have_count(0)
        await self.box.fill(text)
        await self.send()
        await expect(self.page.locator(".said .bubble").last).to_have_text(text)

    async def send(self) -> None:
        """Send what is in the box. The page does not in the moment in which an answer ends."""
        await expect(self.page.locator(".go[aria-disabled]")).to_have_count(0)
        await self.box.press("Enter")

    async def choose_agent(self, name: str) -> None:
        await self.page.locator(".picker").click()
        await self.page.get_by_role("option", name=name).click()

    async def done(self) -> None:
        """Wait until the newest answer has ended well."""
        await expect(self.page.locator(".leaf.last article.turn.done")).to_be_visible()

    async def asked(self, title: str) -> Locator:
        """Wait for a question with this heading."""
        found = self.page.get_by_role("group", name=title)
        await expect(found).to_be_visible()
        return found

    async def seen(self) -> list[tuple[str, str]]:
        """The conversation on the screen: what they said and what was answered, turn by turn."""
        found = await self.page.evaluate(
            """() => {
              // What stands above a piece of code is no part of the answer.
              const words = (text) => [...text.querySelectorAll(".code > header")]
                .reduce((all, head) => all.replace(head.innerText, ""), text.innerText);
              return [...document.querySelectorAll(".leaf")].map((leaf) => [
                leaf.querySelector(".bubble")?.textContent ?? "",
                [...leaf.querySelectorAll("article > .prose")].map(words).join(" "),
              ]);
            }"""
        )
        return [(plain(said), plain(answer)) for said, answer in found]

    async def stored(self, conversation: str | None = None) -> list[tuple[str, str]]:
        """The same conversation as the server has it."""
        turns = await self.turns(conversation)
        return [(plain(turn["content"]), plain(" ".join(spoken(turn)))) for turn in turns]

    async def turns(self, conversation: str | None = None) -> list[dict[str, Any]]:
        """The turns of the active branch."""
        path = f"/api/v2/conversations/{conversation or self.conversation}/snapshot"
        found = await self.api.get(path)
        assert found.status_code == 200, found.text
        turns: list[dict[str, Any]] = found.json()["turns"]
        return turns


async def press(button: Locator) -> None:
    """Press a button that answers a question, until it is gone. The page ignores a click on a question that
    has just moved, as it does when a test scrolls to its button."""
    handle = await button.element_handle()
    assert handle is not None
    for _ in range(20):
        await handle.click()
        with suppress(TimeoutError):
            await handle.wait_for_element_state("hidden", timeout=2000)
            return
    raise AssertionError("the question took no answer")


async def press_until(button: Locator, shown: Locator) -> None:
    """Press a button that stays, until the page shows what it leads to: the first click may be ignored."""
    for _ in range(20):
        await button.click()
        with suppress(TimeoutError):
            await shown.wait_for(timeout=2000)
            return
    raise AssertionError("the question took no click")


def spoken(turn: dict[str, Any]) -> list[str]:
    """What the agent itself said in a turn."""
    own = [item for item in turn["messages"] if item["role"] == "assistant" and item["parent"] is None]
    return [item["content"] for item in own]


def plain(text: str) -> str:
    """A text without what markdown hides."""
    return _BLANKS.sub(" ", _MARKS.sub("", text)).strip()
