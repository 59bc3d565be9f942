"""Every route of the native API, over a real server."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import (
    Event,
    conversation,
    events,
    finished,
    follow,
    outcome,
    send,
    text,
    to_segment_end,
)
from tests.api.server import Served
from tests.waiting import milliseconds


def pending(client: httpx.Client, content: str, **body: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A waiting turn, and its interrupts."""
    agent = body.pop("conversation_agent", None)
    turn = send(client, conversation(client, agent=agent), content, **body)
    asked = outcome(to_segment_end(client, turn["id"]))
    assert asked.name == "interrupted"
    return turn, asked.data["interrupts"]


def answer(client: httpx.Client, interrupt_id: str, decision: str, **body: Any) -> httpx.Response:
    return client.post(f"/api/v2/interrupts/{interrupt_id}/answer", json={"decision": decision, **body})


def code(response: httpx.Response) -> str:
    found: str = response.json()["error"]["code"]
    return found


# --- people and agents


def test_me_returns_the_person_of_the_token(alice: httpx.Client) -> None:
    assert alice.get("/api/v2/me").json() == {"user_id": "alice"}


def test_the_agents_are_listed_with_the_default_marked(alice: httpx.Client) -> None:
    found = alice.get("/api/v2/agents").json()["agents"]
    names = ["approval-agent", "assistant", "crawl_agent", "lead_agent", "search_agent"]
    assert [agent["name"] for agent in found] == names
    assert [agent["name"] for agent in found if agent["is_default"]] == ["assistant"]


def test_the_schema_of_an_agents_file_is_there(alice: httpx.Client) -> None:
    assert "spec" in alice.get("/api/v2/agents/schema").json()["properties"]


# --- conversations


def test_a_conversation_is_made_and_found_again(alice: httpx.Client) -> None:
    made = alice.post("/api/v2/conversations", json={"agent": "approval-agent", "title": " A \n title "})
    assert made.status_code == 201
    body = made.json()
    assert body["agent"] == "approval-agent"
    assert body["title"] == "A title"
    assert body["status"] == "idle"
    found = alice.get(f"/api/v2/conversations/{body['id']}").json()
    assert found == {**body, "turns": [], "next": None}


def test_a_conversation_with_an_unknown_agent_is_not_made(alice: httpx.Client) -> None:
    response = alice.post("/api/v2/conversations", json={"agent": "nobody"})
    assert response.status_code == 404
    assert response.json() == {"error": {"code": "not_found", "message": "agent not found: nobody"}}


def test_pages_of_conversations_are_contiguous(server: Served) -> None:
    with server.client("pager") as client:
        made = [conversation(client) for _ in milliseconds(7)]
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(4):
            query: dict[str, Any] = {"limit": 2, "order": "created"} | ({"cursor": cursor} if cursor else {})
            page = client.get("/api/v2/conversations", params=query).json()
            assert page["total"] == 7
            seen += [item["id"] for item in page["conversations"]]
            cursor = page["next"]
        assert cursor is None
        assert seen == made[::-1]


def test_a_page_is_never_larger_than_the_largest(server: Served) -> None:
    with server.client("collector") as client:
        for _ in range(101):
            conversation(client)
        page = client.get("/api/v2/conversations", params={"limit": 5000}).json()
        assert len(page["conversations"]) == 100
        assert page["next"]


@pytest.mark.parametrize("cursor", ["", "x", "%%%", "WzEsMl0", "bnVsbA", "é"])
def test_an_invalid_cursor_is_refused(alice: httpx.Client, cursor: str) -> None:
    response = alice.get("/api/v2/conversations", params={"cursor": cursor})
    assert response.status_code == 400


def test_a_conversation_is_renamed(alice: httpx.Client) -> None:
    made = conversation(alice)
    renamed = alice.patch(f"/api/v2/conversations/{made}", json={"title": "新的标题"})
    assert renamed.json()["title"] == "新的标题"
    assert alice.patch(f"/api/v2/conversations/{made}", json={"title": "  "}).status_code == 400
    assert alice.get(f"/api/v2/conversations/{made}").json()["title"] == "新的标题"


