"""Approvals: shown, shown again after a reload, given, refused, superseded, expired."""

import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import until
from tests.api.server import Served
from tests.api.threads.conftest import Prompts
from tests.api.threads.thread import Thread, kinds, names, one, parsed, said

CHINESE = [{"label": "继续", "value": "continue"}, {"label": "取消", "value": "cancel"}]
ENGLISH = [{"label": "Continue", "value": "continue"}, {"label": "Cancel", "value": "cancel"}]
NOT_DONE = "Not done: the turn ended before this call was made."


def file_of(server: Served, thread: Thread, name: str) -> Path:
    return server.settings.data_dir / "workspaces" / thread.id / name


@pytest.mark.parametrize(
    ("message", "info", "task", "options"),
    [
        ("执行 npm install", "正在执行命令: npm install", "执行命令", CHINESE),
        ("创建一个 hello.py 文件", "正在写入文件: hello.py", "写入文件", CHINESE),
        ("run npm install", "Running command: npm install", "Run a command", ENGLISH),
        ("create a hello.py file", "Writing file: hello.py", "Write a file", ENGLISH),
    ],
)
def test_an_approval_is_described_in_the_persons_language(
    alice: httpx.Client, message: str, info: str, task: str, options: list[Any]
) -> None:
    thread = Thread.new(alice)
    found = thread.chat(message)
    assert names(found)[-1] == "end"
    asked = one(found, "interrupt")
    (action,) = asked["data"]
    assert set(action) == {"tool_call_id", "name", "args", "description", "interrupt_id"}
    assert action["description"] == info
    assert asked == {
        "info": info,
        "taskName": task,
        "data": [action],
        "questions": None,
        "options": options,
        "interrupt_id": asked["interrupt_id"],
    }


def test_after_a_reload_the_status_has_the_whole_interrupt(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("write hello.py: print(1)"), "interrupt")
    assert thread.status() == {
        "thread_id": thread.id,
        "status": "interrupted",
        "has_pending_tasks": True,
        "interrupt_info": {"task_name": "Write a file", "interrupts": [asked]},
        "message_count": 2,
        "running": False,
    }
    assert thread.listed()["status"] == "interrupted"


def test_an_approval_lets_the_agent_continue(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("write hello.py: print(1)"), "interrupt")
    assert not file_of(server, thread, "hello.py").exists()
    found = thread.resume("continue")
    assert kinds(found) == ["tool/start", "tool/end", "end"]
    assert one(found, "tool/start") == {
        "tool": "write_file",
        "input": {"path": "hello.py", "content": "print(1)"},
        "id": asked["data"][0]["tool_call_id"],
    }
    assert file_of(server, thread, "hello.py").read_text() == "print(1)"
    assert [role for role, _ in thread.history()] == ["user", "assistant", "tool", "assistant"]
    assert thread.history()[-1][1] == said(found)
    assert thread.status()["status"] == "idle"
    assert thread.decide(action="continue").json() == {"detail": "nothing is pending"}


def test_the_agent_gets_a_refusal_and_continues(
    alice: httpx.Client, server: Served, prompts: Prompts
) -> None:
    thread = Thread.new(alice, "recorder")
    thread.chat("write hello.py: print(1)")
    found = thread.resume("cancel")
    assert kinds(found) == ["tool/end", "end"]
    assert said(found).startswith("You refused `write_file`, so it was not done.")
    assert not file_of(server, thread, "hello.py").exists()
    assert prompts.last()[-1] == ("tool", "Not done: the person refused this call.")
    assert thread.history()[2] == ("tool", "Not done: the person refused this call.")


def test_two_calls_at_once_are_both_listed_and_both_approved(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("两个审批"), "interrupt")
    assert asked["info"] == "正在写入文件: first.txt; 正在写入文件: second.txt"
    assert asked["taskName"] == "写入文件"
    assert [item["args"]["path"] for item in asked["data"]] == ["first.txt", "second.txt"]
    assert len({item["tool_call_id"] for item in asked["data"]}) == 2
    assert thread.status()["interrupt_info"]["interrupts"] == [asked]
    found = thread.resume("continue")
    assert sorted(kinds(found)) == ["end", *["tool/end"] * 2, *["tool/start"] * 2]
    assert file_of(server, thread, "first.txt").exists()
    assert file_of(server, thread, "second.txt").exists()


