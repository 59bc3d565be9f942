"""Nothing is lost: connections, crashes, stops, failures."""

import sqlite3

from playwright.async_api import expect

from tests.browser.states import texts
from tests.browser.states.stage import Stage

_FILES = {"webpack.config.js": texts.WEBPACK, "report.md": texts.REPORT}


async def connection_lost(stage: Stage) -> None:
    await _streams(stage, "Cut off")
    stage.broken()
    await stage.page.context.set_offline(True)
    stage.later.push_async_callback(stage.page.context.set_offline, False)
    await expect(stage.page.locator(".keep.lost")).to_be_visible()


async def connection_back(stage: Stage) -> None:
    await _streams(stage, "Cut off, and back")
    stage.broken()
    await stage.page.context.set_offline(True)
    await expect(stage.page.locator(".keep.lost")).to_be_visible()
    await stage.page.context.set_offline(False)
    await expect(stage.page.locator(".keep.back")).to_be_visible()


async def stopped(stage: Stage) -> None:
    here = await _streams(stage, "Stopped")
    await stage.page.get_by_role("button", name="Stop", exact=True).click()
    await stage.ended(here)
    await expect(stage.page.locator(".over")).to_be_visible()


async def failed(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Broke off")
    await stage.say(here, "fail midway delay=0")
    await stage.ended(here)
    await stage.open(here)
    await expect(stage.page.locator(".over.bad")).to_be_visible()


async def leaving(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Only while you look")
    await stage.say(here, "long 900 delay=0.05", on_disconnect="stop")
    await stage.open(here)
    await expect(stage.page.locator(".keep.leaving")).to_be_visible()


async def storage_down(stage: Stage) -> None:
    """Another process holds the database."""
    await stage.enter()
    stage.broken()
    await expect(stage.page.locator(".row.conv").first).to_be_visible()
    other = sqlite3.connect(stage.data / "caesura.db", isolation_level=None)
    stage.later.callback(other.close)
    other.execute("BEGIN IMMEDIATE")
    await stage.visitor.box.fill("And on CI? Where should the cache live?")
    await stage.visitor.box.press("Enter")
    await expect(stage.page.get_by_text("cannot store anything")).to_be_visible()


async def sign_in_again(stage: Stage) -> None:
    await stage.open(await stage.report())
    stage.broken()
    await stage.visitor.box.fill("And on CI? Where should the cache live so that")
    await stage.visitor.context.clear_cookies(name="caesura_session")
    await stage.visitor.box.press("Enter")
    await expect(stage.page.get_by_role("dialog")).to_be_visible()


async def away(stage: Stage) -> None:
    """The person left in the middle. The server was killed while a command ran, and started again."""
    fallen = await stage.fall()
    fallen.refuse()
    await stage.page.goto(f"{fallen.url}/c/{fallen.conversation}")
    await expect(stage.page.locator("#left-here")).to_be_visible()
    await expect(stage.page.locator(".tool", has_text="unknown")).to_be_visible()
    await stage.drawn()


async def _streams(stage: Stage, title: str) -> str:
    await stage.sign_in()
    here = await stage.begin(title, _FILES)
    await stage.say(here, "list files + read webpack.config.js then run cat report.md delay=0.03")
    await stage.answer(here, decision="approve")
    await stage.open(here)
    await expect(stage.visitor.answer.get_by_text("not bundling")).to_be_visible()
    return here


async def unknown(stage: Stage) -> None:
    """The person had allowed the command that was running when the server was killed."""
    fallen = await stage.fall()
    await stage.page.goto(f"{fallen.url}/c/{fallen.asking}")
    await expect(stage.page.locator("section.ask")).to_be_visible()
