"""A stream that is left, joined again, read twice, and not held back."""

import json
from collections.abc import Callable
from urllib.parse import urlencode

import httpx
import pytest

from tests.api.reading import until
from tests.api.server import Served
from tests.api.superagent.session import A2UI, STREAM, Session, kinds, of, parsed, said, tokens

TICKET = "/api/v2/stream-ticket"


def test_a_stream_joined_after_any_frame_has_exactly_the_others(session: Session) -> None:
    whole = session.chat("think about trees")
    assert session.join() == whole
    for number, event in enumerate(whole[:-1]):
        assert session.join(event.id) == whole[number + 1 :]
    assert session.joined(whole[-1].id).status_code == 204


def test_a_long_stream_is_resumed_exactly_and_has_the_same_text(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    whole = session.chat("count to 400 delay=0")
    assert said(whole).endswith("399 400 done.")
    assert of(whole, "text")[-1]["content"] == said(whole)
    for number in (0, len(whole) // 2, len(whole) - 3):
        assert session.join(whole[number].id) == whole[number + 1 :]
    assert "".join(tokens(session.joined(a2ui=False))) == said(whole)


def test_a_question_is_followed_by_its_answer_in_the_next_segment(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    asked = session.chat("write a.txt + write b.txt")
    assert session.joined(asked[-1].id).status_code == 204
    answered = session.resume(confirm=False)
    assert session.join(asked[-1].id) == answered
    assert session.join() == answered
    for number, event in enumerate(asked[:-1]):
        assert session.join(event.id) == asked[number + 1 :]
    following = session.chat("echo next")
    assert session.join(answered[-1].id) == following


def test_a_session_without_messages_has_no_stream(alice: httpx.Client) -> None:
    assert Session.new(alice).joined().status_code == 204


@pytest.mark.parametrize("id", ["x", "-1", "1.2.3", "1.", "9" * 17, str(2**53), "1.99999"])
def test_an_id_that_no_stream_has_sent_is_refused(session: Session, id: str) -> None:
    session.chat("echo x")
    refused = session.joined(id)
    assert refused.status_code == 400
    assert refused.json() == {"error": "Last-Event-ID must be an id that this session's stream has sent"}


def test_an_id_that_names_no_event_begins_the_segment_again(session: Session) -> None:
    whole = session.chat("echo x")
    found = parsed(session.joined(str(int(whole[0].id) + 2**24 * 9)))
    assert found[0].data["data"] == {"status": "restart", "scope": "segment"}
    assert found[1].data["data"] == {"content": "", "delta": ""}
    assert found[2:] == whole
    lines = tokens(session.joined(str(int(whole[0].id) + 2**24 * 9), a2ui=False))
    assert lines == ["\n[RESTART]\n", "x"]


def test_a_ticket_opens_the_stream(session: Session, nobody: httpx.Client) -> None:
    whole = session.chat("echo x")
    stream = f"{STREAM}?{urlencode(session.ids)}&a2ui=true"
    ticket = session.client.post(TICKET, json={"stream": stream}).json()["ticket"]
    query = {**session.ids, "ticket": ticket, "a2ui": "true", "after": whole[0].id}
    assert parsed(nobody.get(STREAM, params=query)) == whole[1:]
    again = nobody.get(STREAM, params=query)
    assert (again.status_code, set(again.json())) == (401, {"error"})


@pytest.mark.parametrize("named", [{}, {"session_id": "another"}, {"agent_id": "another"}, {"more": "1"}])
def test_a_ticket_opens_no_other_session(
    session: Session, nobody: httpx.Client, named: dict[str, str]
) -> None:
    session.chat("echo x")
    stream = f"{STREAM}?{urlencode({**session.ids, **named})}" if named else STREAM
    ticket = session.client.post(TICKET, json={"stream": stream}).json()["ticket"]
    refused = nobody.get(STREAM, params={**session.ids, "ticket": ticket})
    assert (refused.status_code, refused.json()) == (401, {"error": "the ticket is for another stream"})


def test_a_client_that_comes_back_in_time_misses_nothing(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("count to 200 delay=0.005") as found:
        first = [next(found) for _ in range(10)]
    rest = session.join(first[-1].id)
    assert said(first + rest).endswith("199 200 done.")


def test_a_run_that_nobody_reads_is_stopped_and_its_words_are_kept(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("count to 5000 delay=0.01") as found:
        first = [next(found) for _ in range(10)]
    until(lambda: session.turns()[-1]["status"] == "stopped")
    whole = session.join()
    assert whole[: len(first)] == first
    assert not said(whole).endswith("done.")
    assert kinds(whole)[-2:] == ["progress", "done"]


def test_a_run_that_may_go_on_alone_comes_to_its_end(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("count to 300 delay=0.01", on_disconnect="continue") as found:
        next(found)
    until(lambda: session.turns()[-1]["status"] == "done")
    assert said(session.join()).endswith("299 300 done.")


def test_a_message_while_a_client_reads_is_refused(server: Served, alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("wait 600 seconds"), server.client() as other:
        refused = session.at(other).send("echo x")
        assert (refused.status_code, refused.json()) == (409, {"error": "run in progress"})
        assert session.at(other).waiting() == {"interrupted": False}
        assert session.at(other).abort() is True
    until(lambda: not session.abort())


def test_a_message_after_the_client_has_left_begins_at_once(alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("count to 5000 delay=0.01") as found:
        next(found)
    until(lambda: session.send("echo x").status_code == 200)
    assert [turn["status"] for turn in session.turns()] == ["stopped", "done"]


def test_a_deleted_session_ends_its_streams_and_begins_anew(server: Served, alice: httpx.Client) -> None:
    session = Session.new(alice, "assistant")
    with session.chatting("wait 600 seconds"), server.client() as other:
        read = other.stream("GET", STREAM, params=session.ids, headers=A2UI)
        with read as response:
            made = session.at(other).conversation()["id"]
            with server.client() as third:
                assert third.delete(f"/api/v2/conversations/{made}").status_code == 204
            lines = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
    assert [line["type"] for line in lines[-2:]] == ["error", "done"]
    assert lines[-2]["data"] == {"code": "deleted", "message": "the conversation was deleted"}
    assert session.joined().status_code == 204
    session.chat("echo x")
    assert session.conversation()["id"] != made


@pytest.mark.parametrize("agent", ["gated", "gated-plain"])
def test_the_first_words_come_before_the_next_are_said(
    alice: httpx.Client, gate: Callable[[], None], agent: str
) -> None:
    """Whether the agent stops for confirmations or not: nothing is held back until the reply is complete."""
    session = Session.new(alice, agent)
    with session.chatting("go") as found:
        assert next(found).data["data"]["delta"] == "One moment. "
        gate()
        left = list(found)
    assert kinds(left) == (["interrupt", "done"] if agent == "gated" else ["done"])


def test_the_legacy_form_holds_nothing_back_either(alice: httpx.Client, gate: Callable[[], None]) -> None:
    session = Session.new(alice, "gated")
    with alice.stream("POST", STREAM, json={**session.ids, "message": "go"}) as response:
        lines = response.iter_lines()
        assert next(lines) == "data: One moment. "
        gate()
        assert list(lines)[-2:] == ["data: [DONE]", ""]
