"""Several tabs of one browser, and texts that were not sent yet."""

import asyncio
from functools import partial

import pytest
from playwright.async_api import Request, Route, expect

from tests.browser.conftest import MakeVisitor
from tests.browser.faults import Faults
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")
WINDOWS = 5
#: Goes on for longer than the test needs, and slowly: each window draws each number.
LONG = "count to 2000 think=no delay=0.3{}"
#: Goes on for so long that each window must share its place.
SHARED = "count to 40 think=no delay=0.25{}"
COUNTED = " ".join([*(str(number) for number in range(1, 41)), "done."])
#: Remembers whether the page has ever said that the connection is lost.
WATCH = """() => {
  window.sawLoss = false;
  const look = () => (window.sawLoss ||= document.querySelector(".keep.lost, .turn.lost") !== null);
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


async def test_a_stop_reaches_the_server_although_many_windows_read_answers(visitor: MakeVisitor) -> None:
    people = await _windows(await visitor())
    for person in people:
        await person.say(LONG.format(""))
    for person in people:
        await expect(person.answer).to_contain_text("1 2 3")
    for person in reversed(people):
        await person.button("Stop").click()
        await expect(person.page.locator(".keep.stopped")).to_be_visible()
        assert (await person.turns())[-1]["status"] == "stopped"


async def test_windows_that_share_the_connections_get_all_words_and_read_no_snapshots(
    visitor: MakeVisitor,
) -> None:
    people = await _windows(await visitor())
    snapshots = [0] * WINDOWS
    for number, person in enumerate(people):
        await person.say(SHARED.format(number))
        await person.page.evaluate(WATCH)
    for person in people:
        await expect(person.answer).to_contain_text("1 2 3")
    for number, person in enumerate(people):
        person.page.on("request", partial(_count, snapshots, number))
    for number, person in enumerate(people):
        await person.done()
        said = SHARED.format(number), COUNTED
        assert (await person.seen())[-1] == (await person.stored())[-1] == said
        assert await person.page.evaluate("window.sawLoss") is False
    # News of the person's own message may make a window look once. A timer looks again and again.
    assert max(snapshots) <= 1


async def _windows(alice: Visitor) -> list[Visitor]:
    """So many windows of one person that their streams, with those of other tabs, need more connections than
    a browser has to one server."""
    people = [alice]
    for _ in range(WINDOWS - 1):
        page = await alice.tab("/")
        people.append(Visitor(alice.name, alice.url, alice.context, page, alice.api))
    return people


def _count(snapshots: list[int], window: int, request: Request) -> None:
    if request.url.split("?")[0].endswith("/snapshot"):
        snapshots[window] += 1


@pytest.mark.parametrize("copied", [False, True], ids=["another-window", "copy-of-the-window"])
async def test_windows_that_send_the_same_words_in_the_same_moment_begin_two_conversations(
    visitor: MakeVisitor, copied: bool
) -> None:
    alice = await visitor()
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        if route.request.method == "POST":
            await released.wait()
        await route.continue_()

    await alice.page.route("**/api/v2/conversations", hold)
    await alice.say("echo hello")
    async with alice.context.expect_page() as opened:
        # A window that is opened by a script has a copy of what its opener keeps for itself.
        await (alice.page.evaluate("void window.open('/')") if copied else alice.tab("/"))
    twin = Visitor(alice.name, alice.url, alice.context, await opened.value, alice.api)
    await expect(twin.box).to_have_value("echo hello")
    await twin.send()
    await twin.done()
    released.set()
    await alice.done()
    assert alice.conversation != twin.conversation
    for person in (alice, twin):
        assert await person.stored() == [("echo hello", "hello")]


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "loaded-anew"])
async def test_words_whose_window_is_gone_are_not_sent_twice(
    visitor: MakeVisitor, faults: Faults, closed: bool
) -> None:
    faults.expect("ERR_FAILED")
    alice = await visitor()
    taken = asyncio.Event()

    async def lose(route: Route) -> None:
        """The server gets the message, and the page no response."""
        if route.request.method == "POST" and not taken.is_set():
            await route.fetch()
            taken.set()
            await asyncio.Event().wait()
        await route.continue_()

    await alice.page.route("**/turns", lose)
    await alice.say("echo hello")
    await taken.wait()
    path = f"/c/{alice.conversation}"
    # The next page does not see what the server has before the words are sent again.
    await alice.context.route("**/snapshot*", lambda route: route.abort())
    if closed:
        page = await alice.tab(path)
        await alice.page.close()
    else:
        page = alice.page
        await page.reload()
    again = Visitor(alice.name, alice.url, alice.context, page, alice.api)
    await expect(again.box).to_have_value("echo hello")
    await alice.context.unroute("**/snapshot*")
    await again.send()
    await again.done()
    assert await again.stored() == [("echo hello", "hello")]


async def test_each_tab_keeps_the_texts_that_were_typed_in_it(visitor: MakeVisitor) -> None:
    alice = await visitor()
    await alice.say("echo hello")
    await alice.done()
    other = await alice.tab(f"/c/{alice.conversation}")
    twin = Visitor(alice.name, alice.url, alice.context, other, alice.api)
    await expect(twin.answer).to_contain_text("hello")
    await alice.box.fill("a long draft")
    await twin.say("echo short")
    await twin.done()
    await expect(alice.page.locator(".leaf")).to_have_count(2)
    await alice.button("Edit").first.click()
    await alice.page.locator(".editbox textarea").fill("echo something else")
    await alice.page.reload()
    await expect(alice.page.locator(".editbox textarea")).to_have_value("echo something else")
    await expect(alice.box).to_have_value("a long draft")


async def test_a_text_outlives_the_conversation_in_which_it_was_typed(visitor: MakeVisitor) -> None:
    alice = await visitor()
    await alice.say("echo hello")
    await alice.done()
    await alice.box.fill("typed for a while")
    gone = await alice.api.delete(f"/api/v2/conversations/{alice.conversation}")
    assert gone.status_code == 204
    await expect(alice.page.get_by_text("What you wrote here is kept.")).to_be_visible()
    await alice.page.get_by_role("main").get_by_role("link", name="New conversation").click()
    await expect(alice.box).to_have_value("typed for a while")
