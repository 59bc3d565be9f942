"""The whole flow of a front end: list, create, chat, title, list again; and titles that fail."""

import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.api.server import Served
from tests.api.threads.thread import Thread, kinds, names, one, said

COUNTED = " ".join(str(number) for number in range(1, 201)) + " done."


def test_a_person_lists_creates_and_chats_and_sees_the_title_come(server: Served) -> None:
    with server.client("newcomer") as client:
        assert client.get("/api/sessions").json() == {"threads": [], "total": 0}
        made = client.post("/api/sessions").json()
        thread = Thread(client, made["thread_id"])
        found = thread.chat("count to 200")
        assert said(found) == COUNTED
        assert set(names(found)) == {"messages/partial", "title_updated", "end"}
        assert one(found, "title_updated") == {"title": "count to 200"}
        page = client.get("/api/sessions").json()
        titled = {**made, "title": "count to 200", "message_count": 2}
        assert page == {"threads": [titled], "total": 1}


def test_a_longer_title_that_a_person_gives_elsewhere_is_cut(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("echo hello")
    renamed = alice.patch(
        f"/api/v2/conversations/{thread.id}", json={"title": "关于本季度数据分析的详细讨论以及 后续的安排"}
    )
    assert len(renamed.json()["title"]) > 20
    assert thread.listed()["title"] == "关于本季度数据分析的详细讨论以及 后续的安排"[:20]


def test_the_title_comes_in_the_middle_of_the_reply_and_only_once(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "thinks")
    found = thread.chat("count to 200 delay=0.005")
    place = names(found).index("title_updated")
    assert "messages/partial" in names(found)[:place]
    assert "messages/partial" in names(found)[place:]
    assert said(found) == COUNTED
    assert "title_updated" not in names(thread.chat("count to 20"))
    assert thread.listed()["title"] == "Counting"


def test_a_short_reply_waits_for_the_title(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "thinks")
    assert names(thread.chat("echo hello")) == ["messages/partial", "title_updated", "end"]


def test_a_reply_without_text_leaves_the_title_to_the_next(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "thinks")
    assert names(thread.chat("say nothing")) == ["end"]
    assert thread.history() == [("user", "say nothing")]
    assert one(thread.chat("echo hello"), "title_updated") == {"title": "Counting"}


def test_the_title_is_available_while_the_reply_is_streamed(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 3000 delay=0.005") as found, server.client("alice") as other:
        while next(found).name != "title_updated":
            pass
        assert thread.at(other).listed()["title"] == "count to 3000"
        thread.at(other).stop()


def test_the_context_is_kept_from_message_to_message(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("echo one")
    thread.chat("echo two")
    assert said(thread.chat("what did I say before?")) == "Before this you said:\n1. echo one\n2. echo two"


def test_thoughts_are_not_shown(alice: httpx.Client) -> None:
    found = Thread.new(alice).chat("think about trees think=yes")
    assert said(found) == "I have thought about trees, as far as rules can think."


def test_a_tool_that_needs_no_approval_is_called_at_once(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    found = thread.chat("list files")
    assert kinds(found) == ["tool/start", "tool/end", "end"]
    begun, ended = one(found, "tool/start"), one(found, "tool/end")
    assert begun == {"tool": "list_files", "input": {"path": "."}, "id": begun["id"]}
    assert ended == {"tool": "list_files", "output": ended["output"], "id": begun["id"]}
    assert [role for role, _ in thread.history()] == ["user", "assistant", "tool", "assistant"]


def test_a_reply_that_breaks_off_is_an_error_and_then_the_end(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    found = thread.chat("fail midway")
    assert kinds(found) == ["error", "end"]
    assert "err-" in one(found, "error")["message"]
    assert "demo model failed" not in one(found, "error")["message"]
    assert thread.history() == [("user", "fail midway"), ("assistant", said(found))]
    assert thread.status()["status"] == "idle"
    assert said(thread.chat("echo still here")) == "still here"


# --- titles


@pytest.fixture
def hasty_titles(server: Served) -> Iterator[float]:
    """Seconds that a title may take, for this test."""
    runner = server.context.service.engine.runner
    before, runner._limits = runner._limits, replace(runner._limits, title=0.3)
    yield 0.3
    runner._limits = before


def test_a_title_that_fails_harms_nothing(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "fails")
    found = thread.chat("echo hello")
    assert names(found) == ["messages/partial", "end"]
    assert thread.listed()["title"] is None
    assert said(thread.chat("echo again")) == "again"


def test_a_title_that_hangs_delays_the_end_only_until_its_time_limit(
    alice: httpx.Client, hasty_titles: float
) -> None:
    thread = Thread.new(alice, "hangs")
    began = time.monotonic()
    with thread.chatting("echo hello") as events:
        assert next(events).data == {"content": "hello"}
        assert names(list(events)) == ["end"]
    assert time.monotonic() - began >= hasty_titles
    assert thread.listed()["title"] is None


@pytest.mark.parametrize(
    ("agent", "title"),
    [("quotes", "A title"), ("newlines", "First line"), ("long", "很" * 20)],
)
def test_whatever_a_model_says_a_title_is_one_short_plain_line(
    alice: httpx.Client, agent: str, title: str
) -> None:
    thread = Thread.new(alice, agent)
    found = thread.chat("count to 20")
    assert one(found, "title_updated") == {"title": title}
    assert thread.listed()["title"] == title
