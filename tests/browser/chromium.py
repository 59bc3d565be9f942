"""The browser of the tests: Debian's Chromium, driven by Playwright."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright, expect

from tests.servers.binaries import need

#: Milliseconds. Tests wait for what must come, and a busy machine is no fault.
PATIENCE = 30_000
_FLAGS = (
    # The tests may run as root, which Chromium's own sandbox refuses.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    path = need("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, headless=True, args=list(_FLAGS))
        try:
            yield browser
        finally:
            await browser.close()
