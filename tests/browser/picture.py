"""Pictures of the page, for people to look at."""

from pathlib import Path

from playwright.async_api import Page

FOLDER = Path(__file__).parents[2] / "build" / "pages"


async def picture(page: Page, name: str) -> None:
    """Write what the window shows to `NAME.png` in `build/pages`."""
    path = FOLDER / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Motion is over in a picture, and no caret blinks.
    await page.screenshot(path=path, animations="disabled")
