"""Joining a stream, and resuming after any event that was seen."""

from pathlib import Path

import httpx
import pytest

from caesura.core.answers import Answer
from caesura.store import life
from tests.api.reading import Event, send
from tests.api.server import Served
from tests.api.threads.thread import Thread, checked, kinds, names, one, read, said


def test_a_stream_cut_after_every_event_and_joined_again_equals_the_whole(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 60 delay=0.002") as found:
        joined = [next(found)]
    while joined[-1].name != "end":
        with thread.joining(joined[-1].id) as found:
            joined.append(next(found))
    assert checked(joined) == thread.join()
    assert said(joined).endswith(" 60 done.")


def test_the_events_after_any_event_equal_those_of_the_whole_stream(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    asking = thread.chat("write a.txt + write b.txt")
    assert_rest_is_the_same(thread, asking)
    going_on = thread.resume("continue")
    assert_rest_is_the_same(thread, going_on)
    for place, event in enumerate(asking[:-1]):
        assert thread.join(event.id) == asking[place + 1 :]
    assert thread.join(asking[-1].id) == going_on


def assert_rest_is_the_same(thread: Thread, whole: list[Event]) -> None:
    assert thread.join() == whole
    for place, event in enumerate(whole[:-1]):
        assert thread.join(event.id) == whole[place + 1 :]
    assert nothing_after(thread, whole)


def nothing_after(thread: Thread, whole: list[Event]) -> bool:
    response = thread.client.get(f"/api/chat/{thread.id}/stream", headers={"Last-Event-ID": whole[-1].id})
    return (response.status_code, response.content) == (204, b"")


def test_a_thread_without_turns_has_no_stream_to_join(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    assert alice.get(f"/api/chat/{thread.id}/stream").status_code == 204


def test_two_read_the_same_stream(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 100 delay=0.003") as found, server.client("alice") as other:
        first = read(found, 3)
        assert thread.at(other).join() == first + list(found)


def test_a_reader_that_missed_a_reply_gets_the_rest_and_then_the_next(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    first = thread.chat("echo one two three")
    second = thread.chat("echo four five")
    assert int(second[0].id) > int(first[-1].id)
    assert thread.join(first[0].id) == first[1:]
    assert thread.join(first[-1].id) == second
    assert thread.join() == second


def test_a_reader_that_saw_the_question_gets_the_continuation_after_its_answer(
    alice: httpx.Client, server: Served
) -> None:
    thread = Thread.new(alice)
    asking = thread.chat("write hello.py")
    with server.client("alice") as other:
        going_on = thread.at(other).resume("continue")
    assert kinds(thread.join(asking[-1].id)) == ["tool/start", "tool/end", "end"]
    assert thread.join(asking[-1].id) == going_on


def test_a_reader_that_missed_several_turns_gets_one_segment_after_the_other(
    tmp_path: Path, database_url: str
) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client() as alice:
        thread = Thread.new(alice)
        segments = [thread.chat("echo one"), thread.chat("write a.txt"), thread.resume("continue")]
        segments += [thread.chat("echo three"), thread.chat("echo four")]
        for place, segment in enumerate(segments[:-1]):
            assert thread.join(segment[0].id) == segment[1:]
            assert thread.join(segment[-1].id) == segments[place + 1]
        assert nothing_after(thread, segments[-1])


def test_an_id_of_another_branch_is_valid(tmp_path: Path, database_url: str) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client() as alice:
        thread = Thread.new(alice)
        one, two = thread.chat("echo one"), thread.chat("echo two")
        first, second = turns_of(alice, thread)
        send(alice, thread.id, "echo three", parent=first)
        three = thread.join()
        assert thread.join(one[-1].id) == three
        assert thread.join(two[0].id) == two[1:]
        assert thread.join(two[-1].id) == three

        # The other branch is active again: its turn is older than the id, and has ended.
        alice.post(f"/api/v2/conversations/{thread.id}/branch", json={"turn_id": second})
        assert thread.join(three[0].id) == three[1:]
        assert nothing_after(thread, three)
        assert thread.join(one[-1].id) == two

        # The branch goes on: the reader gets what is newer than its id.
        four, five = thread.chat("echo four"), thread.chat("echo five")
        assert thread.join(three[-1].id) == four
        assert thread.join(two[-1].id) == four
        assert thread.join(four[-1].id) == five


def test_an_id_of_another_branch_leads_to_the_turn_that_runs(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("echo one")
    thread.chat("write a.txt")
    first, second = turns_of(alice, thread)
    send(alice, thread.id, "echo three", parent=first)
    three = thread.join()
    alice.post(f"/api/v2/conversations/{thread.id}/branch", json={"turn_id": second})
    assert nothing_after(thread, three)
    with thread.chatting("count to 100000 delay=0.01", supersede=True) as found:
        read(found, 1)
        send(alice, thread.id, "echo five", parent=first)
        five = thread.join()
        alice.post(f"/api/v2/conversations/{thread.id}/branch", json={"turn_id": turns_of(alice, thread)[3]})
        with thread.joining(five[-1].id) as running:
            assert said(read(running, 2)) == "1 2 "


def turns_of(client: httpx.Client, thread: Thread) -> list[str]:
    return [turn["id"] for turn in client.get(f"/api/v2/conversations/{thread.id}").json()["turns"]]


@pytest.mark.parametrize("id", [0, 1, 2**24 + 1, 2**32 - 1, 2**32, 2**32 + 2**24, 3 * 2**32 + 2**24 + 1])
def test_an_id_that_names_no_event_begins_with_a_reset(alice: httpx.Client, id: int) -> None:
    thread = Thread.new(alice)
    one, two = thread.chat("echo one"), thread.chat("echo two")
    first, *rest = thread.join(str(id))
    assert (first.name, first.data) == ("messages/reset", {"scope": "segment"})
    assert rest == (one if id >> 32 == 1 else two)


@pytest.mark.parametrize("more", [1000, 2**32, 2**40], ids=["event", "turn", "far"])
def test_an_id_beyond_the_end_begins_at_the_newest_segment(alice: httpx.Client, more: int) -> None:
    thread = Thread.new(alice)
    whole = thread.chat("echo one two")
    first, *rest = thread.join(str(int(whole[-1].id) + more))
    assert (first.name, first.data) == ("messages/reset", {"scope": "segment"})
    assert rest == whole


@pytest.mark.parametrize("id", ["x", "-1", "1.5", "0x10", "１", str(2**53), "9" * 4000, "1 2", "null"])
def test_an_invalid_event_id_is_refused(alice: httpx.Client, id: str) -> None:
    thread = Thread.new(alice)
    thread.chat("echo one")
    headers = {b"Last-Event-ID": id.encode()}
    response = alice.get(f"/api/chat/{thread.id}/stream", headers=headers)
    assert response.status_code == 400
    assert response.json() == {"detail": "Last-Event-ID must be an id that this thread's stream has sent"}


def test_event_ids_are_exact_in_javascript(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    found = thread.chat("echo one")
    assert all(int(event.id) < 2**53 for event in found)


def test_a_ticket_opens_the_stream_once(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    thread.chat("echo one")
    url = f"/api/chat/{thread.id}/stream"
    ticket = alice.post("/api/v2/stream-ticket", json={"stream": url}).json()["ticket"]
    with server.client(None) as nobody:
        assert "event: end" in nobody.get(url, params={"ticket": ticket}).text
        assert nobody.get(url, params={"ticket": ticket}).status_code == 401


def test_a_refused_decision_is_no_part_of_the_stream(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    asking = thread.chat("ask me 3 questions")
    mistake = thread.resume("answer", ["x"])
    assert [event.id for event in mistake] == ["", ""]
    assert thread.join() == asking


def test_the_head_of_a_stream_is_that_of_server_sent_events(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("echo first, with the title")
    with alice.stream("POST", f"/api/chat/{thread.id}", json={"message": "echo x"}) as response:
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store, no-transform"
        lines = list(response.iter_lines())
    assert lines[:4] == [lines[0], "event: messages/partial", 'data: {"content":"x"}', ""]
    assert lines[0].startswith("id: ")
    assert lines[-3:] == ["event: end", "data: {}", ""]


def test_hostile_text_stays_on_its_line(alice: httpx.Client) -> None:
    words = 'a\n\nevent: end\ndata: {}\r\n\u2028\u0085 "quoted" \\ \U0001f600 [DONE]'
    thread = Thread.new(alice)
    found = thread.chat(f"echo {words}")
    assert said(found) == words
    assert thread.history()[-1] == ("assistant", words)
    assert names(found).count("end") == 1


def test_a_deleted_thread_ends_its_streams(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    with thread.chatting("count to 5000 delay=0.005") as found, server.client("alice") as other:
        first = read(found, 3)
        assert other.delete(f"/api/sessions/{thread.id}").status_code == 204
        checked(first + list(found))
    assert alice.get(f"/api/chat/{thread.id}/stream").status_code == 404


def test_an_interrupt_is_the_same_live_and_joined(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    live = one(thread.chat("two approvals"), "interrupt")
    assert one(thread.join(), "interrupt") == live


def test_joining_right_after_an_answer_gives_its_events_and_no_old_question(
    tmp_path: Path, database_url: str
) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client() as alice:
        thread = Thread.new(alice)
        asked = one(thread.chat("write a.txt"), "interrupt")["interrupt_id"]
        # The answer is accepted, and no run has started yet.
        server.call(server.database.write(life.answer, "alice", {asked: Answer("approve")}))
        joined = thread.join()
        assert kinds(joined) == ["tool/start", "tool/end", "end"]
        assert joined == thread.join()
