"""Faults in the accessibility of a page, as axe-core finds them."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import Page

_SOURCE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """
async (options) => {
  const found = await axe.run(document, { resultTypes: ["violations"], ...options });
  return found.violations
    .filter((fault) => fault.impact === "serious" || fault.impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}
"""


async def axe(page: Page, **options: Any) -> list[str]:
    """The serious faults of what the page shows now. `options` are those of `axe.run`."""
    if await page.evaluate("typeof axe") == "undefined":
        # The debugger runs it: the policy of the page allows no script from elsewhere.
        await page.evaluate(_source())
    found: list[str] = await page.evaluate(_RUN, options)
    return found


@cache
def _source() -> str:
    return _SOURCE.read_text()
