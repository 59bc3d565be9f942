"""Pictures of the page, for people to look at."""

import os
from pathlib import Path

from playwright.async_api import Page

from tests import effort

FOLDER = Path(__file__).parents[2] / "build" / "pages"


def folder() -> Path:
    return Path(os.environ.get("CAESURA_TESTS_PICTURES") or FOLDER)


def wanted() -> bool:
    """Whether pictures are taken. No test looks at them, and all of them take a sixth of the time."""
    return effort.thorough() or bool(os.environ.get("CAESURA_TESTS_PICTURES"))


async def picture(page: Page, name: str) -> None:
    """Write what the window shows to `NAME.png` in the folder that `CAESURA_TESTS_PICTURES` names, or in a
    thorough run to `build/pages`."""
    if not wanted():
        return
    path = folder() / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Motion is over in a picture, and no caret blinks.
    await page.screenshot(path=path, animations="disabled")
