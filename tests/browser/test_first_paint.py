"""What is fetched until something can be read: counted in Chromium, weighed as gzip makes it."""

import gzip
from pathlib import Path

import pytest
from playwright.async_api import Page

from caesura.http.page import BUILT
from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Bytes of HTML, scripts and styles.
MOST = 119_800
#: The paths of all that was asked for before the first words were painted, once they are.
FETCHED = """() => new Promise((resolve) => new PerformanceObserver((list) => {
  const [painted] = list.getEntriesByName("first-contentful-paint");
  if (!painted) return;
  resolve(performance.getEntriesByType("resource")
    .filter((entry) => entry.startTime <= painted.startTime)
    .map((entry) => new URL(entry.name).pathname));
}).observe({ type: "paint", buffered: true }))"""


async def fetched(page: Page) -> dict[str, int]:
    """The weight of each file that the first paint had to share the line with."""
    paths = {path.lstrip("/") for path in await page.evaluate(FETCHED)}
    files = {path for path in paths if Path(path).suffix in {".js", ".css"}} | {"index.html"}
    return {path: len(gzip.compress((BUILT / path).read_bytes(), 9)) for path in files}


async def conversation(person: Visitor) -> str:
    """The address of a conversation with a turn."""
    body = {"content": "echo good day"}
    made = (await person.api.post("/api/v2/conversations", json={})).json()["id"]
    (await person.api.post(f"/api/v2/conversations/{made}/turns", json=body)).raise_for_status()
    return f"/c/{made}"


@pytest.mark.parametrize(
    ("locale", "signed_out", "signed_in"),
    [("en-GB", "Sign in", "Where shall we begin?"), ("zh-CN", "登录", "从哪里开始？")],
)
async def test_the_first_paint_takes_less_than_120_kb(
    visitor: MakeVisitor, stranger: MakeVisitor, locale: str, signed_out: str, signed_in: str
) -> None:
    newcomer = await stranger(locale=locale)
    await newcomer.page.goto(newcomer.url)
    door = await fetched(newcomer.page)
    await newcomer.page.get_by_role("button", name=signed_out).wait_for()
    person = await visitor(locale=locale)
    first = await fetched(person.page)
    await person.page.get_by_role("heading", name=signed_in).wait_for()
    await person.open(await conversation(person))
    opened = await fetched(person.page)
    await person.page.locator(".turn .prose").wait_for()
    for files in (door, first, opened):
        assert any(path.startswith("assets/first-") for path in files)
        assert sum(files.values()) < MOST, files


@pytest.mark.parametrize(
    ("locale", "lost", "said"), [("zh-CN", "chinese", "Sign in"), ("en-GB", "english", "登录")]
)
async def test_a_page_without_the_file_of_its_language_speaks_the_other_one(
    stranger: MakeVisitor, faults: Faults, locale: str, lost: str, said: str
) -> None:
    faults.expect(f"status of 404 .*/assets/{lost}-")
    person = await stranger(locale=locale)
    await person.page.route(f"**/assets/{lost}-*.js", lambda route: route.fulfill(status=404))
    await person.page.goto(person.url)
    await person.page.get_by_role("button", name=said).wait_for()
