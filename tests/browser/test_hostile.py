"""Answers and addresses that were made to harm the page."""

import pytest
from playwright.async_api import expect
from sqlalchemy import Connection

from caesura.core.messages import Message
from caesura.store import conversations, life
from tests.api.server import Served
from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.visitor import Visitor
from tests.conformance.rows import settled

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: A large square that would be drawn above its line, over what was said before.
COVER = 2 * r"\color{red}{\rule[2em]{20em}{20em}}" + r"\raisebox{-9em}{\colorbox{red}{x}}"
#: Whether each message is what a pointer finds in its middle.
SEEN = """(said) => said.map((element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
})"""
#: Whether a formula keeps what it paints within its own box.
KEPT = "(formula) => getComputedStyle(formula).overflow === 'clip'"

#: Where each character of an element stands, from the left.
PLACES = """(element) => {
  const range = document.createRange();
  const found = [];
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    for (let at = 0; at < node.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      found.push(range.getBoundingClientRect().left);
    }
  return found;
}"""


def tell(connection: Connection, name: str, person: str) -> None:
    conversations.create(connection, name, person, "assistant")
    for answer in ("Words.", f"x ${COVER}$ and $a^2$"):
        new = life.New(
            name,
            "Something that the person said, which is as wide as it can be.",
            owner="test",
            lease_ms=60_000,
        )
        life.settle(connection, [settled(life.create(connection, new), "done", Message("assistant", answer))])


async def test_a_formula_covers_nothing_that_somebody_else_said(server: Served, visitor: MakeVisitor) -> None:
    alice = await visitor()
    server.call(server.database.write(tell, "covered", alice.name))
    page = alice.page
    await page.goto(f"{alice.url}/c/covered")
    await expect(page.locator("math")).to_have_count(2)
    assert await page.locator(".bubble").evaluate_all(SEEN) == [True, True]
    assert await page.locator(".formula-among").first.evaluate(KEPT)


@pytest.mark.parametrize("name", ["constructor", "__proto__"])
async def test_an_id_may_be_a_name_that_every_object_has(
    visitor: MakeVisitor, faults: Faults, name: str
) -> None:
    faults.expect(rf"status of 404 .*/{name}/")
    alice = await visitor()
    await alice.page.goto(f"{alice.url}/c/{name}")
    await expect(alice.page.get_by_text("There is no such conversation")).to_be_visible()


async def test_what_is_approved_stands_in_the_order_of_its_characters(alice: Visitor) -> None:
    """Letters from the right would make `cat א > ב` look like `cat ב < א`."""
    await alice.say("write hello.py: cat א > ב")
    ask = await alice.asked("Write a file?")
    line = ask.locator(".ln.add > :nth-child(3)")
    await expect(line).to_have_text("cat א > ב")
    places = await line.evaluate(PLACES)
    assert places == sorted(places)
    await ask.get_by_role("button", name="Edit").click()
    field = ask.get_by_label("content")
    await expect(field).to_have_value("cat א > ב")
    assert await field.evaluate("(field) => getComputedStyle(field).unicodeBidi") == "isolate-override"
    await ask.get_by_role("button", name="Back").click()
