"""The reader disconnects in mid-stream: for good, for a moment, or to send another message."""

import time
from collections.abc import Iterator

import httpx
import pytest

from caesura.core.errors import Unavailable
from tests.api.reading import until
from tests.api.server import Served
from tests.api.threads.conftest import GRACE, Prompts
from tests.api.threads.thread import Thread, checked, names, read, said


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a long grace period, whose runs continue without readers unless the message says
    otherwise."""
    folder = tmp_path_factory.mktemp("patient")
    with Served(folder, disconnect_grace=60, on_disconnect="continue") as server:
        yield server


def test_a_reader_that_leaves_finds_its_text_and_the_agent_continues_from_it(
    alice: httpx.Client, prompts: Prompts
) -> None:
    thread = Thread.new(alice, "recorder")
    with thread.chatting("count to 5000 delay=0.005") as found:
        seen = said(read(found, 30))
    assert thread.status()["status"] == "idle"
    thread.until_idle()
    (_, asked), (role, kept) = thread.history()
    assert (role, asked) == ("assistant", "count to 5000 delay=0.005")
    assert kept.startswith(seen)
    assert "5000" not in kept
    after = thread.status()
    assert (after["status"], after["has_pending_tasks"], after["interrupt_info"]) == ("idle", False, None)
    assert said(thread.chat("what did I say first?")) == f"The first thing you said was: {asked}"
    assert prompts.last()[-3:] == [("user", asked), ("assistant", kept), ("user", "what did I say first?")]


def test_a_run_continues_for_the_grace_period_and_is_then_stopped(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 5000 delay=0.005") as found:
        read(found, 3)
    left = time.monotonic()
    assert thread.status()["running"]
    thread.until_idle()
    assert time.monotonic() - left > GRACE * 0.8
    rest = thread.join()
    assert "5000" not in said(rest)
    assert names(rest)[-2:] == ["messages/partial", "end"]
    assert thread.history()[-1] == ("assistant", said(rest))


def test_a_run_is_stopped_once_storage_is_back(
    alice: httpx.Client, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, tried = server.context.service.turns, list[int]()
    leave = turns.leave

    async def storage_away_at_first(num: int) -> None:
        tried.append(num)
        if len(tried) == 1:
            raise Unavailable
        await leave(num)

    monkeypatch.setattr(turns, "leave", storage_away_at_first)
    thread = Thread.new(alice)
    with thread.chatting("count to 5000 delay=0.005") as found:
        read(found, 3)
    thread.until_idle()
    assert len(tried) == 2
    assert "5000" not in said(thread.join())


def test_a_reader_that_returns_within_the_grace_period_misses_nothing(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 300 delay=0.003") as found:
        first = read(found, 40)
    time.sleep(GRACE / 4)
    rest = thread.join(first[-1].id)
    assert said(checked(first + rest)) == " ".join(str(n) for n in range(1, 301)) + " done."


def test_a_reader_that_returns_repeatedly_keeps_the_run_alive(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 400 delay=0.003") as found:
        taken = read(found, 5)
    while taken[-1].name != "end":
        with thread.joining(taken[-1].id) as found:
            taken += [event for event, _ in zip(found, range(40), strict=False)]
    assert said(checked(taken)).endswith(" 399 400 done.")


def test_a_new_message_stops_a_run_without_readers_at_once(patient: Served) -> None:
    with patient.client() as client:
        for _ in range(5):
            thread = Thread.new(client)
            with thread.chatting("count to 5000 delay=0.005", on_disconnect="stop") as found:
                seen = said(read(found, 10))
            assert said(thread.chat("echo something else")) == "something else"
            history = thread.history()
            assert [role for role, _ in history] == ["user", "assistant", "user", "assistant"]
            assert history[1][1].startswith(seen)


def test_a_new_message_is_refused_while_somebody_reads(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 150 delay=0.003") as found, server.client("alice") as other:
        first = read(found, 2)
        refused = thread.at(other).send("echo no")
        assert refused.status_code == 409
        assert refused.json() == {"detail": "run in progress"}
        assert said(first + list(found)).endswith(" 150 done.")
    assert len(thread.history()) == 2


def test_a_reader_with_another_connection_has_not_left(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with server.client("alice") as other, thread.chatting("count to 5000 delay=0.005") as found:
        read(found, 2)
        with thread.at(other).joining() as elsewhere:
            read(elsewhere, 2)
            found.close()  # type: ignore[attr-defined]
            time.sleep(GRACE * 1.2)
            assert thread.status()["running"]
            thread.stop()
            assert list(elsewhere)[-1].name == "end"


def test_a_run_with_on_disconnect_continue_needs_no_reader(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 300 delay=0.005", on_disconnect="continue") as found:
        read(found, 2)
    thread.until_idle()
    assert thread.history()[-1][1].endswith(" 300 done.")


def test_the_message_overrides_the_servers_setting_for_disconnects(patient: Served) -> None:
    presence = patient.context.service.presence
    before = len(presence._timers)
    with patient.client() as client:
        goes_on, stops = Thread.new(client), Thread.new(client)
        with goes_on.chatting("count to 150 delay=0.005") as found:
            read(found, 2)
        until(lambda: presence._readers == {})
        assert len(presence._timers) == before
        with stops.chatting("count to 5000 delay=0.005", on_disconnect="stop") as found:
            read(found, 2)
        until(lambda: len(presence._timers) == before + 1)
        goes_on.until_idle()
        assert goes_on.history()[-1][1].endswith(" 150 done.")
        assert stops.stop()


def test_a_question_still_waits_after_its_reader_has_left(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("write hello.py") as found:
        while next(found).name != "interrupt":
            pass
    time.sleep(GRACE * 1.5)
    assert thread.status()["status"] == "interrupted"
    assert names(thread.resume("continue"))[0] == "tool/start"


def test_stopping_keeps_the_text_and_ends_the_stream(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 5000 delay=0.005") as found, server.client("alice") as other:
        first = read(found, 20)
        assert thread.at(other).stop() is True
        shown = checked(first + list(found))
    assert thread.history()[-1] == ("assistant", said(shown))
    assert thread.status()["running"] is False
    assert thread.status()["status"] == "idle"
    assert thread.stop() is False
    assert said(thread.chat("echo on")) == "on"


def test_stopping_where_nothing_runs_changes_nothing(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    assert thread.stop() is False
    thread.chat("echo hello")
    assert thread.stop() is False
    assert thread.history() == [("user", "echo hello"), ("assistant", "hello")]


def test_stopping_a_waiting_turn_closes_the_question(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py")
    assert thread.stop() is True
    assert thread.status()["status"] == "idle"
    assert thread.decide(action="continue").status_code == 409
    assert thread.history()[-1] == ("tool", "Not done: the turn ended before this call was made.")
