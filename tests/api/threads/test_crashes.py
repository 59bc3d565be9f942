"""kill -9 of the server: interrupts still wait, unfinished answers are made again, and nothing is done
twice."""

from pathlib import Path

from tests.api.reading import until
from tests.api.threads.process import Process
from tests.api.threads.thread import Thread, checked, kinds, names, one, read, said

COUNTED = " ".join(str(number) for number in range(1, 301)) + " done."


def test_an_approval_still_waits_after_a_crash(tmp_path: Path) -> None:
    file = "workspaces/{}/hello.py"
    with Process(tmp_path) as server, server.client() as client:
        refused, agreed = Thread.new(client), Thread.new(client)
        asked = one(agreed.chat("write hello.py: print(1)"), "interrupt")
        refused.chat("write hello.py: print(1)")
        server.kill()
    with Process(tmp_path) as server, server.client() as client:
        agreed, refused = agreed.at(client), refused.at(client)
        assert agreed.status()["status"] == "interrupted"
        assert agreed.status()["interrupt_info"]["interrupts"] == [asked]
        assert kinds(agreed.resume("continue")) == ["tool/start", "tool/end", "end"]
        assert kinds(refused.resume("cancel")) == ["tool/end", "end"]
        assert (tmp_path / file.format(agreed.id)).read_text() == "print(1)"
        assert not (tmp_path / file.format(refused.id)).exists()
        assert [role for role, _ in agreed.history()] == ["user", "assistant", "tool", "assistant"]


def test_questions_still_wait_after_a_crash(tmp_path: Path) -> None:
    with Process(tmp_path) as server, server.client() as client:
        thread = Thread.new(client)
        thread.chat("问我三个问题")
        server.kill()
    with Process(tmp_path) as server, server.client() as client:
        thread = thread.at(client)
        assert one(thread.resume("answer", ["red"]), "error")["message"].startswith("answers count (1)")
        assert "green (绿色)" in said(thread.resume("answer", ["green", "cat", "now"]))


def test_a_reply_cut_by_a_crash_is_voided_and_made_again(tmp_path: Path) -> None:
    with Process(tmp_path) as server, server.client() as client:
        thread = Thread.new(client)
        with thread.chatting("count to 300 delay=0.005") as found:
            first = read(found, 60)
            server.kill()
    with Process(tmp_path) as server, server.client() as client:
        thread = thread.at(client)
        assert thread.status()["status"] == "idle"
        rest = thread.join(first[-1].id)
        assert names(rest).count("messages/reset") == 1
        assert one(rest, "messages/reset") == {}
        # Text before the reset, seen live or not, is void; the text after it is the whole answer.
        assert said(checked(first + rest)) == COUNTED
        assert thread.history() == [("user", "count to 300 delay=0.005"), ("assistant", COUNTED)]
        assert thread.status()["message_count"] == 2
        # A reader that joins from the beginning sees the same.
        assert said(thread.join()) == COUNTED
        assert thread.join(first[-1].id) == rest


def test_a_crash_between_two_replies_keeps_the_finished_one(tmp_path: Path) -> None:
    with Process(tmp_path) as server, server.client() as client:
        thread = Thread.new(client)
        thread.chat("write a.txt delay=0.01")
        before = thread.history()
        with client.stream("POST", f"/api/resume/{thread.id}", json={"action": "continue"}) as response:
            lines = response.iter_lines()
            while "tool/end" not in next(lines):
                pass
            server.kill()
    with Process(tmp_path) as server, server.client() as client:
        thread = thread.at(client)
        found = thread.join()
        assert [name for name in kinds(found) if name != "messages/reset"] == [
            "tool/start",
            "tool/end",
            "end",
        ]
        history = thread.history()
        assert history[: len(before)] == before
        assert [role for role, _ in history] == ["user", "assistant", "tool", "assistant"]


def test_after_a_restart_the_grace_period_begins_again(tmp_path: Path) -> None:
    with Process(tmp_path) as server, server.client() as client:
        thread = Thread.new(client)
        with thread.chatting("count to 5000 delay=0.01") as found:
            read(found, 20)
            server.kill()
    with Process(tmp_path, disconnect_grace=1.0) as server, server.client() as client:
        thread = thread.at(client)
        until(lambda: thread.status()["running"])
        thread.until_idle()
        text = thread.history()[-1][1]
        assert text.startswith("1 2 ")
        assert not text.endswith("done.")
        assert thread.status()["status"] == "idle"
        assert said(thread.chat("echo on")) == "on"
