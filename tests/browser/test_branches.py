"""Branches of a conversation: another message, another answer, and the way back."""

import pytest
from playwright.async_api import Locator, expect

from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


def versions(person: Visitor) -> Locator:
    """‹ 2/3 › beside the first message."""
    return person.page.locator(".leaf").first.locator(".said .hop")


async def edit_first(person: Visitor, text: str) -> None:
    said = person.page.locator(".leaf").first.locator(".said")
    await said.hover()
    await said.get_by_role("button", name="Edit").click()
    await said.get_by_role("textbox", name="Edit").fill(text)
    await said.get_by_role("button", name="Send as new branch").click()
    await expect(said.locator(".bubble")).to_have_text(text)
    await person.done()


async def test_an_edited_message_begins_a_branch_and_the_old_ones_stay(alice: Visitor) -> None:
    await alice.say("echo one")
    await alice.done()
    await alice.say("echo and two")
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    await edit_first(alice, "echo uno")
    await expect(versions(alice)).to_have_text("2/2")
    await edit_first(alice, "echo eins")
    await expect(versions(alice)).to_have_text("3/3")
    assert await alice.seen() == await alice.stored() == [("echo eins", "eins")]

    await versions(alice).get_by_role("button", name="Earlier version").click()
    await expect(versions(alice)).to_have_text("2/3")
    assert await alice.seen() == await alice.stored() == [("echo uno", "uno")]
    await versions(alice).get_by_role("button", name="Earlier version").click()
    await expect(versions(alice)).to_have_text("1/3")
    both = [("echo one", "one"), ("echo and two", "and two")]
    assert await alice.seen() == await alice.stored() == both
    # A reload shows the branch that was chosen.
    await alice.page.reload()
    await expect(versions(alice)).to_have_text("1/3")
    assert await alice.seen() == both
    await versions(alice).get_by_role("button", name="Later version").click()
    await expect(versions(alice)).to_have_text("2/3")


async def test_an_answer_is_given_again_beside_the_first_one(alice: Visitor) -> None:
    await alice.say("echo once")
    await alice.done()
    first = (await alice.turns())[0]["id"]
    await alice.button("Answer again").click()
    hop = alice.answer.locator(".hop")
    await expect(hop).to_have_text("2/2")
    await alice.done()
    assert (await alice.turns())[0]["id"] != first
    assert await alice.seen() == await alice.stored() == [("echo once", "once")]
    await hop.get_by_role("button", name="Earlier version").click()
    await expect(hop).to_have_text("1/2")
    assert (await alice.turns())[0]["id"] == first
