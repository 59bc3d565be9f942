"""An approval shows exactly what will run: commands that try to look like others, over both APIs."""

import json

import httpx
import pytest

from tests.api.attacks import ATTACKS, asking_for
from tests.api.reading import conversation, send, to_segment_end
from tests.api.threads.thread import Thread, one


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_command_is_described_whole_and_escaped(alice: httpx.Client, attack: str) -> None:
    command, form = ATTACKS[attack]
    lines = len(command.splitlines())
    size = f"{len(command):,} characters{f', {lines} lines' if lines > 1 else ''}"
    description = f"Running command ({size}): {form}"
    thread = Thread.new(alice)
    asked = one(thread.chat(asking_for(command)), "interrupt")
    assert (asked["info"], asked["taskName"]) == (description, "Run a command")
    assert asked["data"][0]["description"] == description
    assert asked["data"][0]["args"] == {"command": command}
    (turn,) = alice.get(f"/api/v2/conversations/{thread.id}/snapshot").json()["turns"]
    (item,) = turn["interrupts"]
    assert (item["description"], item["args"]) == (description, {"command": command})


def test_each_of_several_equal_calls_is_described(alice: httpx.Client) -> None:
    asked = one(Thread.new(alice).chat("run npm install + run npm install"), "interrupt")
    assert asked["info"] == "Running command: npm install; Running command: npm install"


def test_an_approval_describes_every_argument(alice: httpx.Client) -> None:
    content = "print(1)\nimport os; os.system('rm')"
    args = json.dumps({"content": content, "path": "a.py\u202e"})
    asked = one(Thread.new(alice).chat(f"call write_file {args}"), "interrupt")
    assert asked["info"] == r"Writing file (5 characters; content: 35 characters, 2 lines): a.py\u202e"


def test_questions_stay_data_and_their_descriptions_are_escaped(alice: httpx.Client) -> None:
    asked = [{"question": "a\u202eb?", "options": [{"label": "x\x1b[2K", "value": "x"}]}] * 2
    turn = send(alice, conversation(alice), f"call ask_user {json.dumps({'questions': json.dumps(asked)})}")
    (event,) = [item for item in to_segment_end(alice, turn["id"]) if item.name == "interrupted"]
    (item,) = event.data["interrupts"]
    assert item["description"] == "The agent asks 2 questions"
    assert (
        item["questions"] == [{"question": "a\u202eb?", "options": [{"label": "x\x1b[2K", "value": "x"}]}] * 2
    )


def test_a_confirmation_is_described_escaped_and_its_reason_is_data(alice: httpx.Client) -> None:
    thread = Thread.new(alice, "approval-agent")
    asked = one(thread.chat("echo Please confirm \u202eeteled"), "interrupt")
    assert asked["info"] == r"Confirmation (22 characters): Please confirm \u202eeteled"
    (turn,) = alice.get(f"/api/v2/conversations/{thread.id}/snapshot").json()["turns"]
    assert turn["interrupts"][0]["reason"] == "Please confirm \u202eeteled"
