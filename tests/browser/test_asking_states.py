"""Every state in which somebody is asked, or something went wrong: everybody can use it. The other states are
in `test_states.py`."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.states import asks, documents, door, lost, talk
from tests.browser.states.look import assert_usable, staged
from tests.browser.states.stage import Stage
from tests.browser.states.table import ALSO, DRAWN, State, reached

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with staged(browser, tmp_path_factory.mktemp("states")) as stage:
        yield stage


@pytest.mark.parametrize("state", reached(asks, lost), ids=lambda state: state.name)
async def test_a_state_is_reached_and_everybody_can_use_it(stage: Stage, state: State) -> None:
    await assert_usable(stage, state)


async def test_every_state_is_in_one_of_the_two_files() -> None:
    assert {*reached(asks, lost), *reached(door, talk, documents)} == {*DRAWN, *ALSO}
