"""The chat without a terminal: its input comes from a pipe."""

import json
import time

import pytest
from sqlalchemy import Connection

from caesura.core.interrupts import Approval
from caesura.store import conversations, interrupts, turns
from tests import agent_files
from tests.api.reading import finished
from tests.api.server import Served
from tests.cli.conftest import Ran, Run

KEYLESS = "model: {primary: 'openai:gpt-4o', api_key_env: NO_SUCH_KEY}\n"


@pytest.fixture
def chat(run: Run, server: Served, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("CAESURA_URL", server.url)
    monkeypatch.setenv("CAESURA_TOKEN", server.token())
    return lambda *arguments, lines=(): run("chat", *arguments, stdin="".join(f"{line}\n" for line in lines))


def told(ran: Ran) -> list[str]:
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


def test_each_line_is_a_message_or_an_answer(chat: Run) -> None:
    lines = told(chat(lines=["echo good \\", "day", "write a.py: print(1)", "y", "", "/quit", "echo never"]))
    assert [line.strip() for line in lines[:2]] == ["good", "day"]
    assert "✓ write_file: wrote 8 bytes to a.py" in lines
    assert "never" not in lines


def test_an_unanswered_question_stays_pending(chat: Run) -> None:
    lines = told(chat(lines=["write a.py: print(1)"]))
    assert lines[-2:] == ["(it waits for an answer)", "`caesura chat --continue` goes on from here"]
    assert "✓ write_file: wrote 8 bytes to a.py" in told(chat("--continue", lines=["y"]))


def test_a_message_is_not_sent_before_the_question_is_answered(chat: Run) -> None:
    told(chat(lines=["write a.py: print(1)"]))
    ran = chat("--continue", "echo more")
    assert ran.code == 1
    assert "your message was not sent: the question must be answered first" in ran.out.splitlines()
    lines = told(chat("--continue", "echo more", lines=["y"]))
    assert "✓ write_file: wrote 8 bytes to a.py" in lines
    assert "more" in lines


def test_conversations_are_listed_and_opened_by_their_id(
    chat: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", server.token("lister"))
    assert told(chat(lines=["/list", "/turns", "/open"])) == [
        "There is none yet.",
        "Nothing was said yet.",
        "/open needs the number or the id of a conversation: /list shows them",
        "",
    ]
    with server.client("lister") as client:
        made = {}
        for title in ("Elms", "Oaks"):
            made[title] = client.post("/api/v2/conversations", json={"title": title}).json()["id"]
    elms, oaks = made.values()
    # The server takes no such title now, and may have one from before.
    server.call(server.database.write(conversations.set_title, oaks, "Oaks\x1b[2J"))
    told(chat("--conversation", elms, "echo one"))
    lines = told(
        chat("--conversation", oaks, lines=["echo two", "/list", "/list elm", "/list ash", "/turns"])
    )
    listed = [line for line in lines if line[1:5] in ("  1 ", "  2 ")]
    assert [line.split()[-2:] for line in listed] == [
        ["assistant", "Oaks\\x1b[2J"],
        *[["assistant", "Elms"]] * 2,
    ]
    assert [line.split()[:-4] for line in listed] == [["*", "1", oaks], ["2", elms], ["1", elms]]
    assert "No conversation has this in its title." in lines
    (turn,) = [line for line in lines if line.startswith("turn-")]
    assert turn.split()[1:] == ["done", "echo", "two"]
    lines = told(chat(lines=[f"/open {elms}", "what did I say first?", "/open nonsense", "/turns"]))
    assert "conversation not found" in lines
    assert next(line.split()[2:] for line in lines if line.startswith("turn-")) == ["echo", "one"]
    ran = chat("--conversation", "nonsense")
    assert (ran.code, ran.err) == (1, "caesura: conversation not found\n")
    assert chat("--conversation", "").code == 1


def test_a_conversation_is_opened_by_its_number_in_the_last_list(
    chat: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", server.token("counter"))
    made = {}
    with server.client("counter") as client:
        for title, agent in (("Elms", "approval-agent"), ("Oaks", "assistant")):
            body = {"title": title, "agent": agent}
            made[title] = client.post("/api/v2/conversations", json=body).json()["id"]
    unknown = ["/list", "/open 0", "/open 3", f"/open {'1' * 5000}"]
    lines = told(chat(lines=["/open 2", *unknown, "/open 2", "/list oaks", "/open 1"]))
    assert lines[0] == "No conversation has this number: /list numbers them."
    assert [line.split()[-2:] for line in lines[1:3]] == [["assistant", "Oaks"], ["approval-agent", "Elms"]]
    assert lines[1].index("Oaks") == lines[2].index("Elms")
    assert lines[3:6] == ["No conversation has this number: the last /list ended at 2."] * 3
    assert [lines[6], lines[-2]] == ["Elms", "Oaks"]


def test_a_named_conversation_is_told_as_the_way_back(
    chat: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", server.token("returner"))
    told(chat(lines=["write a.py: print(1)"]))
    with server.client("returner") as client:
        first = client.get("/api/v2/conversations").json()["conversations"][0]["id"]
    told(chat("echo another conversation"))
    lines = told(chat("--conversation", first))
    assert lines[-1] == f"`caesura chat --conversation {first}` goes on from here"


def test_always_holds_for_the_calls_of_the_tool_that_wait(chat: Run) -> None:
    files = [f"write_file {json.dumps({'path': f'{name}.txt', 'content': name})}" for name in "abc"]
    other = f"execute {json.dumps({'command': 'echo never'})}"
    lines = told(chat(lines=[f"call {files[0]} {files[1]} {other} {files[2]}", "n", "a", "n", "/grants"]))
    assert [line for line in lines if line.startswith("(allowed too: ")] == [
        '(allowed too: write_file {"path":"c.txt","content":"c"})'
    ]
    assert "▌ 2 more calls wait for write_file: always allows them too" in lines
    assert "▌ 1 more call waits for write_file: always allows it too" in lines
    results = [line for line in lines if line.startswith(("✓ ", "✗ "))]
    assert sorted(line.split(":")[0].split(" #")[0] for line in results) == [
        *("✓ write_file", "✓ write_file", "✗ execute", "✗ write_file")
    ]
    assert any(line.startswith("write_file  ") for line in lines)


def test_a_response_of_the_person_is_not_shown_as_a_result_of_the_tool(chat: Run) -> None:
    lines = told(chat(lines=["write a.py: print(1)", "r use c.txt"]))
    assert "↩ write_file (not run): use c.txt" in lines


def test_a_failed_message_on_the_command_line_offers_no_command_of_the_chat(chat: Run) -> None:
    assert "/retry tries again" in chat(lines=["fail midway"]).out
    ran = chat("fail midway")
    assert ran.code == 1
    assert "failed: the model broke off" in ran.out
    assert "/retry" not in ran.out


def test_a_missing_key_is_not_told_as_an_internal_error(chat: Run, server: Served) -> None:
    agent_files.put(server.settings.data_dir.parent / "agents", "keyless", KEYLESS)
    deadline = time.monotonic() + 30
    while (ran := chat("--agent", "keyless", "hello")).err and time.monotonic() < deadline:
        time.sleep(0.1)  # agent files are read again once a second
    assert ran.code == 1
    assert "failed: the agent's model is not available: the server's log says why (err-" in ran.out
    assert "NO_SUCH_KEY" not in ran.out


def test_a_question_is_found_among_many_pending_ones(
    chat: Run, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", server.token("busy"))
    with server.client("busy") as client:
        other = finished(client, "write b.py: print(2)")["id"]

    def ask_more(connection: Connection) -> None:
        items = [Approval(f"more-{number}", name="write_file") for number in range(120)]
        asked = {item.id: item for item in items}
        interrupts.ask(connection, turns.get(connection, other).num, "busy", asked)

    server.call(server.database.write(ask_more))
    assert "✓ write_file: wrote 8 bytes to a.py" in told(chat(lines=["write a.py: print(1)", "y"]))
    assert told(chat(lines=["write c.py: print(3)"]))[-2] == "(it waits for an answer)"
    assert "✓ write_file: wrote 8 bytes to c.py" in told(chat("--continue", lines=["y"]))


def test_a_refusal_of_the_server_ends_one_message_and_not_the_chat(chat: Run) -> None:
    lines = told(chat("--agent", "nobody", lines=["echo x", "/help"]))
    assert lines[0] == "agent not found: nobody"
    assert any(line.startswith("/retry") for line in lines)


def test_a_wrong_token_is_one_line(chat: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_TOKEN", "wrong")
    ran = chat()
    assert (ran.code, ran.err) == (1, "caesura: CAESURA_TOKEN: the token is not valid\n")


def test_a_name_that_nobody_can_have_is_refused_before_a_password_is_asked_for(
    chat: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAESURA_TOKEN")
    ran = chat("--user", "Alice B")
    assert ran.code == 1
    assert ran.err.startswith("caesura: 'Alice B' cannot be a name: a name has at most 50 characters")


def test_without_a_token_and_a_terminal_a_password_must_be_set(
    chat: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAESURA_TOKEN")
    assert "set CAESURA_TOKEN or CAESURA_PASSWORD" in chat("--user", "alice").err
    monkeypatch.setenv("CAESURA_PASSWORD", "correct horse")
    assert "good day" in told(chat("--user", "alice", "echo good day"))
