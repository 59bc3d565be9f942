"""A conversation of 3,000 messages."""

import pytest
from playwright.async_api import CDPSession, Page, expect
from sqlalchemy import Connection

from caesura.core.messages import Message
from caesura.core.notes import About
from caesura.store import conversations, life
from tests.api.server import Served
from tests.browser.conftest import MakeVisitor
from tests.conformance.rows import settled

pytestmark = pytest.mark.asyncio(loop_scope="session")
TURNS = 1500
SHORT = 30
#: So many groups of 16 turns are scrolled through, from the last one upwards.
GROUPS = 30
#: More turns than before have been loaded.
MORE = "(before) => document.querySelectorAll('.chunk').length > before"
#: The messages in the window follow each other, and are older than this one.
FOLLOW = """(most) => {
  const seen = [...document.querySelectorAll(".bubble")]
    .filter((said) => {
      const { top, bottom } = said.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    })
    .map((said) => Number(said.textContent.split(" ")[1]));
  return seen.length > 1 && seen.every((number, at) => number < most && number === seen[0] + at);
}"""
#: What is far from the window is not drawn, and is dropped a moment after it was scrolled away.
FEW = "(most) => document.getElementsByTagName('*').length < most"


def tell(connection: Connection, name: str, person: str, count: int) -> None:
    conversations.create(connection, name, person, "assistant")
    for number in range(1, count + 1):
        new = life.New(name, f"question {number}", owner="test", lease_ms=60_000)
        answer = Message(
            "assistant", f"Answer **{number}**.\n\nA second paragraph with `code`.\n\n- one\n- two"
        )
        life.settle(connection, [settled(life.create(connection, new), "done", answer)])


async def work(session: CDPSession) -> float:
    """The seconds of processor time that the page has taken so far."""
    found = await session.send("Performance.getMetrics")
    return float(next(item["value"] for item in found["metrics"] if item["name"] == "TaskDuration"))


async def nodes(page: Page) -> int:
    found: int = await page.evaluate("document.getElementsByTagName('*').length")
    return found


async def test_3000_messages_open_like_60_and_can_be_scrolled(server: Served, visitor: MakeVisitor) -> None:
    alice = await visitor()
    server.call(server.database.write(tell, "long", alice.name, TURNS))
    server.call(server.database.write(tell, "short", alice.name, SHORT))
    page = alice.page
    await page.reload()
    session = await alice.context.new_cdp_session(page)
    await session.send("Performance.enable")
    taken: dict[str, float] = {}
    for name, last in (("short", SHORT), ("long", TURNS), ("short", SHORT), ("long", TURNS)):
        began = await work(session)
        await page.locator(f".row.conv a[href$='/c/{name}']").click()
        await expect(alice.answer.locator("strong")).to_have_text(str(last))
        taken[name] = min(taken.get(name, 60.0), await work(session) - began)
    assert 0 < taken["long"] < 3 * taken["short"]

    opened = await nodes(page)
    groups = page.locator(".chunk")
    while (loaded := await groups.count()) < GROUPS:
        await page.locator("#scroll").evaluate("(box) => { box.scrollTop = 0; }")
        await page.wait_for_function(MORE, arg=loaded)
    await page.wait_for_function(FOLLOW, arg=TURNS - 16 * GROUPS // 2)
    await page.wait_for_function(FEW, arg=3 * opened)
    await page.get_by_role("button", name="Latest").click()
    await expect(alice.answer.locator("strong")).to_be_in_viewport()
    await page.wait_for_function(FEW, arg=3 * opened)


def _cut(connection: Connection, name: str, person: str) -> str:
    """A conversation of four turns, of which the model was shown the last two."""
    conversations.create(connection, name, person, "assistant")
    told: list[str] = []
    for number in range(1, 5):
        turn = life.create(connection, life.New(name, f"question {number}", owner="test", lease_ms=60_000))
        told.append(turn.id)
        about = About("demo", context_from=told[2] if number > 3 else None)
        row = settled(turn, "done", Message("assistant", f"Answer **{number}**."))._replace(about=about)
        life.settle(connection, [row])
    return told[2]


async def test_a_line_says_from_which_turn_on_the_model_reads(server: Served, visitor: MakeVisitor) -> None:
    alice = await visitor()
    first = server.call(server.database.write(_cut, "cut", alice.name))
    page = alice.page
    await page.reload()
    await page.locator(".row.conv a[href$='/c/cut']").click()
    await expect(alice.answer.locator("strong")).to_have_text("4")
    line = page.locator("[data-begins]")
    await expect(line).to_have_text("The model reads from here on")
    await expect(page.locator(f".leaf[data-turn='{first}'] [data-begins]")).to_be_visible()
    assert await line.count() == 1
    await alice.say("echo short")
    await expect(alice.answer).to_contain_text("short")
    await expect(line).to_have_count(0)
