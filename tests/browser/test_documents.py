"""Documents beside the conversation: written while one looks on, their versions, what changed."""

import pytest
from playwright.async_api import expect

from tests.api.server import Served
from tests.api.slow_storage import hold_before
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")
GREEDY = "<input id=i><script>setInterval(() => { focus(); i.focus() }, 20)</script>"


async def test_a_document_grows_beside_the_conversation_and_its_versions_are_compared(
    server: Served, alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.say("create artifact about trees")
    await alice.done()
    await alice.answer.locator(".chip", has_text="trees").click()
    panel = alice.page.get_by_role("complementary", name="Documents")
    sheet = panel.get_by_role("tabpanel")
    await expect(sheet.get_by_role("heading", name="trees")).to_be_visible()
    await expect(sheet).to_contain_text("Status: draft")

    # The panel stays open while the agent goes on: it shows the new version by itself.
    await alice.say("update artifact")
    await expect(sheet).to_contain_text("Status: reviewed")
    await expect(panel.get_by_role("radio", name="v2")).to_be_checked()
    held = hold_before(server, monkeypatch, "read", "base")
    try:
        await alice.say("rewrite artifact: # Trees\n\nOaks grow old.")
        # Its words are here before the version is stored.
        await expect(panel.get_by_role("radio", name="v3")).to_contain_text("now")
        await expect(sheet).to_contain_text("Oaks grow old.")
        stored = await alice.api.get(f"/api/v2/conversations/{alice.conversation}/artifacts")
        assert [item["version"] for item in stored.json()["artifacts"]] == [2]
    finally:
        held.release()
    await expect(panel.get_by_role("radio", name="v3")).to_contain_text("rewritten")
    await expect(panel.get_by_role("radio")).to_have_count(3)
    await panel.get_by_role("radio", name="v1").click()
    await expect(sheet).to_contain_text("Status: draft")

    await panel.get_by_role("tab", name="Changes").click()
    await panel.get_by_role("combobox", name="with").select_option("v2")
    await panel.get_by_role("combobox", name="Compare").select_option("v1")
    await panel.get_by_role("button", name="Inline").click()
    await expect(sheet.locator(".ln.del")).to_contain_text("Status: draft")
    await expect(sheet.locator(".ln.add")).to_contain_text("Status: reviewed")
    await panel.get_by_role("combobox", name="with").select_option("v3")
    await expect(sheet.locator(".ln.add").last).to_contain_text("Oaks grow old.")
    await panel.get_by_role("button", name="Side by side").click()
    await expect(sheet.locator(".hd").first).to_contain_text("v1")
    await expect(sheet.locator(".hd").last).to_contain_text("v3")
    await panel.get_by_role("tab", name="Source").click()
    await expect(sheet).to_contain_text("# Trees")
    async with alice.page.expect_download() as download:
        await panel.get_by_role("button", name="Download").click()
    path = await (await download.value).path()
    assert path.read_text() == "# Trees\n\nOaks grow old."


async def test_a_document_does_not_get_what_is_typed_beside_it(alice: Visitor) -> None:
    await alice.say("echo good day")
    await alice.done()
    body = {"id": "greedy", "title": "greedy", "content_type": "html", "content": GREEDY}
    made = await alice.api.post(f"/api/v2/conversations/{alice.conversation}/artifacts", json=body)
    assert made.status_code in (200, 201), made.text
    await alice.page.reload()
    await alice.page.locator("#docs").click()
    panel = alice.page.get_by_role("complementary", name="Documents")
    # Its code does not run before somebody wants it.
    await expect(panel.get_by_role("tabpanel")).to_contain_text("setInterval")
    assert await panel.locator("iframe").count() == 0
    await panel.get_by_role("button", name="Show preview").click()
    await expect(panel.get_by_role("alert")).to_contain_text("The preview was stopped")
    assert await panel.locator("iframe").count() == 0
    await alice.box.click()
    await alice.page.keyboard.type("a secret")
    await expect(alice.box).to_have_value("a secret")
    await alice.box.fill("")
