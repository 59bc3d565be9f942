"""Every state of the door, of conversations and of documents: everybody can use it, in both languages. The
other states are in `test_asking_states.py`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.axe import axe
from tests.browser.picture import picture
from tests.browser.states import asks, documents, door, talk
from tests.browser.states.look import REST, assert_usable, open_page, staged
from tests.browser.states.stage import DESKTOP, PHONE, Stage
from tests.browser.states.table import State, named, reached

pytestmark = pytest.mark.asyncio(loop_scope="session")
_CHINESE = named(door.sign_in, door.first_visit, talk.streaming, asks.questions, asks.approval_file)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(browser, tmp_path_factory.mktemp("states")) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def chinese(stage: Stage, browser: Browser) -> AsyncIterator[Stage]:
    """The same, in front of a Chinese browser."""
    async with AsyncExitStack() as stack:
        page = await open_page(browser, stack, "zh-CN")
        visitor = replace(stage.visitor, page=page, context=page.context)
        yield replace(stage, visitor=visitor, loaded=False)


@pytest.mark.parametrize("state", reached(door, talk, documents), ids=lambda state: state.name)
async def test_a_state_is_reached_and_everybody_can_use_it(stage: Stage, state: State) -> None:
    await assert_usable(stage, state)


@pytest.mark.parametrize("state", _CHINESE, ids=lambda state: state.name)
async def test_the_page_speaks_chinese_to_a_chinese_browser(chinese: Stage, state: State) -> None:
    page = chinese.page
    await page.set_viewport_size(DESKTOP)
    await state.reach(chinese)
    assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
    await picture(page, f"zh-{state.name}")
    assert await axe(page, **REST) == []
    await page.set_viewport_size(PHONE)
    await picture(page, f"phone-zh-{state.name}")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
