"""What a proxy or a browser may take from a person: a response, and the place where texts are kept."""

import pytest
from playwright.async_api import Dialog, Route, expect

from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults

pytestmark = pytest.mark.asyncio(loop_scope="session")

_FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
_FULL_FOR_ALL_TABS = """(() => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (name, value) {
    if (this === localStorage) throw new DOMException("full", "QuotaExceededError");
    set.call(this, name, value);
  };
})()"""


async def test_a_message_whose_response_is_a_proxys_error_page_arrives_once(
    visitor: MakeVisitor, faults: Faults
) -> None:
    faults.expect("status of 404")
    alice = await visitor()
    await alice.say("echo before")
    await alice.done()
    keys = []

    async def replace(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        await route.fetch()
        await route.fulfill(status=404, body="<html>blocked</html>", content_type="text/html")

    await alice.page.route("**/turns", replace)
    await alice.say("echo once")
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    await expect(alice.box).to_have_value("")
    await expect(alice.keep).to_contain_text("Every word is kept.")
    assert len(set(keys)) == 1
    assert await alice.seen() == await alice.stored() == [("echo before", "before"), ("echo once", "once")]


async def test_a_browser_that_stores_nothing_says_so_and_asks_before_it_loses_a_text(
    visitor: MakeVisitor,
) -> None:
    alice = await visitor()
    asked: list[str] = []

    async def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.accept()

    await alice.context.add_init_script(_FULL)
    await alice.open("/")
    await expect(alice.keep).to_contain_text("Every word is kept.")
    await alice.box.press_sequentially("precious")
    await expect(alice.keep).to_contain_text("This browser cannot store what you write.")
    alice.page.on("dialog", stay)
    await alice.page.reload()
    await expect(alice.box).to_have_value("")
    assert asked == ["beforeunload"]


async def test_a_text_that_only_this_tab_can_keep_survives_a_reload_and_the_browser_asks_before_it_is_lost(
    visitor: MakeVisitor,
) -> None:
    alice = await visitor()
    await alice.open("/")
    await alice.box.press_sequentially("old")
    await alice.page.reload()
    await expect(alice.box).to_have_value("old")
    await alice.context.add_init_script(_FULL_FOR_ALL_TABS)
    await alice.page.evaluate(_FULL_FOR_ALL_TABS)
    await alice.box.press("End")
    await alice.box.press_sequentially(" and new")
    await expect(alice.keep).to_contain_text("This browser cannot store what you write.")
    asked: list[str] = []

    async def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.accept()

    alice.page.on("dialog", leave)
    await alice.page.reload()
    await expect(alice.box).to_have_value("old and new")
    await expect(alice.keep).to_contain_text("This browser cannot store what you write.")
    assert asked == ["beforeunload"]
    fresh = await alice.context.new_page()
    await fresh.goto(alice.page.url)
    await expect(fresh.locator("#box")).to_have_value("")
