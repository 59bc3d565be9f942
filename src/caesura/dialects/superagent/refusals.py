"""How API C reports errors, and how its routes document them."""

from __future__ import annotations

from typing import Any

from caesura.core.errors import AlreadyAnswered, InterruptPending
from caesura.dialects.superagent import wire
from caesura.http.errors import Form, Problem, documented

PREFIXES = (
    "/api/v1/chat/stream",
    "/api/v1/chat/resume",
    "/api/v1/chat/interrupt_state",
    "/api/v1/chat/abort",
    "/api/v1/agents",
)


class Waiting(InterruptPending):
    """An interrupt is pending in a session; `state` is what this API shows of it."""

    def __init__(self, state: dict[str, Any], message: str | None = None) -> None:
        super().__init__((), message or InterruptPending().message)
        self.state = state


def body(problem: Problem) -> dict[str, Any]:
    data: dict[str, Any] = {"error": problem.message}
    if isinstance(problem.error, Waiting):
        data["state"] = problem.error.state
    if isinstance(problem.error, AlreadyAnswered):
        data["decision"] = problem.error.decision
    return data


FORM = Form(PREFIXES, body, invalid=400, model=wire.ErrorBody)
ALWAYS = documented(FORM, 401, 403, 405, 429, 500, 503)
FOUND = documented(FORM, 400, 404)
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"description": "A run is in progress, or an interrupt is pending", "model": wire.PendingError}
}
NOTHING: dict[int | str, dict[str, Any]] = {
    409: {"description": "Nothing waits, or something else does", "model": wire.PendingError}
}
