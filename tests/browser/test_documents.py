"""Documents beside the conversation: written while one looks on, their versions, what changed."""

import pytest
from playwright.async_api import expect

from tests.api.slow_model import hold_words
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")
GREEDY = "<input id=i><script>setInterval(() => { focus(); i.focus() }, 20)</script>"

#: Long enough to come word by word.
TREES = """# Trees

Oaks grow old, and many of them are older than the houses around them.

Then beeches, which keep their leaves in winter until the new ones push them off.

Last willows, which grow beside water and want nothing else."""


async def test_a_document_grows_beside_the_conversation_and_its_versions_are_compared(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The example of a new conversation: its document opens by itself, although it is written within a moment.
    await alice.button("Write a document").click()
    panel = alice.page.get_by_role("complementary", name="Documents")
    sheet = panel.get_by_role("tabpanel")
    await expect(sheet.get_by_role("heading", name="trees")).to_be_visible()
    await expect(sheet).to_contain_text("Status: draft")
    await alice.done()

    # The panel stays open while the agent goes on: it shows the new version by itself.
    await alice.say("update artifact")
    await expect(sheet).to_contain_text("Status: reviewed")
    await expect(panel.get_by_role("radio", name="v2")).to_be_checked()
    first, second = hold_words(monkeypatch, "beeches", "willows")
    try:
        # It grows while the model writes it, long before there is a version.
        await alice.say(f"rewrite artifact: {TREES}")
        await expect(panel.get_by_role("radio", name="v3")).to_contain_text("now")
        await expect(sheet).to_contain_text("Oaks grow old, and many of them are older")
        await expect(sheet).not_to_contain_text("beeches")
        await expect(panel.get_by_role("checkbox", name="Follow")).to_be_checked()
        await expect(alice.answer.locator(".tool", has_text="being written")).to_be_visible()
        first.release()
        await expect(sheet).to_contain_text("beeches, which keep their leaves in winter")
        await expect(sheet).not_to_contain_text("willows")
        # A page that is opened in the middle has what was written so far, and goes on with it.
        await alice.page.reload()
        await expect(panel.get_by_role("radio", name="v3")).to_contain_text("now")
        await expect(sheet).to_contain_text("beeches, which keep their leaves in winter")
        await expect(sheet).not_to_contain_text("willows")
        stored = await alice.api.get(f"/api/v2/conversations/{alice.conversation}/artifacts")
        assert [item["version"] for item in stored.json()["artifacts"]] == [2]
    finally:
        first.release()
        second.release()
    await expect(sheet).to_contain_text("Last willows, which grow beside water and want nothing else.")
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
    await expect(sheet.locator(".ln.add").last).to_contain_text("Last willows")
    await panel.get_by_role("button", name="Side by side").click()
    await expect(sheet.locator(".hd").first).to_contain_text("v1")
    await expect(sheet.locator(".hd").last).to_contain_text("v3")
    await panel.get_by_role("tab", name="Source").click()
    await expect(sheet).to_contain_text("# Trees")
    async with alice.page.expect_download() as download:
        await panel.get_by_role("button", name="Download").click()
    path = await (await download.value).path()
    assert path.read_text() == TREES


async def test_a_new_document_and_a_file_are_seen_before_they_exist(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = "trees that grow in the north of the country and in the south of it"
    (held,) = hold_words(monkeypatch, "Written")
    try:
        await alice.say(f"create artifact about {topic}")
        # It opens by itself, and what the person types still goes to the message.
        panel = alice.page.get_by_role("complementary", name="Documents")
        await expect(panel.get_by_role("heading", name=topic).first).to_be_visible()
        await expect(panel.get_by_role("tabpanel")).to_contain_text("grow in the north of the country")
        await expect(panel.get_by_role("tabpanel")).not_to_contain_text("Written")
        await expect(alice.box).to_be_focused()
    finally:
        held.release()
    await expect(panel.get_by_role("radio", name="v1")).to_contain_text("created")
    await expect(panel.get_by_role("tabpanel")).to_contain_text("Written by rules.")
    await alice.done()

    (held,) = hold_words(monkeypatch, "willows")
    try:
        await alice.say(f"write trees.md: {TREES}")
        row = alice.answer.locator(".tool", has_text="being written")
        await expect(row).to_contain_text("trees.md")
        await expect(alice.ask).to_have_count(0)
        await row.locator("summary").click()
        await expect(row).to_contain_text("beeches, which keep")
    finally:
        held.release()
    # Nothing is written without consent, whatever was seen before.
    await expect(alice.ask).to_contain_text("trees.md")


async def test_a_replacement_is_seen_in_its_place_while_it_is_written(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await alice.say("create artifact about trees")
    await alice.done()
    panel = alice.page.get_by_role("complementary", name="Documents")
    await alice.answer.locator(".chip", has_text="trees").click()
    await panel.get_by_role("button", name="Close").click()
    sheet = panel.get_by_role("tabpanel")
    (held,) = hold_words(monkeypatch, "willows")
    try:
        await alice.say(f"update artifact: Status: draft => {TREES}")
        await expect(sheet.locator("del")).to_have_text("Status: draft")
        await expect(sheet.locator("ins")).to_contain_text("beeches, which keep their leaves in winter")
        await expect(sheet.locator("ins")).not_to_contain_text("willows")
        await expect(sheet).to_contain_text("Written by rules.")
        # Whoever closes it is left alone for the rest of the turn; a chip offers it.
        await panel.get_by_role("button", name="Close").click()
        await expect(panel).to_have_count(0)
        await alice.answer.locator(".chip", has_text="writing v2").click()
        await expect(sheet.locator("del")).to_have_text("Status: draft")
    finally:
        held.release()
    await expect(panel.get_by_role("radio", name="v2")).to_contain_text("updated")
    await expect(sheet.locator("del")).to_have_count(0)
    await expect(sheet).to_contain_text("Last willows, which grow beside water")
    await alice.done()
    await alice.page.reload()
    # The answer names the version that it made, also when there is a newer one.
    await alice.say("rewrite artifact: all new")
    await alice.done()
    chips = alice.page.locator(".chip", has_text="trees")
    await expect(chips.nth(1)).to_contain_text("v2")
    await expect(chips.nth(2)).to_contain_text("v3")


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
    await expect(panel.get_by_role("button", name="Show preview")).to_be_visible()
    await expect(panel.locator("iframe")).to_have_count(0)
    assert await panel.locator("iframe").count() == 0
    await panel.get_by_role("button", name="Show preview").click()
    await expect(panel.locator(".offer")).to_contain_text("Shown without its scripts")
    await panel.get_by_role("button", name="Run scripts").click()
    # Whoever runs it uses it. It must not take the focus again after they have left it.
    await expect(panel.locator("iframe")).to_be_focused()
    await alice.box.click()
    await expect(panel.get_by_role("alert")).to_contain_text("The preview was stopped")
    assert await panel.locator("iframe").count() == 0
    await alice.box.click()
    await alice.page.keyboard.type("a secret")
    await expect(alice.box).to_have_value("a secret")
    await alice.box.fill("")
