"""One conversation, whichever API made it: begun over C, and read, continued and answered over the others."""

import httpx

from tests.api.artifactflow.message import Message
from tests.api.artifactflow.message import said as said_in_b
from tests.api.artifactflow.test_crossing import newest
from tests.api.reading import outcome, send, to_segment_end
from tests.api.superagent.session import Session, of, one, said
from tests.api.threads.thread import Thread
from tests.api.threads.thread import one as one_in_a
from tests.api.threads.thread import said as said_in_a


def test_a_session_is_an_ordinary_conversation_of_every_api(alice: httpx.Client) -> None:
    session = Session.new(alice)
    session.chat("echo over C")
    made = session.conversation()
    thread = Thread(alice, made["id"])
    assert thread.listed()["title"] == made["title"]
    assert thread.history() == [("user", "echo over C"), ("assistant", "over C")]
    listed = alice.get("/api/v1/chat", params={"limit": 100}).json()["conversations"]
    assert made["id"] in [item["id"] for item in listed]
    assert said_in_b(newest(alice, made["id"]).read()) == "over C"

    assert said_in_a(thread.chat("echo over A")) == "over A"
    assert said(session.join()) == "over A"
    following = newest(alice, made["id"]).then("echo over B")
    following.read()
    assert said(session.join()) == "over B"
    turn = send(alice, made["id"], "echo natively")
    to_segment_end(alice, turn["id"])
    shown = said(session.chat("what did I say before?"))
    assert all(f"over {api}" in shown for api in "CAB")
    assert "natively" in shown
    assert len({item["id"] for item in session.turns()}) == 5


def test_a_question_of_a_session_is_answered_over_the_other_apis(alice: httpx.Client) -> None:
    session = Session.new(alice)
    made = ""
    for answer in ("A", "B", "native"):
        assert one(session.chat("delete the old rows"), "interrupt")
        made = session.conversation()["id"]
        match answer:
            case "A":
                thread = Thread(alice, made)
                (info,) = thread.status()["interrupt_info"]["interrupts"]
                assert info["interrupt_id"] == session.interrupt()
                assert said_in_a(thread.resume("continue")) == said(session.join())
            case "B":
                message: Message = newest(alice, made)
                assert said_in_b(message.resume(approved=False)) == said(session.join())
            case _:
                url = f"/api/v2/interrupts/{session.interrupt()}/answer"
                body = {"decision": "fields", "fields": {"confirm": True}}
                assert alice.post(url, json=body).status_code == 200
                session.until_idle()
        assert session.waiting() == {"interrupted": False}


def test_questions_of_the_other_apis_are_answered_in_the_session(alice: httpx.Client) -> None:
    session = Session.new(alice)
    session.chat("echo begun")
    made = session.conversation()["id"]
    thread = Thread(alice, made)
    asked = one_in_a(thread.chat("write a.txt: x"), "interrupt")
    assert session.interrupt() == asked["interrupt_id"]
    assert one(session.resume(confirm=True), "tool_result")["is_error"] is False
    assert thread.status()["status"] == "idle"
    turn = send(alice, made, "ask me one question")
    (item,) = outcome(to_segment_end(alice, turn["id"])).data["interrupts"]
    (field,) = session.state()["fields"]
    assert field["label"] == item["questions"][0]["question"]
    assert of(session.resume(answer_1="red"), "tool_result")
    assert thread.history()[-1][0] == "assistant"


def test_a_branch_that_was_made_active_is_continued(alice: httpx.Client) -> None:
    session = Session.new(alice)
    session.chat("echo one")
    made = session.conversation()["id"]
    first = newest(alice, made)
    other = first.then("echo two", parent_message_id=None)
    other.read()
    assert "echo one" not in said(session.chat("what did I say before?"))
    assert alice.delete(f"/api/v1/chat/{made}").status_code == 204
    assert session.joined().status_code == 204
