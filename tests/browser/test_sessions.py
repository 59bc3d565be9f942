"""Coming and going: registering, the first conversation, an expired session, signing out, keys alone."""

import pytest
from playwright.async_api import expect

from tests.api.server import PASSWORD, Served
from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_newcomer_registers_and_their_first_conversation_gets_its_title(
    stranger: MakeVisitor,
) -> None:
    nina = await stranger("nina")
    page = nina.page
    await page.goto(nina.url)
    await page.get_by_role("button", name="Create account").click()
    await page.get_by_label("Username").fill("nina")
    await page.get_by_label("Password").fill("a fine password")
    await page.get_by_role("button", name="Create account").click()
    await expect(page.get_by_role("heading", name="Where shall we begin?")).to_be_visible()
    await expect(page.get_by_text("Conversations appear here.")).to_be_visible()
    await page.get_by_role("button", name="Watch it stream").click()
    # The title comes to all of its places without a reload.
    await expect(page.locator(".row.conv .t")).to_have_text("count to 1000")
    await expect(page.locator("header.bar h1")).to_have_text("count to 1000")
    await expect(page).to_have_title("count to 1000 · Caesura")
    await nina.done()
    counted = " ".join(map(str, range(1, 1001)))
    assert await nina.seen() == [("count to 1000", f"{counted} done.")]
    # No script can read what keeps the session.
    assert "caesura_session" not in await page.evaluate("document.cookie")


async def test_a_wrong_password_is_told_and_opens_nothing(
    server: Served, stranger: MakeVisitor, faults: Faults
) -> None:
    server.token("olga")
    olga = await stranger("olga")
    await olga.page.goto(olga.url)
    await olga.page.get_by_label("Username").fill("olga")
    await olga.page.get_by_label("Password").fill("wrong horse")
    await olga.page.get_by_role("button", name="Sign in").click()
    await expect(olga.page.get_by_role("alert")).to_have_text("Incorrect username or password.")
    await olga.page.get_by_label("Password").fill(PASSWORD)
    await olga.page.keyboard.press("Enter")
    await expect(olga.box).to_be_focused()


async def test_a_draft_survives_the_end_of_the_session(visitor: MakeVisitor, faults: Faults) -> None:
    faults.expect("status of 401")
    alice = await visitor()
    await alice.say("echo good day")
    await alice.done()
    await alice.box.fill("echo a long thought")
    await alice.context.clear_cookies(name="caesura_session")
    await alice.send()
    dialog = alice.page.get_by_role("dialog", name="Please sign in again")
    await expect(dialog.get_by_label("Password")).to_be_focused()
    await expect(alice.box).to_have_value("echo a long thought")
    # Whoever passes by reads nothing behind the dialog.
    await expect(alice.box).not_to_be_visible()
    assert "good day" not in await alice.page.inner_text("body")
    assert await alice.page.title() == "Caesura"
    await dialog.get_by_label("Password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Sign in").click()
    await expect(dialog).to_have_count(0)
    await expect(alice.box).to_have_value("echo a long thought")
    # A reload keeps it too.
    await alice.page.reload()
    await expect(alice.box).to_have_value("echo a long thought")
    await alice.box.press("Enter")
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    assert await alice.seen() == await alice.stored()


async def test_who_signs_in_again_in_one_tab_goes_on_in_every_tab(
    visitor: MakeVisitor, faults: Faults
) -> None:
    faults.expect("status of 401")
    alice = await visitor()
    await alice.say("echo good day")
    await alice.done()
    other = await alice.tab(f"/c/{alice.conversation}")
    await expect(other.locator("article.turn.done")).to_have_count(1)
    await alice.context.clear_cookies(name="caesura_session")
    for page in (alice.page, other):
        await page.locator("#box").fill("echo one more")
        await page.locator("#box").press("Enter")
        await expect(page.get_by_role("dialog", name="Please sign in again")).to_be_visible()
    await other.get_by_label("Password").fill(PASSWORD)
    await other.get_by_role("button", name="Sign in").click()
    await expect(alice.page.get_by_role("dialog")).to_have_count(0)
    await alice.send()
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)


