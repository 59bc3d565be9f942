"""Every state of the page: a picture of it beside the drawn one, and no serious fault for people who use a
screen reader, need contrast or have a small screen."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.api.server import Served
from tests.browser import sheet
from tests.browser.axe import axe
from tests.browser.chromium import PATIENCE
from tests.browser.picture import folder as pictures
from tests.browser.picture import picture
from tests.browser.states import agents, asks, crash, door, talk
from tests.browser.states.stage import DESKTOP, PHONE, Stage
from tests.browser.states.table import ALSO, DRAWN, State, named
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: The other theme differs in its colours alone, and the phone in everything else.
_COLOURS = {"runOnly": ["color-contrast"]}
_REST = {"rules": {"color-contrast": {"enabled": False}}}
_CHINESE = named(door.sign_in, door.first_visit, talk.streaming, asks.questions, asks.approval_file)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("states")
    agents.put(folder / "agents")
    fallen = crash.crash(folder / "crash")
    with ExitStack() as servers:
        server = servers.enter_context(Served(folder, default_agent="lead_agent"))
        closed = servers.enter_context(Served(folder / "closed", registration="invite"))
        servers.enter_context(fallen.process)
        fallen.happen()
        async with AsyncExitStack() as stack:
            api = await stack.enter_async_context(server.async_client("alice"))
            page = await _page(browser, stack, "en-GB")
            yield Stage(server, closed, fallen, Visitor("alice", server.url, page.context, page, api))
    sheet.write(pictures(), [state.name for state in (*DRAWN, *ALSO)])


@pytest.mark.parametrize("state", [*DRAWN, *ALSO], ids=lambda state: state.name)
async def test_a_state_is_reached_and_everybody_can_use_it(stage: Stage, state: State) -> None:
    page = stage.page
    await page.set_viewport_size(DESKTOP)
    async with stage.later:
        await state.reach(stage)
        if page.viewport_size != PHONE:
            await picture(page, f"light-{state.name}")
            assert await axe(page) == []
            await _dark(page, f"dark-{state.name}")
            await page.set_viewport_size(PHONE)
            if state.narrow is not None:
                await state.narrow(stage)
        await picture(page, f"phone-{state.name}")
        assert await axe(page, **_REST) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("state", _CHINESE, ids=lambda state: state.name)
async def test_the_page_speaks_chinese_to_a_chinese_browser(
    stage: Stage, browser: Browser, state: State
) -> None:
    async with AsyncExitStack() as stack:
        page = await _page(browser, stack, "zh-CN")
        chinese = replace(stage, visitor=replace(stage.visitor, page=page, context=page.context))
        await state.reach(chinese)
        assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
        await picture(page, f"zh-{state.name}")
        assert await axe(page, **_REST) == []
        await page.set_viewport_size(PHONE)
        await picture(page, f"phone-zh-{state.name}")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def _page(browser: Browser, stack: AsyncExitStack, locale: str) -> Page:
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
