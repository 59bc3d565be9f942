"""Log lines."""

import asyncio
import json
import logging
import sys

import pytest

from caesura.http.logs import JsonFormatter, TextFormatter, configure, request_id


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": message, "args": args, "levelname": "INFO", "name": "x", **extra})
    made.created = 0.5
    made.msecs = 500
    return made


def test_a_line_is_json_with_what_is_known() -> None:
    line = json.loads(JsonFormatter().format(record("hello %s", "you", status=200)))
    assert line == {
        "at": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "logger": "x",
        "message": "hello you",
        "status": 200,
    }


def test_a_line_carries_the_request_it_belongs_to() -> None:
    token = request_id.set("req-1")
    try:
        assert json.loads(JsonFormatter().format(record("x")))["request"] == "req-1"
        assert TextFormatter().format(record("x")).endswith("x [req-1]")
    finally:
        request_id.reset(token)


async def test_a_line_of_a_run_carries_its_turn() -> None:
    async def run() -> str:
        return JsonFormatter().format(record("x"))

    line = await asyncio.create_task(run(), name="run-turn-1")
    assert json.loads(line)["turn"] == "turn-1"


def test_a_message_cannot_forge_log_lines() -> None:
    told = record("GET /\n12:00:00 ERROR forged\x1b[2J\u2028\x9b\u202e\x7f\u3164")
    assert (
        TextFormatter()
        .format(told)
        .endswith(r"GET /\n12:00:00 ERROR forged\x1b[2J\u2028\x9b\u202e\x7f\u3164")
    )


def test_characters_that_move_the_cursor_are_escaped_in_json_too() -> None:
    message = "a\x9b2J\x85\u202e\u2028\x7f\U000e0041"
    line = JsonFormatter().format(record(message))
    assert line.isprintable()
    assert json.loads(line)["message"] == message


def test_a_traceback_cannot_forge_lines_of_a_log_for_people() -> None:
    try:
        raise ValueError("boom\n12:00:00 ERROR forged\x1b[2J\x85\u202e")
    except ValueError:
        text = TextFormatter().format(record("x", exc_info=sys.exc_info()))
    first, *rest = text.split("\n")
    assert first.endswith(" x")
    assert all(line.startswith("    ") and line.isprintable() for line in rest)


def test_an_error_stays_one_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        text = JsonFormatter().format(record("x", exc_info=sys.exc_info()))
    assert "\n" not in text
    assert "ValueError: boom" in json.loads(text)["error"]


def test_messages_of_libraries_about_each_request_are_not_logged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("httpx", "httpx2", "httpcore", "alembic")
    levels = {name: logging.getLogger(name).level for name in ("root", *names)}
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    try:
        configure("info", "json")
        for name in names:
            logging.getLogger(name).info("HTTP Request: POST https://provider/v1")
            logging.getLogger(name).warning("%s warns", name)
        lines = capsys.readouterr().err.splitlines()
        assert [json.loads(line)["message"] for line in lines] == [f"{name} warns" for name in names]
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
