"""What waits for the person."""

from playwright.async_api import expect

from tests.browser.states import texts
from tests.browser.states.stage import Stage
from tests.browser.visitor import press

_FILES = {"webpack.config.js": texts.WEBPACK, "package.json": texts.PACKAGE}
_COMMAND = "npm install --save-dev vite @vitejs/plugin-react && npm run build -- --profile"


async def approval_command(stage: Stage) -> None:
    await stage.sign_in()
    if (here := stage.made.get("Slow build, approved")) is None:
        here = await stage.begin("Slow build, approved", _FILES)
        await stage.say(
            here,
            f"list files + read webpack.config.js + read tsconfig.build.json then run {_COMMAND} delay=0",
        )
        await stage.asked(here)
    await _open(stage, here)


async def approval_edit(stage: Stage) -> None:
    await approval_command(stage)
    await stage.visitor.ask.get_by_role("button", name="Edit").last.click()
    await stage.page.locator(".ask textarea").fill(
        "npm install --save-dev vite@8 @vitejs/plugin-react --ignore-scripts\nnpm run build -- --profile"
    )


async def approval_refuse(stage: Stage) -> None:
    await approval_command(stage)
    await stage.visitor.ask.get_by_role("button", name="Refuse").click()
    await stage.page.locator(".ask textarea").fill("Don’t install anything yet. Measure with what is there.")


async def respond(stage: Stage) -> None:
    await approval_command(stage)
    await stage.visitor.ask.get_by_role("button", name="Answer instead").click()
    await stage.page.locator(".ask textarea").fill("I ran it: 94 seconds, 68 of them types and Babel.")


async def approval_file(stage: Stage) -> None:
    await stage.sign_in()
    # The README shows this one: the agent that ships sets no time limit either.
    await _open(stage, await _writes(stage, "A new package.json", "careful_agent"))
    await expect(stage.page.locator(".diff .add").first).to_be_visible()


async def file_changed(stage: Stage) -> None:
    """Somebody else wrote the file while the question waited."""
    await stage.sign_in()
    here = await _writes(stage, "Two writers")
    [first] = await stage.asked(here)
    stage.put(here, "package.json", texts.PACKAGE.replace("webpack --mode production", "webpack"))
    await stage.answer(here, decision="approve")
    await stage.until(here, lambda turn: any(item["id"] != first["id"] for item in turn["interrupts"]))
    await _open(stage, here)
    await expect(stage.page.get_by_text("The file has changed")).to_be_visible()


async def approvals_several(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Three at once", _FILES)
    await stage.say(
        here,
        "list files then write vite.config.ts: export default {}; + run rm -r node_modules/.cache"
        " && npm run build -- --profile + fetch https://docs.example.org/build-performance delay=0",
    )
    await stage.until(here, lambda turn: len(turn["interrupts"]) == 3)
    await _open(stage, here)
    await press(stage.visitor.ask.get_by_role("button", name="Approve").first)
    await expect(stage.page.locator(".ask").get_by_text("Approved")).to_be_visible()


async def waits_above(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Far above", _FILES, agent="free_agent")
    await stage.say(here, f"echo {texts.REPORT}\n\n{texts.REPORT}")
    await stage.ended(here)
    await stage.say(here, f"run {_COMMAND} delay=0", agent="lead_agent")
    await stage.asked(here)
    await _open(stage, here)
    await stage.page.locator(".scroll").evaluate("(box) => box.scrollTo(0, 0)")
    await expect(stage.page.locator(".pill.waits")).to_be_visible()


async def questions(stage: Stage) -> None:
    await stage.sign_in()
    if (here := stage.made.get("Invoice CSV cleanup")) is None:
        here = await stage.begin("Invoice CSV cleanup", {"invoices-03.csv": "a,b\n1,2\n"})
        await stage.say(here, "read invoices-03.csv then ask me 3 questions delay=0")
        await stage.asked(here)
    await _open(stage, here)
    await stage.page.locator(".ask fieldset").first.locator(".opt").first.click()
    await stage.page.locator(".ask .own").nth(1).fill("A heron, if there is one")


async def confirmation(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Deploy v2.0", agent="release_agent")
    await stage.say(here, "deploy v2.0 to production")
    await stage.asked(here)
    await _open(stage, here)
    await stage.page.locator(".ask input[type=checkbox]").check()
    await stage.page.locator(".ask select").select_option("Now")
    await stage.page.locator(".ask input.input").fill("Faster cold start")


async def graph(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Drain two nodes", agent="node_agent")
    await stage.say(here, "drain what can be drained")
    await stage.asked(here)
    await _open(stage, here)
    await stage.page.locator(".ask .fold-args summary").click()
    await stage.page.locator(".ask textarea.mono").fill('{"nodes": ["node-3"], "minutes": 10}')


async def answered_elsewhere(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Answered elsewhere", _FILES)
    await stage.say_for_now(here, "list files then run sleep 300 delay=0")
    await stage.asked(here)
    await _open(stage, here)
    await stage.answer(here, decision="approve")
    await expect(stage.page.locator(".ask.closed")).to_be_visible()


async def expired(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Too late", _FILES, agent="hasty_agent")
    await stage.say(here, f"list files then run {_COMMAND}")
    await stage.ended(here)
    await stage.open(here)
    await expect(stage.page.get_by_text("Time ran out")).to_be_visible()
    await expect(stage.page.get_by_role("button", name="Ask again")).to_be_visible()


async def inbox(stage: Stage) -> None:
    await approval_command(stage)
    await confirmation(stage)
    await questions(stage)
    await stage.go("/inbox")
    await expect(stage.page.locator(".inbox-list details").nth(2)).to_be_visible()


async def grants(stage: Stage) -> None:
    await stage.sign_in()
    here = await stage.begin("Always allowed", _FILES)
    await stage.say(here, "run true delay=0")
    await stage.answer(here, decision="approve", always_allow=True)
    await stage.ended(here)
    await stage.open(here)
    await stage.page.locator(".bar .anchor > button").click()
    await stage.page.get_by_role("menuitem", name="Always allowed here").click()
    await expect(stage.page.locator(".grants li")).to_be_visible()


async def _writes(stage: Stage, title: str, agent: str = "lead_agent") -> str:
    if (here := stage.made.get(title)) is None:
        here = await stage.begin(title, _FILES, agent=agent)
        await stage.say(here, f"read package.json then write package.json: {texts.NEW_PACKAGE} delay=0")
        await stage.asked(here)
    return here


async def _open(stage: Stage, conversation: str) -> None:
    await stage.open(conversation)
    await expect(stage.page.locator("section.ask")).to_be_visible()
