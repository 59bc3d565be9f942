"""The server is killed with -9 while somebody looks at the page, and started again, or its disk is full."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.test_streams import COUNT, COUNTED, begin, texts
from tests.browser.visitor import press
from tests.client.process import Process

pytestmark = pytest.mark.asyncio(loop_scope="session")
CUT = "ERR_CONNECTION_(REFUSED|RESET)|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE"


async def test_an_answer_goes_on_by_itself_after_a_crash(
    process: Process, guest: MakeVisitor, faults: Faults
) -> None:
    faults.expect(CUT)
    alice = await guest(process.url)
    await alice.open("/")
    await begin(alice)
    process.kill()
    await expect(alice.keep).to_contain_text("Connection lost, nothing else.")
    cut = (await texts(alice.page))[-1]
    assert len(cut) < len(COUNTED)
    process.start()
    await alice.done()
    await expect(alice.answer.locator(".note")).to_contain_text("Interrupted on the server")
    # Words may be written anew after a crash, but never others, and none twice.
    assert all(words == COUNTED[: len(words)] for words in await texts(alice.page))
    assert await alice.seen() == await alice.stored() == [(COUNT, " ".join(COUNTED))]


async def test_a_question_waits_through_a_crash_and_is_answered_once(
    process: Process, guest: MakeVisitor, faults: Faults
) -> None:
    faults.expect(CUT)
    alice = await guest(process.url)
    await alice.open("/")
    await alice.say("run echo once >> runs.txt")
    ask = await alice.asked("Run a command?")
    process.kill()
    await expect(alice.keep).to_contain_text("Connection lost, nothing else.")
    process.start()
    await expect(alice.keep).to_contain_text("Paused until you answer.")
    await expect(ask).to_have_count(1)
    await press(ask.get_by_role("button", name="Approve"))
    await alice.done()
    await alice.say("read runs.txt")
    await expect(alice.page.locator("article.turn.done")).to_have_count(2)
    assert (await alice.seen())[1][1].endswith("once")
    assert await alice.seen() == await alice.stored()
    first, second = await alice.turns()
    assert [item["status"] for item in first["messages"] if item["role"] == "tool"] == ["ok"]
    assert [item["content"] for item in second["messages"] if item["role"] == "tool"] == ["once\n"]


async def test_a_full_disk_is_told_while_an_answer_is_written_and_the_answer_goes_on_after_it(
    process: Process, guest: MakeVisitor, faults: Faults
) -> None:
    faults.expect("status of 503")
    alice = await guest(process.url)
    await alice.open("/")
    await begin(alice)
    await alice.box.fill("a draft")
    with process.full():
        await expect(alice.page.locator(".keep.fault")).to_contain_text(
            "The server cannot store anything right now. Your draft is kept here."
        )
    await alice.done()
    await expect(alice.keep).to_contain_text("Every word is kept.")
    await expect(alice.box).to_have_value("a draft")
    assert await alice.seen() == await alice.stored() == [(COUNT, " ".join(COUNTED))]


async def test_a_message_that_a_full_disk_refuses_stays_in_the_box(
    process: Process, guest: MakeVisitor, faults: Faults
) -> None:
    faults.expect("status of 503")
    alice = await guest(process.url)
    await alice.open("/")
    await alice.box.fill("echo hello")
    with process.full():
        await alice.send()
        await expect(alice.page.locator(".keep.fault")).to_contain_text(
            "The server cannot store anything right now. Your draft is kept here."
        )
        await expect(alice.box).to_have_value("echo hello")
    await alice.send()
    await alice.done()
    assert await alice.seen() == await alice.stored() == [("echo hello", "hello")]
