"""Tool calls of a graph with LangChain's middleware, which a person reviews on the page."""

import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Locator, expect

from tests.browser.axe import axe
from tests.browser.conftest import MakeVisitor
from tests.browser.picture import picture
from tests.browser.test_screens import sideways
from tests.browser.visitor import Visitor, press
from tests.graphs.conftest import serving
from tests.graphs.servers import Server

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def mailroom(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("operator")) as server:
        yield server


async def _one(person: Visitor, number: int) -> Locator:
    """One of several questions, unfolded."""
    found = person.ask.locator("details[data-ask]").nth(number)
    await expect(found).to_have_attribute("open", "")
    return found


async def test_what_a_person_decided_is_told_in_the_row_and_in_one_line(
    mailroom: Server, guest: MakeVisitor
) -> None:
    local = await guest(mailroom.url)
    await local.open("/")
    await local.choose_agent("mailroom")
    await local.say("mail bob and mail eve and delete 7")
    await expect(local.ask).to_be_visible()
    ask = await _one(local, 0)
    await ask.get_by_role("button", name="Edit").click()
    await ask.get_by_label("to").fill("ben")
    await press(ask.get_by_role("button", name="Approve with changes"))
    ask = await _one(local, 0)
    await ask.get_by_role("button", name="Answer instead").click()
    await ask.get_by_role("textbox").fill("she knows it already")
    await press(ask.get_by_role("button", name="Send"))
    ask = await _one(local, 0)
    await ask.get_by_role("button", name="Refuse").click()
    await ask.get_by_role("textbox").fill("it is still needed")
    await press(ask.get_by_role("button", name="Refuse"))
    await local.done()
    rows = local.answer.locator("details.tool > summary")
    await expect(rows.nth(0)).to_have_text(re.compile("^send_mailbenedited by you"))
    await expect(rows.nth(1)).to_have_text("send_maileveanswered by you")
    await expect(rows.nth(2)).to_have_text("delete_mail7refused")
    await expect(local.answer.locator(".fail")).to_have_count(0)
    await expect(local.answer.locator(".tool-sub")).to_have_text(
        ["You answered: “she knows it already”", "You refused: “it is still needed”"]
    )
    decided = (
        "you approved with changes: send_mail ben · you answered: send_mail eve · you refused: delete_mail 7"
    )
    await expect(local.answer.locator(".note")).to_contain_text(decided)
    assert mailroom.outbox() == ["mail ben hello"]
    assert await axe(local.page) == []
    # The line below the reply names the graph's own model at once.
    await expect(local.answer.locator(".acts .num")).to_have_text(re.compile(r"^gpt-4o-mini · \d\d:\d\d$"))
    await picture(local.page, "reviewed-done")
    await rows.nth(1).click()
    await expect(local.answer.locator(".io h4")).to_have_text(["Input", "Your answer"])
    await picture(local.page, "reviewed-open")
    await local.page.reload()
    await expect(local.answer.locator(".note")).to_contain_text(decided)
    await local.page.set_viewport_size({"width": 390, "height": 844})
    assert await sideways(local.page) == []
    await picture(local.page, "reviewed-phone")
