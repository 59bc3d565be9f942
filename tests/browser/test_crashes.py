"""The server is killed with -9 while somebody looks at the page, and started again."""

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
