"""What fails a test of the page without anybody asking for it is really seen."""

import pytest
from playwright.async_api import Browser

from tests.api.server import Served
from tests.browser.axe import axe
from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_goes_wrong_in_a_page_is_noted(browser: Browser, server: Served) -> None:
    faults = Faults()
    context = await browser.new_context()
    faults.watch(context)
    page = await context.new_page()
    async with page.expect_event("console", lambda message: "401" in message.text):
        await page.goto(server.url)
    assert faults.unexpected == []
    async with page.expect_event("console", lambda message: "inline" in message.text):
        await page.evaluate("document.body.setAttribute('style', 'color: red')")
    async with page.expect_event("pageerror"):
        await page.evaluate("void setTimeout(() => { throw new Error('a script failed'); })")
    policy, script = faults.unexpected
    assert "Content Security Policy" in policy
    assert "a script failed" in script
    faults.expect("Content Security Policy")
    assert faults.unexpected == [script]
    await context.close()


async def test_a_fault_in_accessibility_is_found(visitor: MakeVisitor) -> None:
    alice = await visitor()
    assert await axe(alice.page) == []
    await alice.page.evaluate("document.querySelector('#box').labels[0].remove()")
    await alice.page.evaluate("document.querySelector('#box').removeAttribute('placeholder')")
    (found,) = await axe(alice.page)
    assert found.startswith("label: #box")
