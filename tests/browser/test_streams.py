"""An answer while it streams: stopping, reloading, losing the network, several tabs, several people."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.visitor import Visitor, press

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Keeps each text that the newest answer has had on this page.
RECORD = """
  window.texts = [];
  new MutationObserver(() => {
    const parts = document.querySelectorAll(".leaf.last article > .prose");
    const text = [...parts].map((part) => part.textContent).join(" ");
    if (text !== window.texts.at(-1)) window.texts.push(text);
  }).observe(document, { subtree: true, childList: true, characterData: true });
"""
COUNT = "count to 300 think=no delay=0.01"
COUNTED = [*map(str, range(1, 301)), "done."]


async def texts(page: Page) -> list[list[str]]:
    """The words of each text that was shown."""
    found: list[str] = await page.evaluate("window.texts")
    return [text.split() for text in found]


def grows(shown: list[list[str]], whole: list[str]) -> bool:
    """Whether each text is a beginning of the whole, and none is shorter than the one before."""
    lengths = [len(words) for words in shown]
    return all(words == whole[: len(words)] for words in shown) and lengths == sorted(lengths)


async def begin(person: Visitor, message: str = COUNT) -> None:
    """Send the message, and wait for some words of the answer."""
    await person.page.evaluate(RECORD)
    await person.say(message)
    await expect(person.answer).to_contain_text("30 31 32")


async def test_an_answer_is_shown_word_by_word_and_a_reload_in_the_middle_loses_none(
    visitor: MakeVisitor,
) -> None:
    alice = await visitor()
    await alice.context.add_init_script(RECORD)
    await begin(alice)
    before = await texts(alice.page)
    assert len(before) > 3
    await alice.page.reload()
    await alice.done()
    after = await texts(alice.page)
    assert len(before[-1]) < len(COUNTED), "the answer ended before the reload"
    assert len(before[-1]) <= len(next(words for words in after if words))
    shown = [words for words in before + after if words]
    assert grows(shown, COUNTED)
    assert shown[-1] == COUNTED
    assert await alice.seen() == await alice.stored() == [(COUNT, " ".join(COUNTED))]


async def test_after_the_network_was_away_the_missing_words_come(
    visitor: MakeVisitor, faults: Faults
) -> None:
    faults.expect("ERR_INTERNET_DISCONNECTED")
    alice = await visitor()
    await begin(alice)
    await alice.context.set_offline(True)
    await expect(alice.keep).to_contain_text("Connection lost, nothing else.")
    await expect(alice.page.locator("article.turn.lost")).to_be_visible()
    lost = (await texts(alice.page))[-1]
    assert len(lost) < len(COUNTED)
    await alice.box.fill("a draft that I write meanwhile")
    await alice.context.set_offline(False)
    await alice.done()
    await expect(alice.keep).to_contain_text("none lost")
    await expect(alice.box).to_have_value("a draft that I write meanwhile")
    shown = [words for words in await texts(alice.page) if words]
    assert grows(shown, COUNTED)
    assert await alice.seen() == await alice.stored() == [(COUNT, " ".join(COUNTED))]


async def test_a_stopped_answer_keeps_its_words_and_can_be_tried_again(alice: Visitor) -> None:
    await begin(alice, "count to 3000 think=no delay=0.01")
    await alice.button("Stop").click()
    await expect(alice.keep).to_contain_text("Stopped. What was said is kept.")
    over = alice.answer.locator(".over")
    await expect(over).to_contain_text("You stopped here")
    assert await alice.seen() == await alice.stored()
    assert (await alice.turns())[0]["status"] == "stopped"
    await alice.button("Try again").click()
    await expect(over).to_have_count(0)
    await expect(alice.keep).to_contain_text("Runs on the server.")
    await alice.page.keyboard.press("Escape")
    await expect(over).to_contain_text("You stopped here")
    assert await alice.seen() == await alice.stored()


async def test_two_tabs_of_one_person_show_the_same(visitor: MakeVisitor, faults: Faults) -> None:
    # A tab may tell how far it has read while the other one deletes the conversation.
    faults.expect(r"status of 404 .*/read$")
    alice = await visitor()
    await alice.say("echo good day")
    await alice.done()
    other = await alice.tab(f"/c/{alice.conversation}")
    there = Visitor(alice.name, alice.url, alice.context, other, alice.api)
    await there.done()
    # The first tab is behind the other one now, and still learns everything.
    await alice.say("write a.txt: hello")
    await alice.asked("Write a file?")
    ask = await there.asked("Write a file?")
    await expect(other).to_have_title("(1) echo good day · Caesura")
    await press(ask.get_by_role("button", name="Approve"))
    await expect(other.locator("article.turn.done")).to_have_count(2)
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    await expect(alice.page.locator(".ask.closed")).to_contain_text("Already answered elsewhere: approved")
    assert await there.seen() == await alice.seen() == await alice.stored()

    await there.page.get_by_role("link", name="New conversation").click()
    await there.say("echo another one")
    await there.done()
    row = alice.page.locator(".row.conv", has_text="echo another one")
    await expect(row).to_be_visible()
    await row.hover()
    await row.get_by_role("button", name="More").click()
    await alice.page.get_by_role("menuitem", name="Delete").click()
    await alice.page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    await expect(other.get_by_role("heading", name="There is no such conversation")).to_be_visible()


async def test_nobody_sees_what_belongs_to_another_person(visitor: MakeVisitor, faults: Faults) -> None:
    faults.expect("status of 404 .*/snapshot")
    alice, bob = await visitor(), await visitor()
    await alice.say("write secret.txt: mine")
    await alice.asked("Write a file?")
    await expect(alice.page).to_have_title("(1) write secret.txt · Caesura")
    await bob.open(f"/c/{alice.conversation}")
    await expect(bob.page.get_by_role("heading", name="or it is not yours")).to_be_visible()
    await bob.open("/inbox")
    await expect(bob.page.get_by_role("heading", name="Nothing waits for you.")).to_be_visible()
    # Something of his own comes, and only that.
    await bob.open("/")
    await bob.say("echo mine alone")
    await bob.done()
    await expect(bob.page.locator(".row.conv .t")).to_have_text(["echo mine alone"])
    assert "secret" not in await bob.page.content()
    await expect(alice.page.locator(".row.conv .t")).to_have_text(["write secret.txt"])


async def test_thoughts_say_how_long_they_took_also_after_a_reload(alice: Visitor) -> None:
    await alice.say("think about trees")
    await alice.done()
    title = alice.answer.locator(".think summary")
    await expect(title).to_have_text(re.compile(r"^Thought for \d+ s$"))
    told = await title.inner_text()
    await alice.page.reload()
    await expect(title).to_have_text(told)
