"""Every state of the page: a picture of it beside the drawn one, and no serious fault for people who use a
screen reader, need contrast or have a small screen."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.api.server import Served
from tests.browser.axe import axe
from tests.browser.chromium import PATIENCE
from tests.browser.picture import picture
from tests.browser.states import agents, crash
from tests.browser.states.stage import DESKTOP, PHONE, Stage
from tests.browser.states.table import ALSO, DRAWN, State
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("states")
    agents.put(folder / "agents")
    told = {"agents_dir": folder / "agents", "default_agent": "lead_agent"}
    fallen = crash.crash(folder / "crash")
    with ExitStack() as servers:
        server = servers.enter_context(Served(folder, **told))
        closed = servers.enter_context(Served(folder / "closed", registration="invite"))
        servers.enter_context(fallen.process)
        fallen.happen(folder / "crash" / "data")
        async with AsyncExitStack() as stack:
            context = await browser.new_context(locale="en-GB", viewport=DESKTOP)
            stack.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE)
            api = await stack.enter_async_context(server.async_client("alice"))
            visitor = Visitor("alice", server.url, context, await context.new_page(), api)
            yield Stage(server, closed, fallen, visitor)


@pytest.mark.parametrize("state", [*DRAWN, *ALSO], ids=lambda state: state.name)
async def test_a_state_is_reached_and_everybody_can_use_it(stage: Stage, state: State) -> None:
    page = stage.page
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="light")
    async with stage.later:
        await state.reach(stage)
        narrow = page.viewport_size == PHONE
        if not narrow:
            await picture(page, f"light-{state.name}")
            assert await axe(page) == []
            await page.emulate_media(color_scheme="dark")
            await picture(page, f"dark-{state.name}")
            assert await axe(page) == []
            await page.emulate_media(color_scheme="light")
            await page.set_viewport_size(PHONE)
        await picture(page, f"phone-{state.name}")
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
