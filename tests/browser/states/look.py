"""How a state is looked at: in a large window, and some also in the dark theme and on a phone."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page

from tests.api.server import Served
from tests.browser import sheet
from tests.browser.axe import axe
from tests.browser.chromium import PATIENCE
from tests.browser.picture import FOLDER, picture
from tests.browser.states import agents, crash
from tests.browser.states.stage import DESKTOP, PHONE, Stage
from tests.browser.states.table import ALSO, DRAWN, State, seen
from tests.browser.visitor import Visitor

#: The other theme differs in its colours alone, and the phone in everything else.
_COLOURS = {"runOnly": ["color-contrast"]}
REST = {"rules": {"color-contrast": {"enabled": False}}}
_DARK, _NARROW = seen("dark"), seen("phone")


@asynccontextmanager
async def staged(browser: Browser, folder: Path) -> AsyncIterator[Stage]:
    agents.put(folder / "agents")
    with ExitStack() as servers:
        server = servers.enter_context(Served(folder, default_agent="lead_agent"))
        closed = servers.enter_context(Served(folder / "closed", registration="invite"))
        fallen = crash.crash(folder / "crash")
        servers.callback(fallen.process.kill)
        async with AsyncExitStack() as stack:
            api = await stack.enter_async_context(server.async_client("alice"))
            page = await open_page(browser, stack, "en-GB")
            yield Stage(server, closed, fallen, Visitor("alice", server.url, page.context, page, api))
    sheet.write(FOLDER, [state.name for state in (*DRAWN, *ALSO)])


async def assert_usable(stage: Stage, state: State) -> None:
    """Reach the state. It has no serious fault for people who use a screen reader, need contrast or have a
    small screen. A usual run looks at every state in the light theme, and at some in the dark one and on a
    phone."""
    try:
        await _assert_usable(stage, state)
    except BaseException:
        stage.loaded = False  # nobody knows what is left open
        raise


async def _assert_usable(stage: Stage, state: State) -> None:
    page = stage.page
    await page.set_viewport_size(DESKTOP)
    async with stage.later:
        await state.reach(stage)
        if page.viewport_size != PHONE:
            await picture(page, f"light-{state.name}")
            # The conversation and the panel scroll, never the document around them.
            assert await page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            assert await axe(page) == []
            if state.name in _DARK:
                await _dark(page, f"dark-{state.name}")
            if state.name not in _NARROW:
                return
            await page.set_viewport_size(PHONE)
            if state.narrow is not None:
                await state.narrow(stage)
        await picture(page, f"phone-{state.name}")
        assert await axe(page, **REST) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def open_page(browser: Browser, stack: AsyncExitStack, locale: str) -> Page:
    # Without motion: nothing is seen on its way from one colour to the other.
    context = await browser.new_context(
        locale=locale, viewport=DESKTOP, color_scheme="light", reduced_motion="reduce"
    )
    stack.push_async_callback(context.close)
    context.set_default_timeout(PATIENCE)
    return await context.new_page()


async def _dark(page: Page, name: str) -> None:
    await page.emulate_media(color_scheme="dark")
    if await page.locator(".diagram").count():
        # A diagram is drawn again for the other theme. The picture alone waits for that.
        await page.wait_for_timeout(1500)
    try:
        await picture(page, name)
        assert await axe(page, **_COLOURS) == []
    finally:
        await page.emulate_media(color_scheme="light")
