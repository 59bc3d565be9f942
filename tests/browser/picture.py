"""Pictures of the page, for people to look at."""

import os
from pathlib import Path

from playwright.async_api import Page

FOLDER = Path(__file__).parents[2] / "build" / "pages"


def folder() -> Path:
    return Path(os.environ.get("CAESURA_TESTS_PICTURES") or FOLDER)


async def picture(page: Page, name: str) -> Path:
    """Write what the window shows to `build/pages/NAME.png`, or to the folder that `CAESURA_TESTS_PICTURES`
    names."""
    path = folder() / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Motion is over in a picture, and no caret blinks.
    await page.screenshot(path=path, animations="disabled")
    return path
