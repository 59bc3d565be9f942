"""One Chromium and one server for all tests of a worker, and people who use them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser

from caesura.http.page import BUILT
from tests import programs
from tests.api.server import PASSWORD, Served
from tests.browser.chromium import PATIENCE, chromium
from tests.browser.faults import Faults
from tests.browser.visitor import Visitor
from tests.client.process import Process
from tests.servers import Missing

#: Makes a person: `await visitor("alice")`. A name that is left out is a new one. Other arguments are options
#: of the browser's context, such as `viewport` and `color_scheme`.
MakeVisitor = Callable[..., Awaitable[Visitor]]
MakeProcess = Callable[..., Process]
_numbers = count(1)


@pytest.fixture(scope="session", autouse=True)
def _page() -> None:
    """The tests need a page that is built."""
    if not (BUILT / "index.html").is_file():
        if programs.required():
            pytest.fail("the web page is not built: run make web", pytrace=False)
        pytest.skip("the web page is not built: run make web")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    try:
        async with chromium() as browser:
            yield browser
    except Missing as error:
        if programs.required():
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the agents that ship and the demo model."""
    with Served(tmp_path_factory.mktemp("server"), agents_dir=None) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def faults() -> AsyncIterator[Faults]:
    """What went wrong in the pages of this test."""
    faults = Faults()
    yield faults
    assert faults.unexpected == []


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: Browser, server: Served, faults: Faults) -> AsyncIterator[MakeVisitor]:
    """People who are signed in at the shared server, each with a browser of their own."""
    async with AsyncExitStack() as stack:

        async def make(name: str | None = None, **options: Any) -> Visitor:
            name = name or f"person-{next(_numbers)}"
            api = await stack.enter_async_context(server.async_client(name))
            found = await _visitor(stack, browser, faults, name, server.url, api, **options)
            await found.sign_in(PASSWORD)
            return found

        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def stranger(browser: Browser, server: Served, faults: Faults) -> AsyncIterator[MakeVisitor]:
    """People whom the shared server does not know, in front of a page that is not opened."""
    async with AsyncExitStack() as stack:

        async def make(name: str | None = None, **options: Any) -> Visitor:
            api = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, trust_env=False))
            name = name or f"stranger-{next(_numbers)}"
            return await _visitor(stack, browser, faults, name, server.url, api, **options)

        yield make


@pytest_asyncio.fixture(loop_scope="session")
async def guest(browser: Browser, faults: Faults) -> AsyncIterator[MakeVisitor]:
    """The only person of a server without sign-in: `await guest(url)`."""
    async with AsyncExitStack() as stack:

        async def make(url: str, **options: Any) -> Visitor:
            api = await stack.enter_async_context(
                httpx.AsyncClient(base_url=url, timeout=30, trust_env=False)
            )
            return await _visitor(stack, browser, faults, "local", url, api, **options)

        yield make


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """A server of the test's own, in its own process: it can be killed, and started again with the same data
    at the same address. It has no sign-in."""
    with Process(tmp_path, lease=1.0) as server:
        yield server


async def _visitor(
    stack: AsyncExitStack,
    browser: Browser,
    faults: Faults,
    name: str,
    url: str,
    api: httpx.AsyncClient,
    **options: Any,
) -> Visitor:
    context = await browser.new_context(
        **({"locale": "en-GB", "viewport": {"width": 1280, "height": 800}} | options)
    )
    stack.push_async_callback(context.close)
    context.set_default_timeout(PATIENCE)
    faults.watch(context)
    return Visitor(name, url, context, await context.new_page(), api)
