"""The same page in Chinese, in the dark and on a phone."""

import pytest
from playwright.async_api import Page, expect

from tests.api.server import PASSWORD, Served
from tests.browser.axe import axe
from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.picture import picture
from tests.browser.visitor import press

pytestmark = pytest.mark.asyncio(loop_scope="session")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
#: Boxes that scroll sideways by themselves, such as code and tables, and names that end in dots are meant so.
WIDE = """() => {
  const meant = (box) => {
    for (let at = box; at; at = at.parentElement) {
      if (at.matches("pre, table, .track, .tabs")) return true;
      if (getComputedStyle(at).textOverflow === "ellipsis") return true;
    }
    return false;
  };
  const moves = (box) => box.scrollWidth > box.clientWidth + 1;
  const beyond = (box) => box.getBoundingClientRect().right > innerWidth + 1;
  const parts = document.querySelectorAll(".main, .scroll, .col, .door, .panel, .ask");
  const boxes = [document.documentElement, ...parts];
  const cut = [...document.body.querySelectorAll("*")].filter((box) => beyond(box) && !meant(box));
  return [...boxes.filter(moves), ...cut]
    .map((box) => `${box.tagName}.${box.className}: ${box.scrollWidth} in ${box.clientWidth}`);
}"""


async def sideways(page: Page) -> list[str]:
    """What is cut off at the right, or moves sideways under a finger."""
    found: list[str] = await page.evaluate(WIDE)
    return found


async def test_a_person_with_a_chinese_browser_uses_it_in_chinese(
    server: Served, stranger: MakeVisitor
) -> None:
    wei = await stranger("wei", locale="zh-CN")
    wei.api.headers.update(server.headers("wei"))
    page = wei.page
    await page.goto(wei.url)
    await page.get_by_label("用户名").fill("wei")
    await page.get_by_label("密码").fill(PASSWORD)
    await page.get_by_role("button", name="登录").click()
    await expect(page.get_by_role("heading", name="从哪里开始？")).to_be_visible()
    await page.get_by_role("button", name="批准一步操作").click()
    ask = await wei.asked("写入文件？")
    await expect(wei.keep).to_contain_text("已暂停，等你回答")
    await ask.get_by_role("button", name="批准").click()
    await wei.done()
    assert "已完成" in (await wei.seen())[0][1]
    assert await wei.seen() == await wei.stored()
    assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
    await page.get_by_role("button", name="wei").click()
    await page.get_by_role("button", name="English").click()
    await expect(wei.keep).to_contain_text("Every word is kept.")
    await page.reload()
    await expect(wei.keep).to_contain_text("Every word is kept.")


async def test_a_dark_system_gets_a_dark_page_until_the_person_chooses(visitor: MakeVisitor) -> None:
    alice = await visitor(color_scheme="dark")
    page = alice.page
    ground = (
        "(() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number))()"
    )
    assert max(await page.evaluate(ground)) < 60
    await alice.say("show markdown")
    await alice.done()
    assert await axe(page) == []
    await picture(page, "flow-dark")
    await page.get_by_role("button", name=alice.name).click()
    await page.get_by_role("button", name="Light").click()
    assert min(await page.evaluate(ground)) > 200
    await page.reload()
    await alice.done()
    assert min(await page.evaluate(ground)) > 200
    assert await axe(page) == []


async def test_nothing_moves_sideways_on_a_phone(server: Served, stranger: MakeVisitor) -> None:
    server.token("philippa")
    paula = await stranger("philippa", **PHONE)
    page = paula.page
    await page.goto(paula.url)
    await expect(page.get_by_label("Username")).to_be_visible()
    assert await sideways(page) == []
    await paula.sign_in(PASSWORD)
    await expect(page.get_by_role("heading", name="Where shall we begin?")).to_be_visible()
    assert await sideways(page) == []
    await paula.box.fill("show markdown")
    await paula.button("Send").tap()
    await paula.done()
    assert await sideways(page) == []
    long = "x" * 300
    await paula.box.fill(f"write {long[:80]}/{long}.txt: {long}")
    await paula.button("Send").tap()
    ask = await paula.asked("Write a file?")
    assert await sideways(page) == []
    await picture(page, "flow-phone-approval")
    conversation = paula.conversation
    await paula.open("/inbox")
    await expect(page.locator(".inbox-list").get_by_role("button", name="Approve")).to_be_visible()
    assert await sideways(page) == []
    await paula.open(f"/c/{conversation}")
    await ask.get_by_role("button", name="Refuse").tap()
    await press(ask.get_by_role("button", name="Refuse"))
    await paula.done()
    assert await sideways(page) == []
    await paula.box.fill("create artifact about trees")
    await paula.button("Send").tap()
    await page.locator(".chip").tap()
    await expect(page.get_by_role("tabpanel")).to_contain_text("Status: draft")
    assert await sideways(page) == []
    # Back closes what covers the conversation, before it leaves it.
    panel = page.get_by_role("complementary", name="Documents")
    await page.go_back()
    await expect(panel).to_have_count(0)
    await page.locator(".chip").tap()
    await panel.get_by_role("button", name="Close").tap()
    await page.get_by_role("button", name="Open sidebar").tap()
    await expect(page.get_by_role("link", name="Inbox")).to_be_visible()
    assert await sideways(page) == []
    await page.go_back()
    await expect(page.locator(".drawer-scrim")).to_have_count(0)
    await page.get_by_role("button", name="Open sidebar").tap()
    await page.get_by_role("link", name="Inbox").tap()
    await expect(page.get_by_role("heading", name="Nothing waits for you.")).to_be_visible()
    assert await sideways(page) == []
    await page.go_back()
    await expect(page.locator(".said .bubble").last).to_have_text("create artifact about trees")
    assert paula.conversation == conversation
    await expect(page.locator(".drawer-scrim")).to_have_count(0)


async def test_an_address_that_nothing_knows_says_so_and_leads_home(
    stranger: MakeVisitor, faults: Faults
) -> None:
    faults.expect(r"status of 404 .*/settings$")
    lost = await stranger("lost")
    page = lost.page
    found = await page.goto(f"{lost.url}/settings")
    assert found is not None
    assert found.status == 404
    await expect(page.get_by_role("heading", name="Nothing is here.")).to_be_visible()
    await page.get_by_role("link", name="Go home").click()
    await expect(page.get_by_label("Username")).to_be_focused()
