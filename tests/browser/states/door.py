"""Signing in, and the first visit."""

from playwright.async_api import expect

from tests.browser.states.stage import Stage


async def sign_in(stage: Stage) -> None:
    await stage.leave(stage.server)


async def sign_in_wrong(stage: Stage) -> None:
    await stage.leave(stage.server)
    await stage.page.get_by_label("Username").fill("alice")
    await stage.page.get_by_label("Password").fill("not this one")
    await stage.page.get_by_role("button", name="Sign in").click()
    await expect(stage.page.locator(".fault")).to_be_visible()


async def register(stage: Stage) -> None:
    await stage.leave(stage.server)
    await stage.page.get_by_role("button", name="Create account").click()
    await stage.page.get_by_label("Username").fill("alice")
    await stage.page.get_by_label("Password").fill("correct horse")
    await stage.page.locator("button[type=submit]").click()
    await expect(stage.page.locator(".fault")).to_be_visible()


async def register_invite(stage: Stage) -> None:
    await stage.leave(stage.closed)
    await stage.page.get_by_role("button", name="Create account").click()
    await expect(stage.page.get_by_label("Invite code")).to_be_visible()


async def first_visit(stage: Stage) -> None:
    await stage.enter("newcomer")
    await expect(stage.page.locator(".examples")).to_be_visible()


async def connect_model(stage: Stage) -> None:
    await stage.enter("newcomer")
    await stage.page.get_by_role("button", name="Connect a model").click()
    await expect(stage.page.get_by_role("dialog")).to_be_visible()


async def inbox_empty(stage: Stage) -> None:
    await stage.sign_in("newcomer")
    await stage.go("/inbox")
    await expect(stage.page.get_by_text("Nothing waits for you.")).to_be_visible()


async def new(stage: Stage) -> None:
    await stage.report()
    await stage.enter()
    await expect(stage.page.locator(".examples")).to_be_visible()
    await expect(stage.page.locator(".row.conv").first).to_be_visible()