@pytest.mark.parametrize("way", ["made", "renamed"])
def test_a_title_has_no_characters_that_hide_or_reorder_it(alice: httpx.Client, way: str) -> None:
    title = "\u202eevil\u2066\x1b[31m\nNext\u200b\x00\x85\U000e0041\u2028title"
    made = alice.post("/api/v2/conversations", json={"title": title} if way == "made" else {}).json()["id"]
    if way == "renamed":
        assert alice.patch(f"/api/v2/conversations/{made}", json={"title": title}).status_code == 200
    assert alice.get(f"/api/v2/conversations/{made}").json()["title"] == "evil[31m Next title"
    listed = alice.get("/api/v1/chat", params={"limit": 100}).json()["conversations"]
    assert "evil[31m Next title" in [item["title"] for item in listed]
    assert alice.get("/api/sessions").json()["threads"][0]["title"] == "evil[31m Next title"
    for empty in ("\u200b", "\u202e\n", "\x00\x07"):
        assert alice.patch(f"/api/v2/conversations/{made}", json={"title": empty}).status_code == 400
        assert alice.post("/api/v2/conversations", json={"title": empty}).status_code == 400


def test_a_deleted_conversation_is_gone_and_its_stream_ends(alice: httpx.Client) -> None:
    made = conversation(alice)
    turn = send(alice, made, "count to 100000 delay=0.01")
    assert alice.delete(f"/api/v2/conversations/{made}").status_code == 204
    assert alice.get(f"/api/v2/conversations/{made}").status_code == 404
    assert alice.get(f"/api/v2/turns/{turn['id']}/events").status_code == 404
    assert alice.delete(f"/api/v2/conversations/{made}").status_code == 404


def test_branches_coexist_and_one_is_active(alice: httpx.Client) -> None:
    made = conversation(alice)
    first = send(alice, made, "echo one")
    events(alice, first["id"])
    left = send(alice, made, "echo left", parent=first["id"])
    events(alice, left["id"])
    right = send(alice, made, "echo right", parent=first["id"])
    events(alice, right["id"])
    tree = alice.get(f"/api/v2/conversations/{made}").json()
    assert [(turn["content"], turn["parent_id"]) for turn in tree["turns"]] == [
        ("echo one", None),
        ("echo left", first["id"]),
        ("echo right", first["id"]),
    ]
    assert tree["active_turn"] == right["id"]
    switched = alice.post(f"/api/v2/conversations/{made}/branch", json={"turn_id": left["id"]})
    assert switched.json()["active_turn"] == left["id"]
    shown = alice.get(f"/api/v2/conversations/{made}/snapshot").json()
    assert [turn["content"] for turn in shown["turns"]] == ["echo one", "echo left"]
    unknown = alice.post(f"/api/v2/conversations/{made}/branch", json={"turn_id": "turn-x"})
    assert unknown.status_code == 404


def test_a_parent_of_null_begins_a_new_root(alice: httpx.Client) -> None:
    made = conversation(alice)
    events(alice, send(alice, made, "echo one")["id"])
    root = send(alice, made, "what did I say first?", parent=None)
    assert root["parent_id"] is None
    assert "echo one" not in text(events(alice, root["id"]))


# --- turns


def test_a_turn_gets_a_reply_and_its_events_follow_the_grammar(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "count to 20")
    found = events(alice, turn["id"])
    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    assert found[0].name == "run_started"
    assert [event.name for event in found if event.name in ("finished", "segment_ended")] == [
        "finished",
        "segment_ended",
    ]
    assert found[-1].name == "segment_ended"
    assert text(found).startswith("1 2 3")
    after = alice.get(f"/api/v2/turns/{turn['id']}").json()
    assert after["status"] == "done"
    assert after["ended_at"] >= after["created_at"]


