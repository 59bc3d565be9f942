"""Approvals of `write_file`: they show what the file holds, and what was approved is what is written."""

import hashlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from caesura.agents.tools.workspace import Workspace, WorkspaceError
from caesura.core import json_data
from caesura.store.schema import interrupts as rows
from tests.api.reading import Event, conversation, events, outcome, send, to_segment_end
from tests.api.server import Served

CONTENT = "print(1)"

HASTY = """
apiVersion: caesura/v1
kind: Agent
metadata: {name: hasty, description: Waits one second for an answer.}
spec:
  model: {primary: demo, options: {delay: 0, think: false}}
  approvals: {timeout_seconds: 1}
  tools: [write_file]
"""


class Writing:
    """A turn that writes `hello.py`, segment by segment."""

    def __init__(self, server: Served, client: httpx.Client, before: bytes | None = None) -> None:
        self._server, self._client, self._last = server, client, 0
        self.place = conversation(client)
        folder = server.settings.data_dir / "workspaces" / self.place
        folder.mkdir(parents=True)
        self.file = folder / "hello.py"
        if before is not None:
            self.file.write_bytes(before)

    def begin(self, content: str = f"write hello.py: {CONTENT}") -> dict[str, Any]:
        self.turn = send(self._client, self.place, content)["id"]
        return self.asked()

    def asked(self) -> dict[str, Any]:
        """What the newest segment ends with."""
        return dict(self._segment().data["interrupts"][0])

    def answer(self, asked: dict[str, Any], **decision: Any) -> Event:
        """Decide, and give the outcome of the segment that follows."""
        response = self._client.post(f"/api/v2/interrupts/{asked['id']}/answer", json=decision)
        assert response.status_code == 200, response.text
        return self._segment()

    def approve(self, asked: dict[str, Any]) -> Event:
        return self.answer(asked, decision="approve")

    def _segment(self) -> Event:
        self.found = to_segment_end(self._client, self.turn, self._last)
        self._last = int(self.found[-1].id)
        return outcome(self.found)

    def tool_events(self) -> list[str]:
        return [event.name for event in self.found if event.name.startswith("tool_")]


def shown(content: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    text = content.decode()
    return {"path": "hello.py", "exists": True, "content": text, "size": len(content), "sha256": digest}


ABSENT = {"path": "hello.py", "exists": False, "content": None, "size": 0, "sha256": None}


def test_the_approval_of_a_new_file_says_that_there_is_none(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice)
    asked = writing.begin()
    assert (asked["file"], asked["changed"]) == (ABSENT, False)
    assert writing.approve(asked).name == "finished"
    assert writing.file.read_text() == CONTENT


def test_the_approval_shows_what_the_file_holds(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, "früher\n".encode())
    asked = writing.begin()
    assert asked["file"] == shown("früher\n".encode())
    listed = alice.get(f"/api/v2/interrupts/{asked['id']}").json()
    seen = alice.get(f"/api/v2/conversations/{writing.place}/snapshot").json()["turns"][0]["interrupts"][0]
    assert listed["file"] == seen["file"] == asked["file"]
    assert writing.approve(asked).name == "finished"
    assert writing.file.read_text() == CONTENT


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a\0b", b"x" * (64 * 1024 + 1)], ids=["bytes", "nul", "long"]
)
def test_what_is_no_short_text_is_not_shown_but_compared(
    server: Served, alice: httpx.Client, content: bytes
) -> None:
    writing = Writing(server, alice, content)
    asked = writing.begin()
    assert asked["file"]["content"] is None
    assert (asked["file"]["size"], asked["file"]["sha256"]) == (
        len(content),
        hashlib.sha256(content).hexdigest(),
    )
    writing.file.write_bytes(content[::-1] + b"!")
    assert writing.approve(asked).name == "interrupted"


def test_the_longest_text_that_is_shown(server: Served, alice: httpx.Client) -> None:
    content = b"x" * (64 * 1024)
    assert Writing(server, alice, content).begin()["file"] == shown(content)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "folder", "link", "a/../../b", "x" * 300])
def test_a_path_that_cannot_be_written_shows_no_file(server: Served, alice: httpx.Client, path: str) -> None:
    writing = Writing(server, alice)
    (writing.file.parent / "folder").mkdir()
    (writing.file.parent / "link").symlink_to("/etc/passwd")
    asked = writing.begin(f"write {path}: x")
    assert asked["file"] is None
    assert writing.approve(asked).name == "finished"
    (ended,) = [event for event in writing.found if event.name == "tool_finished"]
    assert ended.data["status"] == "error"


@pytest.mark.parametrize("before", [None, b"old"])
@pytest.mark.parametrize("after", [None, b"new"])
@pytest.mark.parametrize("decision", ["approve", "edit"])
def test_a_file_that_changed_is_not_written_before_the_person_has_seen_it(
    server: Served, alice: httpx.Client, before: bytes | None, after: bytes | None, decision: str
) -> None:
    writing = Writing(server, alice, before)
    asked = writing.begin()
    mine = "print(2)"
    edited = decision == "edit"
    args = {"args": {"path": "hello.py", "content": mine}} if edited else {}
    writing.file.unlink(missing_ok=True)
    if after is not None:
        writing.file.write_bytes(after)
    asked_again = writing.answer(asked, decision=decision, **args)
    if (before, after) == (None, None):
        assert asked_again.name == "finished"
        return
    assert asked_again.name == "interrupted"
    assert writing.tool_events() == []
    assert (writing.file.read_bytes() if after is not None else None) == after
    (again,) = asked_again.data["interrupts"]
    assert again["changed"] is True
    assert again["id"] != asked["id"]
    assert again["description"].startswith("(The file has changed since it was shown")
    assert again["file"] == (shown(after) if after is not None else ABSENT)
    assert again["args"]["content"] == (mine if edited else CONTENT)
    assert writing.approve(again).name == "finished"
    assert writing.file.read_text() == (mine if edited else CONTENT)


