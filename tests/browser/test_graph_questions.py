"""What an operator's own graph asks, answered on the page."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Locator, ViewportSize, expect

from tests import agent_files, graph_files
from tests.api.server import Served
from tests.browser.axe import axe
from tests.browser.conftest import MakeVisitor
from tests.browser.picture import picture
from tests.browser.test_screens import sideways
from tests.browser.visitor import Visitor, press

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: It asks what the message says, and repeats the answer.
_ASKER = (
    "import json\n"
    + graph_files.IMPORTS
    + graph_files.chain(
        """
    def ask(state, config: RunnableConfig):
        answer = interrupt(json.loads(state["messages"][-1].text))
        why = [item["message"] for item in config["configurable"]["refusals"]]
        return {"messages": [AIMessage(f"It was {json.dumps([answer, *why])}.")]}
    """,
        "ask",
    )
)
_PHONE: ViewportSize = {"width": 390, "height": 844}
_WHICH = {"question": "Which one?", "choices": ["a", "b", 3]}
_DRAFT = {
    "message": "Publish this?",
    "draft": "Dear all,\n\nthe office opens on Monday. " + "Please bring your own cup. " * 12,
    "reviewers": ["ana", "ben"],
    "copies": 250,
    "address": "https://intranet.example/" + "announcements" * 12,
}

#: What an operator says about a call.
_NOTE = "Look twice.\n" + "https://intranet.example/" + "tables" * 60


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("asking")
    agents = folder / "agents"
    agent_files.put(agents, "asker", "type: langgraph\ngraph: asker:graph\n")
    (agents / "asker.py").write_text(_ASKER)
    agent_files.put(agents, "reviewed", "type: langgraph\ngraph: reviewed:graph\n")
    source = graph_files.reviewed(folder / "trace").replace('"Look twice"', repr(_NOTE))
    (agents / "reviewed.py").write_text(source)
    with Served(folder, auth="none", default_agent="asker") as server:
        yield server


async def _asked(person: Visitor, value: Any, title: str = "asker asks") -> Locator:
    await person.open("/")
    await person.say(json.dumps(value))
    return await person.asked(title)


async def _answered(person: Visitor, ask: Locator, *answer: Any, send: str = "Send") -> None:
    await press(ask.get_by_role("button", name=send))
    await person.done()
    await expect(person.answer.locator(".prose")).to_have_text(f"It was {json.dumps([*answer])}.")


async def test_a_choice_is_sent_with_its_type(asking: Served, guest: MakeVisitor) -> None:
    local = await guest(asking.url)
    ask = await _asked(local, _WHICH)
    await expect(ask.locator(".asked")).to_have_text("Which one?")
    await ask.get_by_role("radio", name="b").check()
    await _answered(local, ask, "b")
    ask = await _asked(local, _WHICH)
    await ask.focus()
    await local.page.keyboard.press("3")
    await expect(ask.get_by_role("radio", name="3")).to_be_checked()
    await _answered(local, ask, 3)
    # It has no model: the line below the reply has nothing but the time.
    await expect(local.answer.locator(".acts .num")).to_have_text(re.compile(r"^\d\d:\d\d$"))


async def test_yes_is_true_and_no_is_a_refusal_with_its_reason(asking: Served, guest: MakeVisitor) -> None:
    local = await guest(asking.url)
    ask = await _asked(local, {"message": "Publish this?", "draft": "Dear all"})
    await expect(ask.locator("dl")).to_have_text("draftDear all")
    await ask.get_by_role("radio", name="Yes").check()
    await _answered(local, ask, True)
    ask = await _asked(local, {"message": "Publish this?", "draft": "Dear all"})
    await ask.get_by_role("button", name="Refuse").click()
    await expect(ask.locator(".asked").first).to_contain_text("Publish this?")
    await ask.get_by_role("textbox").fill("not yet")
    await _answered(local, ask, False, "not yet", send="Refuse")


async def test_a_form_is_answered_with_options_and_own_words(asking: Served, guest: MakeVisitor) -> None:
    local = await guest(asking.url)
    own = {"label": "Another", "value": "__custom__", "allow_custom": True}
    colour = {"question": "Which colour?", "options": [{"label": "Red", "value": "red"}, own]}
    ask = await _asked(local, {"questions": [colour, {"question": "How?"}]}, "asker has 2 questions")
    await ask.get_by_role("textbox", name="Own answer").fill("mauve")
    await ask.get_by_role("textbox", name="How?").fill("twice")
    await _answered(local, ask, ["mauve", "twice"], send="Send answers")


async def test_own_words_and_json_are_answers_too(asking: Served, guest: MakeVisitor) -> None:
    local = await guest(asking.url)
    ask = await _asked(local, _WHICH)
    await ask.get_by_role("textbox", name="Own answer").fill("neither")
    await _answered(local, ask, "neither")
    ask = await _asked(local, _WHICH)
    await ask.get_by_text("Answer with JSON").click()
    await ask.get_by_role("textbox", name="JSON").fill('{"both": true}')
    await _answered(local, ask, {"both": True})
    ask = await _asked(local, "Which name?")
    await ask.get_by_role("textbox").fill("Robin")
    await _answered(local, ask, "Robin")


async def test_a_long_member_is_read_to_its_end_before_an_answer_counts(
    asking: Served, guest: MakeVisitor
) -> None:
    local = await guest(asking.url)
    lines = "\n".join(f"line {number}" for number in range(200))
    ask = await _asked(local, {"question": "Publish?", "draft": lines})
    await ask.get_by_role("radio", name="Yes").check()
    send = ask.get_by_role("button", name="Send")
    await expect(send).to_have_attribute("data-blocked", "true")
    await ask.locator(".held").evaluate("(box) => box.scrollTo(0, box.scrollHeight)")
    await expect(send).not_to_have_attribute("data-blocked", "true")
    await _answered(local, ask, True)


async def test_what_the_operator_says_about_a_call_fits_on_a_phone_in_every_step(
    asking: Served, guest: MakeVisitor
) -> None:
    local = await guest(asking.url, viewport=_PHONE)
    await local.open("/")
    await local.choose_agent("reviewed")
    await local.say(graph_files.wants(("drop_table", {"name": "users"})))
    ask = await local.asked("Use drop_table?")
    await expect(ask.locator(".about-call")).to_have_text(_NOTE)
    assert await sideways(local.page) == []
    assert await axe(local.page) == []
    await picture(local.page, "note-phone")
    await ask.get_by_role("button", name="Refuse").click()
    await expect(ask.locator(".about-call")).to_have_text(_NOTE)
    assert await sideways(local.page) == []
    await picture(local.page, "note-refuse-phone")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_use_it(asking: Served, guest: MakeVisitor, scheme: str) -> None:
    local = await guest(asking.url, color_scheme=scheme, locale="zh-CN" if scheme == "dark" else "en-GB")
    title = "asker" if scheme == "dark" else "asker asks"
    for name, value in (("choices", _WHICH), ("draft", _DRAFT), ("text", "Which name?"), ("empty", {})):
        await local.page.set_viewport_size({"width": 1280, "height": 800})
        ask = await _asked(local, value, title)
        await expect(ask.locator("input:checked")).to_have_count(int(name == "text"))
        if name == "draft":
            await ask.locator("summary").click()
        assert await axe(local.page) == []
        await picture(local.page, f"graph-{name}-{scheme}")
        await local.page.set_viewport_size(_PHONE)
        assert await axe(local.page) == []
        assert await sideways(local.page) == []
        await picture(local.page, f"graph-{name}-{scheme}-phone")
        await ask.get_by_role("button", name="拒绝" if scheme == "dark" else "Refuse").click()
        await ask.get_by_role("textbox").fill("no")
        await press(ask.locator("[data-primary]"))
        await local.done()


async def test_it_is_answered_in_the_inbox_too(asking: Served, guest: MakeVisitor) -> None:
    local = await guest(asking.url)
    await _asked(local, _DRAFT)
    conversation = local.conversation
    await local.open("/inbox")
    item = local.page.locator(".inbox-list details:not(.fold-args)", has_text="asker asks").first
    await expect(item).to_be_visible()
    if await item.get_attribute("open") is None:
        await item.locator("summary").first.click()
    await expect(item.locator(".asked").first).to_contain_text("Publish this?")
    await item.get_by_text("Answer with JSON").click()
    assert await axe(local.page) == []
    await picture(local.page, "graph-inbox")
    await local.page.set_viewport_size(_PHONE)
    assert await sideways(local.page) == []
    await picture(local.page, "graph-inbox-phone")
    await item.get_by_role("radio", name="Yes").check()
    # A button that is not seen answers nothing.
    await item.get_by_role("button", name="Send").scroll_into_view_if_needed()
    await press(item.get_by_role("button", name="Send"))
    await local.open(f"/c/{conversation}")
    await local.done()
    await expect(local.answer.locator(".prose")).to_have_text("It was [true].")
