"""What an agent asks, answered on the page: approvals, questions, confirmations, several at once."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.api.server import Served
from tests.browser.conftest import MakeVisitor
from tests.browser.visitor import Visitor, press, press_until

pytestmark = pytest.mark.asyncio(loop_scope="session")
WRITE = "write hello.py: print(1)"


def written(server: Served, person: Visitor, name: str) -> str | None:
    """What a file in the workspace of the open conversation holds."""
    path: Path = server.settings.data_dir / "workspaces" / person.conversation / name
    return path.read_text() if path.exists() else None


async def test_an_approved_step_is_done_and_its_pause_stays_in_the_answer(
    server: Served, alice: Visitor
) -> None:
    await alice.say(WRITE)
    ask = await alice.asked("Write a file?")
    await expect(ask).to_contain_text("print(1)")
    await expect(alice.keep).to_contain_text("Paused until you answer.")
    assert written(server, alice, "hello.py") is None
    await press(ask.get_by_role("button", name="Approve"))
    await alice.done()
    assert written(server, alice, "hello.py") == "print(1)"
    await expect(alice.answer.locator(".note")).to_contain_text("you approved")
    await expect(alice.keep).to_contain_text("Every word is kept.")
    await expect(alice.box).to_be_focused()
    assert await alice.seen() == await alice.stored()


async def test_an_edited_approval_does_what_the_person_wrote(server: Served, alice: Visitor) -> None:
    await alice.say(WRITE)
    ask = await alice.asked("Write a file?")
    await ask.get_by_role("button", name="Edit").click()
    await ask.get_by_label("content").fill("print(2)")
    await press(ask.get_by_role("button", name="Approve with changes"))
    await alice.done()
    assert written(server, alice, "hello.py") == "print(2)"
    await expect(alice.answer.locator(".note")).to_contain_text("you approved with changes")


async def test_a_refused_step_is_not_done_and_the_agent_reads_why(server: Served, alice: Visitor) -> None:
    await alice.say(WRITE)
    ask = await alice.asked("Write a file?")
    await ask.get_by_role("button", name="Refuse").click()
    await ask.get_by_role("textbox").fill("not on a Tuesday")
    await press(ask.get_by_role("button", name="Refuse"))
    await alice.done()
    assert written(server, alice, "hello.py") is None
    await expect(alice.answer.locator(".tool-sub")).to_have_text("You refused: “not on a Tuesday”")
    assert "not on a Tuesday" in (await alice.stored())[0][1]


async def test_a_person_answers_in_place_of_a_tool(server: Served, alice: Visitor) -> None:
    await alice.say(WRITE)
    ask = await alice.asked("Write a file?")
    await ask.get_by_role("button", name="Answer instead").click()
    await expect(ask.get_by_role("button", name="Send")).to_be_disabled()
    await ask.get_by_role("textbox").fill("I have written it myself")
    await press(ask.get_by_role("button", name="Send"))
    await alice.done()
    assert written(server, alice, "hello.py") is None
    await expect(alice.answer.locator(".tools")).to_contain_text("answered by you")
    assert "I have written it myself" in (await alice.seen())[0][1]


async def test_two_steps_that_wait_together_get_different_answers(server: Served, alice: Visitor) -> None:
    await alice.say("two approvals")
    await alice.asked("2 things wait for you")
    ask = alice.ask
    first = ask.locator("details").first
    await first.get_by_role("button", name="Refuse").click()
    await press(first.get_by_role("button", name="Refuse"))
    await expect(ask.locator(".answered-row")).to_contain_text("first.txt")
    await expect(ask.get_by_role("heading")).to_have_text("One thing still waits for you")
    assert (await alice.turns())[0]["status"] == "waiting"
    await press(ask.get_by_role("button", name="Approve"))
    await alice.done()
    assert written(server, alice, "first.txt") is None
    assert written(server, alice, "second.txt") == "one of two\n"
    assert await alice.seen() == await alice.stored()


async def test_questions_are_answered_with_options_and_own_words(alice: Visitor) -> None:
    await alice.say("ask me 3 questions")
    ask = await alice.asked("assistant has 3 questions")
    await ask.get_by_role("textbox", name="Own answer").first.fill("mauve, nearly")
    await ask.get_by_role("radio", name="Cat").check()
    await press_until(ask.get_by_role("button", name="Send answers"), ask.get_by_role("alert"))
    # One is missing: it gets the focus, and nothing was sent.
    await expect(ask.get_by_role("alert")).to_have_text("Please answer this one.")
    await expect(ask.get_by_role("radio", name="At once")).to_be_focused()
    await ask.get_by_role("radio", name="After a review").check()
    await expect(ask).to_contain_text("3 of 3 answered")
    await press(ask.get_by_role("button", name="Send answers"))
    await alice.done()
    ((_, answer),) = await alice.seen()
    assert re.search(r"mauve, nearly.*cat.*review", answer)
    assert await alice.seen() == await alice.stored()


async def test_a_confirmation_is_given_with_one_click(visitor: MakeVisitor) -> None:
    alice = await visitor()
    await alice.choose_agent("approval-agent")
    await alice.say("delete the old rows")
    ask = await alice.asked("Please confirm")
    await press(ask.get_by_role("button", name="Confirm"))
    await alice.done()
    await expect(alice.answer).to_contain_text("You have given your consent.")


async def test_what_is_always_allowed_on_a_branch_runs_until_it_is_revoked(
    server: Served, alice: Visitor
) -> None:
    await alice.say("write a.txt: one")
    ask = await alice.asked("Write a file?")
    await ask.get_by_label("Always allow write_file on this branch").check()
    await press(ask.get_by_role("button", name="Approve"))
    await alice.done()
    await alice.say("write a.txt: two")
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    assert written(server, alice, "a.txt") == "two"
    await expect(alice.ask).to_have_count(0)

    bar = alice.page.locator("header.bar")
    await bar.get_by_role("button", name="More").click()
    await alice.page.get_by_role("menuitem", name="Always allowed here").click()
    dialog = alice.page.get_by_role("dialog", name="Always allowed here")
    await dialog.get_by_role("button", name="Ask again").click()
    await expect(dialog).to_contain_text("Nothing is always allowed here.")
    await dialog.get_by_role("button", name="Close").click()
    await alice.say("write a.txt: three")
    await alice.asked("Write a file?")
    assert written(server, alice, "a.txt") == "two"


async def test_the_inbox_has_what_waits_in_three_conversations(visitor: MakeVisitor) -> None:
    alice = await visitor()
    ids: list[str] = []
    side = alice.page.get_by_role("complementary", name="Conversations")
    for text in ("write first.txt: 1", "ask me one question", "write third.txt: 3"):
        made = (await alice.api.post("/api/v2/conversations", json={})).json()["id"]
        sent = await alice.api.post(f"/api/v2/conversations/{made}/turns", json={"content": text})
        assert sent.status_code == 201, sent.text
        ids.append(made)
        # The page learns of them by itself.
        await expect(side.locator(".count")).to_have_text(str(len(ids)))
    await expect(alice.page).to_have_title("(3) Caesura")
    await side.get_by_role("link", name="Inbox").click()
    items = alice.page.locator(".inbox-list > details")
    await expect(items).to_have_count(3)

    # The oldest one is first, and unfolded.
    await press(items.first.get_by_role("button", name="Approve"))
    await expect(items).to_have_count(2)
    await expect(side.locator(".count")).to_have_text("2")
    # The next one is unfolded, and has the focus.
    await expect(items.first).to_be_focused()
    await items.first.get_by_role("radio", name="Green").check()
    await press(items.first.get_by_role("button", name="Send answers"))
    await expect(items).to_have_count(1)
    await items.get_by_role("button", name="Refuse").click()
    await press(items.get_by_role("button", name="Refuse"))
    await expect(alice.page.get_by_role("heading", name="Nothing waits for you.")).to_be_focused()
    await expect(alice.page).to_have_title("Inbox · Caesura")
    for conversation, word in zip(ids, ("done", "green", "refused"), strict=True):
        await alice.open(f"/c/{conversation}")
        await alice.done()
        assert word in (await alice.stored())[0][1]
        assert await alice.seen() == await alice.stored()