def test_another_agent_may_reply_in_a_turn(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "echo hello", agent="approval-agent")
    assert turn["agent"] == "approval-agent"
    assert events(alice, turn["id"])[0].data["agent"] == "approval-agent"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"content": None}, 422),
        ({"content": 1}, 422),
        ({"content": "x", "unknown": 1}, 422),
        ({"content": "x", "on_disconnect": "explode"}, 422),
        ({"content": ""}, 400),
        ({"content": " \n"}, 400),
        ({"content": "字" * 100_000}, 400),
        ({"content": "x", "agent": "nobody"}, 404),
        ({"content": "x", "parent": "turn-x"}, 404),
    ],
)
def test_a_bad_message_is_refused_and_leaves_nothing(
    alice: httpx.Client, body: dict[str, Any], status: int
) -> None:
    made = conversation(alice)
    response = alice.post(f"/api/v2/conversations/{made}/turns", json=body)
    assert response.status_code == status
    assert set(response.json()["error"]) >= {"code", "message"}
    assert alice.get(f"/api/v2/conversations/{made}").json()["turns"] == []


def test_a_branch_has_one_run_at_a_time(alice: httpx.Client) -> None:
    made = conversation(alice)
    turn = send(alice, made, "count to 100000 delay=0.01")
    second = alice.post(f"/api/v2/conversations/{made}/turns", json={"content": "echo x"})
    assert second.status_code == 409
    assert code(second) == "run_in_progress"
    assert alice.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}


def test_a_stopped_turn_keeps_its_text_and_can_be_retried(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "count to 60 delay=0.005")
    for event in to_some_words(alice, turn["id"]):
        assert event.data
    assert alice.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": True}
    assert alice.post(f"/api/v2/turns/{turn['id']}/stop").json() == {"stopped": False}
    cut = events(alice, turn["id"])
    assert outcome(cut).name == "stopped"
    assert text(cut).startswith("1 2")
    again = alice.post(f"/api/v2/turns/{turn['id']}/retry")
    assert again.status_code == 200
    whole = events(alice, turn["id"])
    assert text(whole) == " ".join(map(str, range(1, 61))) + " done."
    assert whole[: len(cut)] == cut
    refused = alice.post(f"/api/v2/turns/{turn['id']}/retry")
    assert refused.status_code == 409


def to_some_words(client: httpx.Client, turn_id: str) -> list[Event]:
    found = []
    for event in follow(client, turn_id):
        if event.name == "text_delta":
            found.append(event)
        if len(found) == 3:
            break
    return found


def test_a_regenerated_reply_is_a_sibling_of_the_first(alice: httpx.Client) -> None:
    first = finished(alice, "echo hello")
    again = alice.post(f"/api/v2/turns/{first['id']}/regenerate")
    assert again.status_code == 201
    assert again.json()["parent_id"] is None
    events(alice, again.json()["id"])
    tree = alice.get(f"/api/v2/conversations/{first['conversation_id']}").json()
    assert [turn["content"] for turn in tree["turns"]] == ["echo hello"] * 2


def test_a_failed_turn_says_so_with_an_id(alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "fail midway")
    failed = outcome(events(alice, turn["id"]))
    assert failed.name == "failed"
    assert failed.data["error_id"].startswith("err-")
    assert failed.data["retryable"] is True


# --- a page that just opened


def test_a_snapshot_and_the_events_after_it_give_the_whole_turn(alice: httpx.Client) -> None:
    made = conversation(alice)
    turn = send(alice, made, "count to 60 delay=0.003")
    to_some_words(alice, turn["id"])
    shown = alice.get(f"/api/v2/conversations/{made}/snapshot").json()
    assert shown["turn"] == turn["id"]
    (message,) = [item for item in shown["turns"][-1]["messages"] if item["call"] == 1]
    rest = events(alice, turn["id"], shown["cursor"])
    assert int(rest[0].id) == shown["cursor"] + 1
    more = "".join(event.data["text"] for event in rest if event.name == "text_delta")
    assert message["content"] + more == " ".join(map(str, range(1, 61))) + " done."


