"""Faults that servers of this API are known for, each as a test that they are not here."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from caesura.store import turns
from tests.api.artifactflow.message import LIVE, Message, kinds, last, said, typed, words
from tests.api.reading import Event, until
from tests.api.server import Served
from tests.api.threads.conftest import Prompts

Files = Callable[[str, str], Path]


def test_a_second_question_during_a_resume_is_not_reported_as_the_end(
    alice: httpx.Client, file_of: Files
) -> None:
    message = Message.send(alice, "write a.txt then write b.txt then write c.txt")
    seen = [last(message.read(), "interrupt")["interrupt_data"]["params"]["path"]]
    for name in ("b.txt", "c.txt"):
        found = message.resume(approved=True)
        assert kinds(found)[-2:] == ["permission_required", "interrupt"]
        asked = last(found, "interrupt")
        assert (asked["success"], asked["interrupted"]) == (True, True)
        assert message.shown()["status"] == "waiting"
        assert not file_of(message.conversation_id, name).exists()
        seen.append(asked["interrupt_data"]["params"]["path"])
    assert seen == ["a.txt", "b.txt", "c.txt"]
    assert last(message.resume(approved=True), "complete")["success"] is True


def test_the_first_message_edited_and_run_again_is_a_sibling_and_no_child(
    alice: httpx.Client, prompts: Prompts
) -> None:
    first = Message.send(alice, "echo one", agent="recorder")
    first.read()
    first.then("echo two").read()
    edited = first.then("echo edited", parent_message_id=None)
    edited.read()
    assert [text for kind, text in prompts.last() if kind in ("user", "assistant")] == ["echo edited"]
    roots = [item["id"] for item in first.detail()["messages"] if item["parent_id"] is None]
    assert roots == [first.id, edited.id]
    assert first.shown()["children"] != [edited.id]
    assert first.detail()["active_branch"] == edited.id
    again = first.then("echo three")
    again.read()
    assert again.shown()["parent_id"] == edited.id


def test_a_disconnect_denies_nothing_and_stops_nothing(
    server: Served, alice: httpx.Client, file_of: Files
) -> None:
    message = Message.send(alice, "write a.txt: x delay=0.02")
    with message.reading() as found:
        words(found)
    until(lambda: len(server.context.streams) == 0)
    message.until("waiting")
    with message.reading() as found:
        next(found)
    time.sleep(2 * server.settings.disconnect_grace)
    assert message.shown()["status"] == "waiting"
    assert message.decide(approved=True).status_code == 200
    with message.reading() as found:
        next(found)
    message.until("done")
    assert file_of(message.conversation_id, "a.txt").read_text() == "x"
    assert kinds(message.read())[-1] == "complete"


def test_a_run_without_any_reader_comes_to_its_end(server: Served, alice: httpx.Client) -> None:
    message = Message.send(alice, "wait 1 seconds")
    time.sleep(2 * server.settings.disconnect_grace)
    assert message.shown()["status"] in (*LIVE, "done")
    message.until("done")
    assert last(message.read(), "complete")["response"] == "I have waited."


def test_a_question_waits_longer_than_any_window_of_a_stream(tmp_path: Path) -> None:
    with Served(tmp_path, stream_ttl=0.3, sse_ping_interval=0.1) as server, server.client() as client:
        message = Message.send(client, "write a.txt: x")
        asked = message.read()
        time.sleep(1.0)
        assert message.shown()["status"] == "waiting"
        assert message.read() == asked
        assert kinds(message.resume(approved=True))[-1] == "complete"


def test_the_time_of_a_run_is_bounded_and_the_time_of_a_person_is_not(tmp_path: Path) -> None:
    with Served(tmp_path, stream_timeout=1.0) as server, server.client() as client:
        message = Message.send(client, "count to 100000 delay=0.02")
        failed = last(message.read(), "error")
        assert (failed["code"], failed["retryable"]) == ("timeout", True)
    with Served(tmp_path) as server, server.client() as client:
        asking = Message.send(client, "write a.txt")
        asking.read()
        before = running_ms(server, asking)
        time.sleep(0.5)
        began = time.monotonic()
        assert kinds(asking.resume(approved=True))[-1] == "complete"
        worked = (time.monotonic() - began) * 1000
        assert running_ms(server, asking) - before <= worked + 10


def running_ms(server: Served, message: Message) -> int:
    id = message.id.replace("msg-", "turn-")
    return server.call(server.database.read(turns.get, id)).running_ms


@pytest.mark.usefixtures("no_double_clicks")
def test_an_approval_is_never_taken_for_another_call(
    server: Served, alice: httpx.Client, file_of: Files
) -> None:
    """Two runs of one conversation wait. The decision on one never decides on the other."""
    root = Message.send(alice, "echo root")
    root.read()
    one, two = root.then("write one.txt"), root.then("write two.txt", parent_message_id=root.id)
    ids = {m.id: last(m.read(), "interrupt")["interrupt_data"]["interrupt_id"] for m in (one, two)}
    assert one.decide(approved=True, interrupt_id=ids[two.id]).status_code == 409
    assert one.decide(approved=True, thread_id=two.thread_id).status_code == 404
    assert one.decide(approved=True, interrupt_id=ids[one.id]).status_code == 200
    assert kinds(one.read())[-1] == "complete"
    assert two.shown()["status"] == "waiting"
    assert not file_of(root.conversation_id, "two.txt").exists()
    assert one.decide(approved=True).status_code == 409
    two.cancel()


def test_streams_of_several_conversations_are_not_mixed(server: Served) -> None:
    with server.client("many") as client:
        found: dict[str, list[Event]] = {}

        def read(message: Message) -> None:
            with server.client("many") as own:
                found[message.id] = message.at(own).read()

        said_by = {}
        for number in range(6):
            text = " ".join(f"{number}-{word}" for word in range(40))
            message = Message.send(client, f"echo {text} delay=0.002")
            said_by[message.id] = (message, text)
        readers = [threading.Thread(target=read, args=(message,)) for message, _ in said_by.values()]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        for id, (message, text) in said_by.items():
            assert found[id][0].data["conversation_id"] == message.conversation_id
            assert said(found[id]) == last(found[id], "complete")["response"] == text


def test_a_permission_that_expires_leaves_a_result_for_its_call(alice: httpx.Client, file_of: Files) -> None:
    message = Message.send(alice, "write a.txt", agent="hasty")
    asked = message.read()
    assert last(asked, "interrupt")["interrupt_data"]["expires_at"].endswith("Z")
    message.until("stopped")
    ended = message.read(asked[-1].id)
    assert last(ended, "error") == {
        "error": "Nobody answered in time, and the run was stopped.",
        "code": "expired",
        "retryable": False,
    }
    assert message.read() == ended
    late = message.decide(
        approved=True, interrupt_id=last(asked, "interrupt")["interrupt_data"]["interrupt_id"]
    )
    assert late.status_code == 409
    (turn,) = alice.get(f"/api/v2/conversations/{message.conversation_id}").json()["turns"]
    calls = [call["id"] for item in turn["messages"] for call in item.get("tool_calls") or []]
    results = [item["tool_call_id"] for item in turn["messages"] if item["role"] == "tool"]
    assert len(calls) == 1
    assert results == calls
    assert not file_of(message.conversation_id, "a.txt").exists()
    assert said(message.then("echo on").read()) == "on"


def test_the_ids_in_a_question_are_those_of_its_run_in_every_segment(alice: httpx.Client) -> None:
    message = Message.send(alice, "write a.txt then write b.txt")
    for found in (message.read(), message.resume(approved=True)):
        asked = last(found, "interrupt")
        assert (asked["thread_id"], asked["message_id"]) == (message.thread_id, message.id)
        (routing,) = typed(found, "permission_required")
        assert routing["routing"] in asked["interrupt_data"]["requests"]