async def test_signing_out_everywhere_ends_every_session(
    server: Served, visitor: MakeVisitor, faults: Faults
) -> None:
    # Streams of a session that is over are cut.
    faults.expect("status of 401", "ERR_INCOMPLETE_CHUNKED_ENCODING")
    laptop, phone = await visitor("petra"), await visitor("petra")
    await laptop.say("echo a private matter")
    await laptop.done()
    await laptop.box.fill("mine alone")
    await phone.page.get_by_role("button", name="petra").click()
    await phone.page.get_by_role("button", name="Sign out everywhere").click()
    sure = phone.page.get_by_role("alertdialog", name="Sign out everywhere?")
    await sure.get_by_role("button", name="Sign out everywhere").click()
    await expect(phone.page.get_by_label("Username")).to_be_visible()
    assert (await phone.api.get("/api/v2/me")).status_code == 401
    # The streams of the other session are cut too. Whoever sits there finds nothing of the person, without
    # a touch of theirs.
    await expect(laptop.page.get_by_label("Username")).to_be_visible()
    await expect(laptop.page.get_by_role("status")).to_contain_text("You were signed out from elsewhere")
    assert "a private matter" not in await laptop.page.content()
    kept = await laptop.page.evaluate("JSON.stringify(localStorage)")
    assert "mine alone" not in kept
    assert "petra" not in kept


async def test_whoever_signs_out_leaves_nothing_in_any_tab(visitor: MakeVisitor, faults: Faults) -> None:
    faults.expect("status of 401", "ERR_INCOMPLETE_CHUNKED_ENCODING")
    rosa = await visitor()
    await rosa.say("echo a private matter")
    await rosa.done()
    other = await rosa.context.new_page()
    await other.goto(rosa.page.url)
    await expect(other.locator("article.turn.done")).to_be_visible()
    await rosa.page.get_by_role("button", name="Settings").click()
    await rosa.page.get_by_role("button", name="Sign out", exact=True).click()
    await expect(rosa.page.get_by_label("Username")).to_be_visible()
    await expect(other.get_by_label("Username")).to_be_visible()
    await rosa.page.go_back()
    await expect(rosa.page.get_by_label("Username")).to_be_visible()
    for page in (rosa.page, other):
        assert "a private matter" not in await page.inner_text("body")
    assert await other.evaluate("localStorage.length") == 0


async def test_the_keyboard_alone_leads_from_the_door_to_an_approval(
    server: Served, stranger: MakeVisitor
) -> None:
    server.token("karl")
    karl = await stranger("karl")
    keys = karl.page.keyboard
    await karl.page.goto(karl.url)
    await expect(karl.page.get_by_label("Username")).to_be_visible()
    await keys.type("karl")
    await keys.press("Tab")
    await keys.type(PASSWORD)
    await keys.press("Enter")
    await expect(karl.box).to_be_focused()
    await keys.type("write a.txt: hello")
    await keys.press("Enter")
    ask = await karl.asked("Write a file?")
    # A question takes no focus: what is typed goes on.
    await expect(karl.box).to_be_focused()
    await keys.press("Control+Shift+Enter")
    await expect(ask).to_be_focused()
    await keys.press("e")
    await expect(ask.get_by_label("path")).to_be_focused()
    await keys.press("Tab")
    await keys.press("Control+a")
    await keys.type("good evening")
    # A key answers nothing that has just appeared.
    await expect(ask.locator("[data-primary]")).not_to_have_attribute("aria-disabled", "true")
    await keys.press("Control+Enter")
    await karl.done()
    await expect(karl.box).to_be_focused()
    path = server.settings.data_dir / "workspaces" / karl.conversation / "a.txt"
    assert path.read_text() == "good evening"
