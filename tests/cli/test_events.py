"""The events of a turn, printed."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.api.attacks import asking_for
from tests.api.reading import conversation, finished, send
from tests.api.server import Served
from tests.cli.conftest import Ran, Run


@pytest.fixture
def events(run: Run, server: Served, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("CAESURA_URL", server.url)
    monkeypatch.setenv("CAESURA_TOKEN", server.token())
    return lambda *arguments: run("events", *arguments)


@pytest.fixture
def alice(server: Served) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def numbers(ran: Ran) -> list[int]:
    assert ran.code == 0, ran.err
    return [int(line.split()[0]) for line in ran.out.splitlines()]


def test_a_line_is_printed_for_each_event(events: Run, alice: httpx.Client) -> None:
    ran = events(finished(alice, "echo good day")["id"])
    assert numbers(ran) == list(range(1, len(ran.out.splitlines()) + 1))
    assert "run_started" in ran.out
    assert 'text="good' in ran.out
    assert ran.out.rstrip().endswith("segment_ended")


def test_events_after_any_number_have_the_time_of_the_turn(events: Run, alice: httpx.Client) -> None:
    turn = finished(alice, "echo good day")
    lines = [json.loads(line) for line in events(turn["id"], "--json").out.splitlines()]
    began, ended = lines[0]["at"], lines[-1]["at"]
    assert any(line["event"] == "text_delta" for line in lines)
    for after in range(1, len(lines)):
        first = json.loads(events(turn["id"], "--json", "--after", after).out.splitlines()[0])
        assert began <= first["at"] <= ended


def test_json_output_has_one_object_per_line(events: Run, alice: httpx.Client) -> None:
    turn = finished(alice, "write a.txt")
    lines = [json.loads(line) for line in events(turn["id"], "--json", "--after", 1).out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(2, len(lines) + 2))
    (asked,) = [line for line in lines if line["event"] == "interrupted"]
    assert asked["interrupts"][0]["name"] == "write_file"


def test_characters_that_move_the_cursor_are_escaped(events: Run, alice: httpx.Client) -> None:
    command = "a\x1b[2K\x9b2J\x85\u202e\u200b\x7f\U000e0041▌"
    turn = finished(alice, asking_for(command))
    told = events(turn["id"], "--json").out
    assert all(line.isprintable() for line in told.split("\n"))
    (asked,) = [line for line in map(json.loads, told.splitlines()) if line["event"] == "interrupted"]
    assert asked["interrupts"][0]["args"] == {"command": command}
    shown = events(turn["id"]).out
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "▌" not in shown


def test_a_waiting_turn_is_printed_up_to_its_last_event(events: Run, alice: httpx.Client) -> None:
    turn = finished(alice, "write a.txt")
    count = len(numbers(events(turn["id"])))
    assert numbers(events(turn["id"], "--after", count)) == []


def test_following_continues_until_the_turn_has_ended(events: Run, alice: httpx.Client) -> None:
    turn = send(alice, conversation(alice), "count to 60 delay=0.01")
    assert "finished" in events(turn["id"], "--follow").out


def test_a_missing_turn_is_reported_in_one_line(events: Run) -> None:
    ran = events("turn-nowhere")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