def test_a_snapshot_of_a_waiting_turn_shows_the_question(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    shown = alice.get(f"/api/v2/conversations/{turn['conversation_id']}/snapshot").json()
    assert shown["conversation"]["status"] == "interrupted"
    assert shown["turns"][-1]["interrupts"] == [asked]


# --- interrupts


def test_an_approved_call_is_made(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    assert asked["kind"] == "approval"
    assert asked["decisions"] == ["approve", "edit", "reject", "respond"]
    response = answer(alice, asked["id"], "approve")
    assert response.status_code == 200
    assert response.json()["id"] == turn["id"]
    done = [event for event in events(alice, turn["id"]) if event.name == "tool_finished"]
    assert [event.data["status"] for event in done] == ["ok"]
    found = alice.get(f"/api/v2/interrupts/{asked['id']}").json()
    assert found["status"] == "answered"
    assert found["answer"] == {"decision": "approve"}


def test_an_edit_that_does_not_fit_the_tool_leaves_the_question_open(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    url = f"/api/v2/interrupts/{asked['id']}/answer"
    refused = alice.post(url, json={"decision": "edit", "args": {"path": ["x"]}})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "bad_answer"
    assert "content: Field required" in refused.json()["error"]["message"]
    assert alice.get(f"/api/v2/turns/{turn['id']}").json()["status"] == "waiting"
    answer(alice, asked["id"], "reject")
    assert outcome(events(alice, turn["id"])).name == "finished"


def test_an_edited_call_is_made_as_edited(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    answer(alice, asked["id"], "edit", args={"path": "other.py", "content": "print(2)"})
    started = [event for event in events(alice, turn["id"]) if event.name == "tool_started"]
    assert started[-1].data["args"]["path"] == "other.py"


def test_a_rejected_call_is_not_made(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    answer(alice, asked["id"], "reject", message="not now")
    (done,) = [event for event in events(alice, turn["id"]) if event.name == "tool_finished"]
    assert done.data["status"] == "refused"


def test_a_person_may_answer_in_place_of_a_tool(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    answer(alice, asked["id"], "respond", message="it is written already")
    (done,) = [event for event in events(alice, turn["id"]) if event.name == "tool_finished"]
    assert (done.data["status"], done.data["output"]) == ("answered", "it is written already")


def test_questions_are_answered_in_order(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "ask me 3 questions")
    wrong = answer(alice, asked["id"], "answers", answers=["x"])
    assert wrong.status_code == 400
    assert code(wrong) == "bad_answer"
    values = [question["options"][0]["value"] for question in asked["questions"]]
    assert answer(alice, asked["id"], "answers", answers=values).status_code == 200
    said = text(events(alice, turn["id"]))
    assert all(value in said for value in values)


def test_a_form_is_filled_in(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "delete the old rows", conversation_agent="approval-agent")
    assert asked["kind"] == "confirmation"
    fields = {asked["fields"][0]["name"]: True}
    assert answer(alice, asked["id"], "fields", fields=fields).status_code == 200
    assert outcome(events(alice, turn["id"])).name == "finished"


def test_a_second_answer_gets_the_decision_of_the_first(alice: httpx.Client) -> None:
    _, (asked,) = pending(alice, "write hello.py: print(1)")
    assert answer(alice, asked["id"], "reject").status_code == 200
    second = answer(alice, asked["id"], "approve")
    assert second.status_code == 409
    assert second.json()["error"] == {
        "code": "already_answered",
        "message": "already answered",
        "decision": {"decision": "reject"},
    }


def test_several_interrupts_are_answered_at_once_or_not_at_all(alice: httpx.Client) -> None:
    turn, asked = pending(alice, "two approvals")
    url = f"/api/v2/turns/{turn['id']}/answers"
    first, second = (item["id"] for item in asked)
    bad = alice.post(url, json={"answers": {first: {"decision": "approve"}, second: {"decision": "answers"}}})
    assert bad.status_code == 400
    assert alice.get(f"/api/v2/interrupts/{first}").json()["status"] == "pending"
    other, (elsewhere,) = pending(alice, "write hello.py: print(1)")
    mixed = {first: {"decision": "approve"}, elsewhere["id"]: {"decision": "approve"}}
    assert alice.post(url, json={"answers": mixed}).status_code == 404
    assert alice.post(url, json={"answers": {}}).status_code == 422
    both = {first: {"decision": "approve"}, second: {"decision": "reject"}}
    assert alice.post(url, json={"answers": both}).status_code == 200
    done = [event.data["status"] for event in events(alice, turn["id"]) if event.name == "tool_finished"]
    assert sorted(done) == ["ok", "refused"]
    alice.post(f"/api/v2/turns/{other['id']}/stop")


def test_the_inbox_shows_the_waiting_interrupts_of_all_conversations(server: Served) -> None:
    with server.client("busy") as client:
        turns = [pending(client, "write hello.py: print(1)")[0] for _ in range(2)]
        found = client.get("/api/v2/interrupts").json()["interrupts"]
        assert [item["turn_id"] for item in found] == [turn["id"] for turn in turns]
        assert [item["conversation_id"] for item in found] == [turn["conversation_id"] for turn in turns]
        answer(client, found[0]["id"], "approve")
        assert len(client.get("/api/v2/interrupts").json()["interrupts"]) == 1


def test_the_inbox_comes_in_pages_on_whichever_database(tmp_path: Path, database_url: str) -> None:
    with Served(tmp_path, database_url=database_url) as server, server.client("pager") as client:
        turns = [pending(client, "write hello.py: print(1)")[0]["id"] for _ in range(5)]
        seen, cursor = list[str](), None
        while True:
            page = client.get(
                "/api/v2/interrupts", params={"limit": 2} | ({"cursor": cursor} if cursor else {})
            )
            seen += [item["turn_id"] for item in page.json()["interrupts"]]
            if (cursor := page.json()["next"]) is None:
                break
            assert len(page.json()["interrupts"]) == 2
        assert seen == turns
        for path in ("interrupts", "conversations"):
            forged = client.get(f"/api/v2/{path}", params={"cursor": "W3RydWUsICJ4Il0"})  # [true, "x"]
            assert forged.status_code == 400


def test_always_allow_holds_along_the_branch(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    answer(alice, asked["id"], "approve", always_allow=True)
    events(alice, turn["id"])
    second = send(alice, turn["conversation_id"], "write other.py: print(2)")
    assert outcome(events(alice, second["id"])).name == "finished"


def test_a_message_to_a_waiting_turn_is_refused_with_its_interrupts(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    url = f"/api/v2/conversations/{turn['conversation_id']}/turns"
    refused = alice.post(url, json={"content": "echo x"})
    assert refused.status_code == 409
    assert refused.json()["error"]["interrupts"] == [asked]
    taken = alice.post(url, json={"content": "echo x", "supersede": True})
    assert taken.status_code == 201
    assert text(events(alice, taken.json()["id"])) == "x"
    assert alice.get(f"/api/v2/interrupts/{asked['id']}").json()["status"] == "superseded"


# --- idempotency


def test_the_same_key_gives_the_same_turn(alice: httpx.Client) -> None:
    made = conversation(alice)
    url, key = f"/api/v2/conversations/{made}/turns", {"Idempotency-Key": "send-1"}
    first = alice.post(url, json={"content": "echo x"}, headers=key).json()
    again = alice.post(url, json={"content": "echo x"}, headers=key)
    assert again.status_code == 201
    assert again.json()["id"] == first["id"]
    assert len(alice.get(f"/api/v2/conversations/{made}").json()["turns"]) == 1
    other = alice.post(url, json={"content": "echo y"}, headers=key)
    assert other.status_code == 422
    assert code(other) == "key_reused"


def test_a_key_is_good_for_one_route_only(alice: httpx.Client) -> None:
    turn = finished(alice, "echo x")
    key = {"Idempotency-Key": "regenerate-1"}
    first = alice.post(f"/api/v2/turns/{turn['id']}/regenerate", headers=key).json()
    again = alice.post(f"/api/v2/turns/{turn['id']}/regenerate", headers=key).json()
    assert first["id"] == again["id"]
    assert alice.post(f"/api/v2/turns/{turn['id']}/retry", headers=key).status_code == 422


def test_an_answer_under_the_same_key_is_the_same_answer(alice: httpx.Client) -> None:
    turn, (asked,) = pending(alice, "write hello.py: print(1)")
    url, key = f"/api/v2/interrupts/{asked['id']}/answer", {"Idempotency-Key": "answer-1"}
    for _ in range(2):
        response = alice.post(url, json={"decision": "approve"}, headers=key)
        assert response.status_code == 200
        assert response.json()["id"] == turn["id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_an_invalid_key_is_refused(alice: httpx.Client, key: str) -> None:
    url = f"/api/v2/conversations/{conversation(alice)}/turns"
    response = alice.post(url, json={"content": "echo x"}, headers={"Idempotency-Key": key})
    assert response.status_code == 400
