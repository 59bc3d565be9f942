"""The document beside the conversation."""

import re

from playwright.async_api import expect

from tests.browser.states import texts
from tests.browser.states.stage import Stage


async def artifact(stage: Stage) -> None:
    await stage.open(await stage.report())
    await stage.page.locator(".chip").last.click()
    await expect(stage.page.locator(".panel .prose h2")).to_be_visible()


async def artifact_live(stage: Stage) -> None:
    """The third version is being written. The demo model names its document itself."""
    await stage.sign_in()
    here = await stage.begin("Written before your eyes", agent="free_agent")
    await stage.document(here, "demo-note", "markdown", *texts.VERSIONS[:2])
    await stage.open(here)
    await stage.page.locator("#docs").click()
    await expect(stage.page.locator(".panel .prose h2")).to_be_visible()
    await stage.say(here, f"rewrite artifact: {texts.VERSIONS[2]} think=no delay=0.2")
    await expect(stage.page.locator(".panel .track .writing")).to_be_visible()
    await expect(stage.page.locator(".panel .prose")).to_contain_text("Where the time goes")


async def artifact_side_by_side(stage: Stage) -> None:
    await artifact(stage)
    await stage.page.get_by_role("tab", name="Changes").click()
    await stage.page.get_by_label("Compare").select_option("2")
    await expect(stage.page.locator(".pair .add").first).to_be_visible()


async def artifact_inline(stage: Stage) -> None:
    await artifact_side_by_side(stage)
    await stage.page.get_by_role("button", name="Inline").click()
    await expect(stage.page.locator(".one .add").first).to_be_visible()


async def source(stage: Stage) -> None:
    await artifact(stage)
    await stage.page.get_by_role("tab", name="Source").click()


async def csv(stage: Stage) -> None:
    await _shown(stage, "step-times", "csv", texts.CSV)
    await expect(stage.page.locator(".csv td").first).to_be_visible()


async def mermaid(stage: Stage) -> None:
    await _shown(stage, "pipeline", "mermaid", texts.MERMAID)
    frame = stage.page.frame_locator(".diagram")
    await expect(frame.locator("svg").first).to_be_visible()
    # The page has heard how tall it is; another process paints it.
    await expect(stage.page.locator(".diagram")).to_have_attribute("style", re.compile("height"))
    await frame.locator("svg").first.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))"
    )


async def html(stage: Stage) -> None:
    await _shown(stage, "build-page", "html", texts.HTML)
    await stage.page.get_by_role("button", name="Show preview").click()
    await expect(stage.page.frame_locator(".preview").frame_locator("iframe").locator("h1")).to_be_visible()


async def listed(stage: Stage) -> None:
    """Several documents: the list of them."""
    await _shown(stage, "step-times", "csv", texts.CSV)
    await stage.page.locator(".panel .bar button").first.click()
    await expect(stage.page.locator(".sheet-body.documents .chip").first).to_be_visible()


async def _shown(stage: Stage, id: str, kind: str, content: str) -> None:
    await stage.sign_in()
    here = stage.made.get("Documents")
    if here is None:
        here = await stage.begin("Documents", agent="free_agent")
        await stage.say(here, "echo Three documents, each of another kind.")
        await stage.ended(here)
        for each in (
            ("step-times", "csv", texts.CSV),
            ("pipeline", "mermaid", texts.MERMAID),
            ("build-page", "html", texts.HTML),
        ):
            await stage.document(here, *each)
    await stage.open(here)
    await stage.page.locator("#docs").click()
    wanted = stage.page.locator(".panel .kind", has_text=kind)
    if not await wanted.count():
        await stage.page.locator(".panel .bar button").first.click()
        await stage.page.locator(".sheet-body.documents .chip", has_text=kind).click()
    await expect(wanted).to_be_visible()
