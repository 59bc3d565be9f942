"""Conversations: what an answer looks like, and what can be done with it."""

from playwright.async_api import expect

from tests.browser.states import texts
from tests.browser.states.stage import PHONE, Stage

_FILES = {"webpack.config.js": texts.WEBPACK, "package.json": texts.PACKAGE, "report.md": texts.REPORT}
_LOOK = "list files + read webpack.config.js + read tsconfig.build.json + fetch https://ci.example.com/builds/8121"


async def tools(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Slow build, and why", _FILES, "free_agent")
    await stage.say(here, _LOOK)
    await stage.answer(here, decision="reject", message="Not the CI host. Use the local log.")
    await stage.ended(here)
    await stage.say_for_now(here, "ask search_agent to long 4000 + run sleep 300 delay=0.05")
    await stage.open(here)
    await expect(stage.page.locator(".sub-agent .prose")).to_be_visible()
    await stage.page.locator(".leaf.last .think summary").first.click()


async def streaming(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Slow build, and why", _FILES)
    await stage.say(here, "list files + read webpack.config.js then run cat report.md delay=0.02")
    await stage.answer(here, decision="approve")
    await stage.open(here)
    await expect(stage.visitor.answer.get_by_text("That leaves")).to_be_visible(timeout=120_000)


async def done(stage: Stage) -> None:
    await stage.open(await stage.report())
    await expect(stage.page.locator(".chip").last).to_be_visible()


async def branches(stage: Stage) -> None:
    here = await _named(stage)
    await stage.open(here)
    await expect(stage.page.locator(".hop").first).to_be_visible()


async def editing(stage: Stage) -> None:
    await branches(stage)
    await stage.page.locator(".said .acts").last.get_by_role("button", name="Edit").click()
    await stage.page.locator(".editbox textarea").fill("echo I like the third.")


async def agent_picker(stage: Stage) -> None:
    await stage.enter()
    await stage.page.locator(".picker").click()
    await expect(stage.page.get_by_role("listbox")).to_be_visible()


async def row_menu(stage: Stage) -> None:
    await stage.enter()
    await _side(stage)
    await stage.page.locator(".row.conv").nth(1).hover()
    await stage.page.locator(".row.conv .more").nth(1).click()
    await expect(stage.page.get_by_role("menuitem", name="Rename")).to_be_visible()


async def rename(stage: Stage) -> None:
    await row_menu(stage)
    await stage.page.get_by_role("menuitem", name="Rename").click()
    await expect(stage.page.locator("input.rename")).to_be_focused()


async def delete(stage: Stage) -> None:
    await row_menu(stage)
    await stage.page.get_by_role("menuitem", name="Delete").click()
    await expect(stage.page.get_by_role("alertdialog")).to_be_visible()


async def settings(stage: Stage) -> None:
    await stage.enter()
    await _side(stage)
    await stage.page.locator(".side-foot button").click()
    await expect(stage.page.get_by_role("dialog", name="Settings")).to_be_visible()


async def shortcuts(stage: Stage) -> None:
    await settings(stage)
    await stage.page.get_by_role("button", name="Keyboard shortcuts").click()
    await expect(stage.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


async def loading(stage: Stage) -> None:
    """The server takes its time with the conversation."""
    here = await _named(stage)
    await stage.page.route("**/snapshot*", lambda route: None)
    stage.later.push_async_callback(stage.page.unroute_all, behavior="ignoreErrors")
    stage.broken()
    await stage.load(f"/c/{here}")
    await expect(stage.page.locator(".bone").first).to_be_visible()


async def missing(stage: Stage) -> None:
    await stage.sign_in()
    await stage.go("/c/conv-nobody-has-this")
    await expect(stage.page.locator(".nothing")).to_be_visible()


async def drawer(stage: Stage) -> None:
    await stage.open(await _named(stage))
    await stage.page.set_viewport_size(PHONE)
    await stage.page.get_by_role("button", name="Open sidebar").click()
    await expect(stage.page.locator(".app.has-drawer")).to_be_visible()


async def _side(stage: Stage) -> None:
    """The sidebar, which a phone opens first."""
    if stage.page.viewport_size == PHONE:
        await stage.page.locator(".only-drawer").click()


async def _named(stage: Stage) -> str:
    """A conversation with branches. It is made once."""
    await stage.sign_in()
    if (here := stage.made.get("Names for the robot")) is None:
        here = await stage.begin("Names for the robot", agent="free_agent")
        first = await stage.say(here, "echo **Mallet**, **Tick** and **Plumb**. All three are tools.")
        await stage.ended(here)
        for said in ("first", "second", "second"):
            await stage.say(here, f"echo I like the {said}. “Tick is up.”", parent=first)
            await stage.ended(here)
        newest = await stage.turn(here)
        await stage.post(f"/turns/{newest['id']}/regenerate", {})
        await stage.ended(here)
    return here
