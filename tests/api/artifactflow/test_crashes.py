"""kill -9 of the server: nobody is pinged for ever, and everything is there when it is back."""

from pathlib import Path

import httpx
import pytest

from tests.api.artifactflow.message import Message, kinds, last, said, typed, words
from tests.api.threads.process import Process

COUNTED = " ".join(str(number) for number in range(1, 151)) + " done."


def process(folder: Path) -> Process:
    return Process(folder, default_agent="assistant")


def test_a_reader_of_a_dead_server_is_cut_and_gets_the_rest_from_the_next(tmp_path: Path) -> None:
    with process(tmp_path) as server, server.client() as client:
        message = Message.send(client, "count to 150 delay=0.005")
        with message.reading() as found:
            first = words(found, 40)
            server.kill()
            with pytest.raises(httpx.TransportError):
                list(found)
    with process(tmp_path) as server, server.client() as client:
        message = message.at(client)
        rest = message.read(first[-1].id)
        assert kinds(rest).count("restart") == 1
        assert last(rest, "complete")["response"] == said(rest) == said(first + rest) == COUNTED
        whole = message.read()
        assert whole[: len(first)] == first
        assert said(whole) == COUNTED
        assert message.read(first[-1].id) == rest
        assert message.shown()["response"] == COUNTED
        for number in range(0, len(whole) - 1, 20):
            assert message.read(whole[number].id) == whole[number + 1 :]


def test_a_question_and_its_stream_are_there_after_a_crash(tmp_path: Path) -> None:
    with process(tmp_path) as server, server.client() as client:
        agreed, refused = (Message.send(client, "write a.txt + write b.txt") for _ in range(2))
        asked = agreed.read()
        refused.read()
        server.kill()
    with process(tmp_path) as server, server.client() as client:
        agreed, refused = agreed.at(client), refused.at(client)
        assert agreed.read() == asked
        for number, event in enumerate(asked[:-1]):
            assert agreed.read(event.id) == asked[number + 1 :]
        assert client.get(agreed.url, headers={"Last-Event-ID": asked[-1].id}).status_code == 204
        assert [item["status"] for item in typed(agreed.resume(approved=True), "tool_result")] == ["ok"] * 2
        assert kinds(refused.resume(approved=False))[-1] == "complete"
        names = [(tmp_path / "workspaces" / m.conversation_id / "a.txt").exists() for m in (agreed, refused)]
        assert names == [True, False]


def test_a_crash_after_the_decision_makes_no_call_twice(tmp_path: Path) -> None:
    with process(tmp_path) as server, server.client() as client:
        message = Message.send(client, "write a.txt: x delay=0.02")
        message.read()
        assert message.decide(approved=True).status_code == 200
        with message.reading() as found:
            seen = words(found)
            server.kill()
    with process(tmp_path) as server, server.client() as client:
        message = message.at(client)
        whole = message.read()
        assert whole[: len(seen)] == seen
        assert len(typed(whole, "tool_result")) == len(typed(whole, "tool_start")) == 1
        assert last(whole, "complete")["response"] == said(whole)
        assert message.decide(approved=True).status_code == 409