def test_two_calls_at_once_are_both_refused(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    thread.chat("two approvals")
    assert kinds(thread.resume("cancel")) == ["tool/end", "tool/end", "end"]
    assert not file_of(server, thread, "first.txt").exists()
    assert not file_of(server, thread, "second.txt").exists()


def test_interrupts_asked_together_keep_their_order(alice: httpx.Client) -> None:
    calls = " + ".join(f"write {number}.txt" for number in range(8))
    thread = Thread.new(alice)
    asked = one(thread.chat(calls), "interrupt")
    assert [item["args"]["path"] for item in asked["data"]] == [f"{number}.txt" for number in range(8)]
    assert thread.status()["interrupt_info"]["interrupts"] == [asked]
    assert one(thread.chat("echo x"), "interrupt") == asked


def test_a_run_that_was_resumed_may_ask_again(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    first = one(thread.chat("write a.txt then write b.txt"), "interrupt")
    again = thread.resume("continue")
    assert kinds(again) == ["tool/start", "tool/end", "interrupt", "end"]
    second = one(again, "interrupt")
    assert second["interrupt_id"] != first["interrupt_id"]
    assert second["data"][0]["args"]["path"] == "b.txt"
    assert thread.status()["interrupt_info"]["interrupts"] == [second]
    assert kinds(thread.resume("continue")) == ["tool/start", "tool/end", "end"]
    assert file_of(server, thread, "b.txt").exists()


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1])
def test_of_two_clicks_one_wins_and_the_other_gets_the_decision(server: Served, gap: float) -> None:
    with server.client("clicker") as first, server.client("clicker") as second:
        thread = Thread.new(first)
        thread.chat("write hello.py delay=0.02")
        answers: list[httpx.Response] = []

        def click(client: httpx.Client, action: str) -> None:
            answers.append(thread.at(client).decide(action=action))

        pair = [(first, "continue"), (second, "cancel")]
        clicks = [threading.Thread(target=click, args=who) for who in pair]
        for one_of_two in clicks:
            one_of_two.start()
            time.sleep(gap)
        for one_of_two in clicks:
            one_of_two.join()
    winner, loser = sorted(answers, key=lambda answer: answer.status_code)
    assert (winner.status_code, loser.status_code) == (200, 409)
    decision = "approve" if "event: tool/start" in winner.text else "reject"
    assert loser.json() == {"detail": "already answered", "decision": {"decision": decision}}
    assert file_of(server, thread, "hello.py").exists() == (decision == "approve")


def test_a_click_while_the_run_continues_gets_the_decision(alice: httpx.Client, server: Served) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py delay=0.02")
    url, body = f"/api/resume/{thread.id}", {"action": "continue"}
    with alice.stream("POST", url, json=body) as response, server.client("alice") as other:
        assert response.status_code == 200
        late = thread.at(other).decide(action="cancel")
        assert late.status_code == 409
        assert late.json() == {"detail": "already answered", "decision": {"decision": "approve"}}
        thread.at(other).stop()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("write hello.py", "The message was not taken: answer the question first."),
        ("写文件 hello.py", "消息未被接收：请先回答上面的问题。"),
    ],
    ids=["en", "zh"],
)
def test_a_message_to_a_waiting_thread_is_not_taken_and_the_question_is_asked_again(
    alice: httpx.Client, server: Served, message: str, told: str
) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat(message), "interrupt")
    for _ in range(2):
        again = thread.chat("echo something else")
        assert names(again) == ["error", "interrupt", "end"]
        assert again[0].data == {"message": told}
        assert again[1].data == asked
    assert thread.status()["interrupt_info"]["interrupts"] == [asked]
    assert len(thread.history()) == 2
    assert kinds(parsed(thread.decide(action="continue", interrupt_id=asked["interrupt_id"])))[-1] == "end"
    assert file_of(server, thread, "hello.py").exists()


def test_a_message_may_supersede_an_interrupt_and_the_agent_sees_it_was_not_done(
    alice: httpx.Client, server: Served, prompts: Prompts
) -> None:
    thread = Thread.new(alice, "recorder")
    thread.chat("two approvals")
    assert said(thread.chat("echo something else", supersede=True)) == "something else"
    assert thread.status()["status"] == "idle"
    assert [text for role, text in thread.history() if role == "tool"] == [NOT_DONE, NOT_DONE]
    assert prompts.last()[-3:] == [("tool", NOT_DONE), ("tool", NOT_DONE), ("user", "echo something else")]
    assert not file_of(server, thread, "first.txt").exists()
    assert thread.decide(action="continue").status_code == 409


def test_supersede_without_an_interrupt_is_an_ordinary_message(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    assert said(thread.chat("echo one", supersede=True)) == "one"


def test_an_expired_interrupt_no_longer_waits(server: Served) -> None:
    with server.client("sleeper") as client:
        thread = Thread.new(client, "hasty")
        one(thread.chat("write hello.py"), "interrupt")
        time.sleep(1.05)
        status = thread.status()
        assert (status["status"], status["has_pending_tasks"], status["interrupt_info"]) == (
            "idle",
            False,
            None,
        )
        assert thread.listed()["status"] == "idle"
        assert thread.decide(action="continue").status_code == 409
        assert said(thread.chat("echo something else")) == "something else"
        assert [role for role, _ in thread.history()] == ["user", "assistant", "tool", "user", "assistant"]


def test_an_interrupt_expires_even_if_nobody_asks_for_it(server: Served) -> None:
    with server.client("sleeper") as client:
        thread = Thread.new(client, "hasty")
        thread.chat("write hello.py")
        until(lambda: len(thread.history()) == 3)
        assert thread.history()[-1] == ("tool", NOT_DONE)
        assert thread.join()[-1].name == "end"


def test_a_confirmation_in_the_text_is_continued_or_cancelled(alice: httpx.Client) -> None:
    yes, no = Thread.new(alice, "approval-agent"), Thread.new(alice, "approval-agent")
    asked = one(yes.chat("delete the old rows"), "interrupt")
    assert asked["taskName"] == "Confirmation"
    assert asked["info"] == "Please confirm that I may go on with it."
    assert asked["data"][0]["fields"] == [
        {"name": "confirm", "type": "confirm", "label": "Confirm", "required": True}
    ]
    assert "given your consent" in said(yes.resume("continue"))
    no.chat("delete the old rows")
    assert said(no.resume("cancel")) == "You said no, so nothing was done."