def test_it_is_asked_as_often_as_the_file_changes(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"0")
    asked = writing.begin()
    for number in range(1, 4):
        writing.file.write_text(str(number))
        (asked,) = writing.approve(asked).data["interrupts"]
        assert (asked["changed"], asked["file"]["content"]) == (True, str(number))
    assert writing.answer(asked, decision="reject").name == "finished"
    assert writing.file.read_text() == "3"


def test_an_edited_path_replaces_nothing_that_was_not_shown(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"old")
    other = writing.file.parent / "other.py"
    other.write_text("theirs")
    asked = writing.begin()
    args = {"path": "other.py", "content": "mine"}
    (again,) = writing.answer(asked, decision="edit", args=args).data["interrupts"]
    assert (again["args"], again["file"]["content"], again["changed"]) == (args, "theirs", True)
    assert writing.approve(again).name == "finished"
    assert (other.read_text(), writing.file.read_text()) == ("mine", "old")


def test_an_edited_path_of_a_new_file_is_written(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"old")
    args = {"path": "new/other.py", "content": "mine"}
    assert writing.answer(writing.begin(), decision="edit", args=args).name == "finished"
    assert (writing.file.parent / "new/other.py").read_text() == "mine"


def test_a_file_that_already_holds_what_is_written_is_no_change(server: Served, alice: httpx.Client) -> None:
    """This is so after a crash between the write and its result."""
    writing = Writing(server, alice, b"old")
    asked = writing.begin()
    writing.file.write_text(CONTENT)
    assert writing.approve(asked).name == "finished"


def test_what_is_always_allowed_is_not_compared(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"old")
    assert writing.answer(writing.begin(), decision="approve", always_allow=True).name == "finished"
    writing.file.write_text("changed by somebody")
    writing._last = 0
    writing.turn = send(alice, writing.place, "write hello.py: again")["id"]
    assert writing._segment().name == "finished"
    assert writing.file.read_text() == "again"


def test_an_approval_of_an_older_version_is_read(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"old")
    asked = writing.begin()

    def forget(connection: Any) -> None:
        row = connection.execute(rows.select().where(rows.c.id == asked["id"])).one()
        body = {name: value for name, value in json_data.loads(row.body).items() if name != "file"}
        connection.execute(rows.update().where(rows.c.id == asked["id"]).values(body=json_data.dumps(body)))

    server.call(server.database.write(forget))
    assert alice.get(f"/api/v2/interrupts/{asked['id']}").json()["file"] is None
    (again,) = writing.approve(asked).data["interrupts"]
    assert again["file"]["content"] == "old"
    assert writing.approve(again).name == "finished"


def test_a_content_that_would_make_the_question_too_large_is_left_out(
    server: Served, alice: httpx.Client
) -> None:
    """64 KiB of control characters are 384 KiB of JSON, and a question has at most 1 MiB."""
    content = b"\x01" * 64 * 1024
    light, heavy = (Writing(server, alice, content) for _ in range(2))
    assert light.begin(f"write hello.py: x{chr(2) * 80_000}x")["file"] == shown(content)
    asked = heavy.begin(f"write hello.py: x{chr(2) * 115_000}x")
    assert asked["file"] == shown(content) | {"content": None}
    assert len(asked["args"]["content"]) == 115_002


def test_a_file_that_is_too_long_to_be_compared_by_content_is_compared_by_its_times(
    server: Served, alice: httpx.Client
) -> None:
    writing = Writing(server, alice)
    with writing.file.open("wb") as file:
        file.truncate(33 * 1024 * 1024)
    asked = writing.begin()
    assert (asked["file"]["size"], asked["file"]["sha256"]) == (33 * 1024 * 1024, None)
    with writing.file.open("r+b") as file:
        file.write(b"x")
    (again,) = writing.approve(asked).data["interrupts"]
    assert again["changed"]
    assert writing.approve(again).name == "finished"
    assert writing.file.read_text() == CONTENT


def test_two_approved_writes_of_one_file_are_not_both_made_silently(tmp_path: Path) -> None:
    """The second one finds another content than the person was shown."""
    workspace = Workspace(tmp_path)
    before = workspace.look("a.txt")
    assert workspace.write("a.txt", "one", before) == 3
    assert workspace.write("a.txt", "one", before) == 3
    with pytest.raises(WorkspaceError, match="has changed"):
        workspace.write("a.txt", "two", before)
    assert workspace.read("a.txt") == "one"
    assert workspace.write("a.txt", "two", workspace.look("a.txt")) == 3


def test_what_nobody_answered_in_time_is_asked_again_by_a_retry(tmp_path: Path) -> None:
    server = Served(tmp_path)
    (tmp_path / "agents" / "hasty.yaml").write_text(HASTY)
    with server, server.client("alice") as client:
        sent = send(client, conversation(client), "write a.txt: x", agent="hasty")
        log = events(client, sent["id"])
        assert [event.data["reason"] for event in log if event.name == "stopped"] == ["timeout"]
        assert client.post(f"/api/v2/turns/{sent['id']}/retry").status_code == 200
        again = events(client, sent["id"])
        assert sum(event.name == "interrupted" for event in again) == 2
