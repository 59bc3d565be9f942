"""A normal walk: what one person does in a normal hour, over the native API and over APIs A, B and C."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from tests.api.artifactflow.message import Message
from tests.api.reading import conversation, events, outcome, send, text, to_segment_end
from tests.hostile.process import Process

PASSWORD = "correct horse"


@dataclass(frozen=True)
class Walked:
    token: str
    #: What the person has afterwards, by where it is read.
    kept: dict[str, Any]


def sign_in(process: Process, name: str) -> str:
    credentials = {"username": name, "password": PASSWORD}
    with process.client() as client:
        assert client.post("/api/auth/register", json=credentials).status_code == 201
        answer = client.post("/api/auth/login", json=credentials)
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["access_token"]
        return token


def walk(process: Process, name: str) -> Walked:
    token = sign_in(process, name)
    with process.client(token) as client:
        made = conversation(client, title="a walk")
        counted = events(client, send(client, made, "count to 5 delay=0")["id"])
        assert outcome(counted).name == "finished"
        assert "1 2 3 4 5" in " ".join(text(counted).replace(",", " ").split())
        _approve(client, made)
        thread = _talk_over_a(client)
        places = [f"/api/v2/conversations/{made}", f"/api/history/{thread}", f"/api/status/{thread}"]
        places.append(f"/api/v1/chat/{_talk_over_b(client)}")
        session = talk_over_c(client, "delete the old rows")
        places.append(f"/api/v1/chat/interrupt_state?agent_id=approval-agent&session_id={quote(session)}")
        return Walked(token, {place: client.get(place).json() for place in places})


def still_there(process: Process, walked: Walked) -> bool:
    with process.client(walked.token) as client:
        return all(client.get(place).json() == data for place, data in walked.kept.items())


def _approve(client: httpx.Client, conversation_id: str) -> None:
    turn = send(client, conversation_id, "write hello.py: print(1)")
    asked = outcome(to_segment_end(client, turn["id"]))
    assert asked.name == "interrupted"
    (interrupt,) = asked.data["interrupts"]
    answer = client.post(f"/api/v2/interrupts/{interrupt['id']}/answer", json={"decision": "approve"})
    assert answer.status_code == 200, answer.text
    assert outcome(events(client, turn["id"])).name == "finished"


def _talk_over_a(client: httpx.Client) -> str:
    thread: str = client.post("/api/sessions").json()["thread_id"]
    answer = client.post(f"/api/chat/{thread}", json={"message": "echo good day"})
    assert answer.text.count("event: end") == 1
    return thread


def _talk_over_b(client: httpx.Client) -> str:
    message = Message.send(client, "write hello.py: print(1)", agent="assistant")
    assert message.read()[-1].name == "interrupt"
    assert message.resume(approved=True)[-1].name == "complete"
    return message.conversation_id


def talk_over_c(client: httpx.Client, message: str) -> str:
    session = {"agent_id": "approval-agent", "session_id": "a session"}
    answer = client.post("/api/v1/chat/stream", json={**session, "message": message})
    assert answer.text.count("data: [DONE]") == 1
    assert answer.text.count("data: \0INTERRUPT:") == 1
    return session["session_id"]
