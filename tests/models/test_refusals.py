"""What refusals mean, and what of them is told."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import orjson
import pytest

from caesura.models.failures import ModelError
from caesura.models.refusals import from_inside, from_status, scrubbed
from tests.models.conftest import KEY, Make
from tests.models.test_streams import fault_of
from tests.models.wire import Wire, hangs, says


def refusal(status: int, error: Any, **headers: str) -> ModelError:
    body = error if isinstance(error, bytes) else orjson.dumps(error)
    return from_status(status, {k.replace("_", "-"): v for k, v in headers.items()}, body, "api.test", [KEY])


@pytest.mark.parametrize(
    ("status", "kind", "transient"),
    [
        (401, "key", False),
        (402, "key", False),
        (403, "key", False),
        (404, "missing", False),
        (301, "missing", False),
        (307, "missing", False),
        (400, "request", False),
        (422, "request", False),
        (405, "request", False),
        (413, "context", False),
        (407, "connection", True),
        (408, "busy", True),
        (409, "busy", True),
        (425, "busy", True),
        (429, "busy", True),
        (503, "busy", True),
        (529, "busy", True),
        (500, "provider", True),
        (502, "provider", True),
        (504, "provider", True),
        (204, "provider", True),
    ],
)
def test_a_status_says_what_went_wrong(status: int, kind: str, transient: bool) -> None:
    for body in (b"", b"{}", b"<html>", b"null", b'"no"', b"[]", b'{"error": null}', b'{"error": [1]}'):
        found = refusal(status, body)
        assert (found.kind, found.transient) == (kind, transient)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "key"),
        (
            400,
            {"error": {"message": "Your credit balance is too low", "type": "invalid_request_error"}},
            "key",
        ),
        (404, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}, "missing"),
        (403, {"error": {"message": "Project has no access: model x not found"}}, "missing"),
        (400, {"error": {"message": "openai/x is not a valid model ID", "code": 400}}, "request"),
        (400, {"error": {"message": "The model x is not a valid model ID", "code": 400}}, "missing"),
        (404, {"type": "error", "error": {"type": "not_found_error", "message": "model: x"}}, "missing"),
        (500, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "busy"),
        (400, {"error": {"message": "Invalid schema", "type": "invalid_request_error"}}, "request"),
        (429, {"error": {"message": "too fast", "type": "exceeded_current_quota_error"}}, "key"),
        (500, {"error": {"message": "pay first", "type": "billing_error"}}, "key"),
    ],
)
def test_a_body_may_say_it_better(status: int, error: Any, kind: str) -> None:
    assert refusal(status, error).kind == kind


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
@pytest.mark.parametrize(
    "name",
    [
        "invalid_request_error",
        "authentication_error",
        "permission_denied",
        "not_found_error",
        "content_filter",
    ],
)
def test_a_provider_in_trouble_is_asked_again_whatever_it_calls_that(status: int, name: str) -> None:
    error = {"error": {"message": "The model x is not found", "type": name, "code": name}}
    assert refusal(status, error).transient


@pytest.mark.parametrize(
    ("status", "error", "tokens"),
    [
        (
            400,
            {
                "error": {
                    "message": "This model's maximum context length is 8192 tokens. However, your messages"
                    " resulted in 9001 tokens. Please reduce the length of the messages.",
                    "type": "invalid_request_error",
                    "code": "context_length_exceeded",
                }
            },
            8192,
        ),
        (
            400,
            {"error": {"message": "Input tokens exceed the configured limit of 272000 tokens."}},
            272000,
        ),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "prompt is too long: 210000 tokens > 200000 maximum",
                },
            },
            200000,
        ),
        (
            400,
            {
                "error": {
                    "message": "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000,"
                    " decrease input length or `max_tokens` and try again"
                }
            },
            200000,
        ),
        (
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you requested 5000"
                " tokens (4500 in the messages, 500 in the completion).",
                "type": "BadRequestError",
                "code": 400,
            },
            4096,
        ),
        (
            400,
            {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."},
            4096,
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "the request exceeds the available context size. try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 14429,
                    "n_ctx": 8192,
                }
            },
            8192,
        ),
        (
            500,
            {
                "error": {
                    "code": 500,
                    "message": "the request exceeds the available context size",
                    "n_ctx": 256,
                }
            },
            256,
        ),
        (400, {"error": "input length exceeds the context length"}, None),
        (400, {"error": {"message": "Range of input length should be [1, 129024]"}}, 129024),
        (400, {"error": {"message": "Your request exceeded model token limit: 8192"}}, 8192),
        (
            400,
            {"message": "Prompt has 40000 tokens, too large for model with 32768 maximum context length"},
            32768,
        ),
        (
            400,
            {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
            131072,
        ),
        (
            400,
            {
                "error": {
                    "message": "The input token count (1200000) exceeds the maximum number of tokens"
                    " allowed (1048576)."
                }
            },
            1048576,
        ),
        (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds"}}, None),
    ],
)
def test_a_history_that_is_too_long_is_known_as_such(status: int, error: Any, tokens: int | None) -> None:
    found = refusal(status, error)
    assert (found.kind, found.context_tokens) == ("context", tokens)


def test_a_limit_of_tokens_in_a_minute_is_not_a_history_that_is_too_long() -> None:
    message = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000."
    found = refusal(429, {"error": {"message": message, "code": "rate_limit_exceeded"}})
    assert (found.kind, found.context_tokens) == ("busy", None)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": ""}, None),
        ({"retry_after": "Fri, 31 Dec 1999 23:59:59 +99999999999999"}, None),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({}, None),
    ],
)
def test_a_refusal_may_say_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert refusal(429, {}, **headers).retry_after == seconds


def test_a_refusal_may_say_at_which_time_to_come_back() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=100)
    found = refusal(503, {}, retry_after=format_datetime(soon, usegmt=True)).retry_after
    assert found is not None
    assert 0 < found <= 100
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    assert refusal(503, {}, retry_after=past).retry_after == 0.0


def test_a_key_that_a_provider_repeats_is_not_told() -> None:
    for said in (
        f"Incorrect key {KEY}.",
        f"key {KEY[:12]}*** is wrong",
        f"***{KEY[-10:]} is wrong",
        f"Bearer {KEY}",
    ):
        for error in (
            refusal(401, {"error": {"message": said}}),
            from_inside({"message": said}, "api.test", [KEY]),
        ):
            assert KEY[:8] not in str(error)
            assert KEY[-8:] not in str(error)
    assert "short" not in scrubbed("the key short is wrong", ["short"])
    assert "sk-other-123456789" not in scrubbed("the key sk-other-123456789 is wrong", [KEY])


@pytest.mark.parametrize("key", [KEY, hashlib.sha512(b"key").hexdigest(), "elevenchars"])
def test_no_part_of_a_key_is_told_that_is_of_any_use(key: str) -> None:
    for first in range(0, len(key) - 7, 5):
        for size in (8, 9, 16, len(key) - first):
            part = key[first : first + size]
            told = scrubbed(f"wrong: {part}, and again x{part}y", [key])
            assert told.startswith("wrong: ***")
            assert not any(part[place : place + 8] in told for place in range(len(part) - 7))
    assert scrubbed(f"wrong: {key[2:6]}", [key]) == f"wrong: {key[2:6]}"


def test_of_a_body_only_a_short_line_is_told() -> None:
    for filler in (b"x", b"1", b"1,", b"model ", b"sk-"):
        long = b"<html>\n\x00\x1b[31m" + filler * 30_000
        for error in (refusal(500, long), refusal(400, {"error": {"message": long.decode()}})):
            assert len(str(error)) < 400
            assert str(error).isprintable()


async def test_refusals_come_through_the_wire(provider: Wire, model: Make) -> None:
    for name in ("openai:test", "anthropic:claude-test"):
        made = model(name)
        provider.answer(
            says(429, {"error": {"message": f"slow down, {KEY}"}}, retry_after="3"),
            says(529, {"type": "error", "error": {"type": "overloaded_error"}}),
            says(500, b"x" * 300_000),
            says(302, b"", location="http://127.0.0.1:9/elsewhere"),
        )
        found = [(await fault_of(made))[1] for _ in range(4)]
        assert [(error.kind, error.retry_after) for error in found] == [
            ("busy", 3.0),
            ("busy", None),
            ("provider", None),
            ("missing", None),
        ]
        assert not any(KEY in str(error) for error in found)


async def test_a_refusal_whose_body_does_not_come_is_known_by_its_status(provider: Wire, model: Make) -> None:
    provider.answer(hangs(b"HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\nhal"))
    _, error = await fault_of(model(idle_timeout=0.2))
    assert error.kind == "key"
