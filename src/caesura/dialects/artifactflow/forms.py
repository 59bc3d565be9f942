"""How API B reports errors, and how its routes document them."""

from __future__ import annotations

from typing import Any

from caesura.core.errors import AlreadyAnswered, InterruptPending
from caesura.dialects.artifactflow import encode, wire
from caesura.http.errors import Form, Problem, documented

PREFIXES = ("/api/v1/chat", "/api/v1/stream", "/api/v1/artifacts")
#: What this API calls by another name.
_WORDS = {"turn not found": "message not found"}


def body(problem: Problem) -> dict[str, Any]:
    data: dict[str, Any] = {"detail": _WORDS.get(problem.message, problem.message)}
    if isinstance(problem.error, InterruptPending):
        data["interrupt"] = encode.interrupt_data(problem.error.interrupts)
    if isinstance(problem.error, AlreadyAnswered):
        data["decision"] = problem.error.decision
    return data


FORM = Form(PREFIXES, body, model=wire.Refusal)
ALWAYS = documented(FORM, 401, 403, 429, 500, 503)
FOUND, LARGE = documented(FORM, 404, 422), documented(FORM, 413)
_CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": wire.PendingRefusal, "description": "Conflict"}}
STARTS = documented(FORM, 400, 404, 413, 422) | _CONFLICT
