"""The browser of the tests: Debian's Chromium, driven by Playwright."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright, expect

from tests.servers.binaries import need

#: Milliseconds. Tests wait for what must come, and a busy machine is no fault.
PATIENCE = 30_000
#: Of these flags Chromium takes the last one, so that this also has what Playwright turns off.
_WITHOUT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    # Parts of a window that are pages themselves. Nobody sees them here, and with them each person's browser
    # costs a second more.
    "InitialWebUI",
    "PreloadTopChromeWebUI",
    "WebUIBackForwardButton",
    "WebUIHomeButton",
    "WebUILocationBar",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "WebUIReloadButton",
    "WebUISplitTabsButton",
    # Processes that are started in case somebody needs them.
    "OptimizationGuideOnDeviceModel",
    "SpareRendererForSitePerProcess",
)
_FLAGS = (
    # The tests may run as root, which Chromium's own sandbox refuses.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(_WITHOUT)}",
)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    path = need("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            headless=True,
            args=list(_FLAGS),
            # People see scrollbars: one too many is a fault.
            ignore_default_args=["--hide-scrollbars"],
        )
        try:
            yield browser
        finally:
            await browser.close()
