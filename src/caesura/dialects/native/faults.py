"""The JSON of an error of the native API."""

from __future__ import annotations

from typing import Any

from pydantic import (
    BaseModel,
    Field,
)

from caesura.core.errors import AlreadyAnswered, InterruptPending
from caesura.dialects.native import encode, question_replies
from caesura.http.errors import Form, Invalid, Problem


class Fault(BaseModel):
    code: str
    message: str
    fields: list[str] | None = Field(default=None, description="What in the request is wrong")
    interrupts: list[question_replies.Interrupt] | None = Field(
        default=None, description="What waits for an answer"
    )
    decision: dict[str, Any] | None = Field(default=None, description="What the one who was first decided")
    error_id: str | None = Field(default=None, description="Also in the server's log")


class Error(BaseModel):
    error: Fault


def error(problem: Problem) -> dict[str, Any]:
    body: dict[str, Any] = {"code": problem.code, "message": problem.message}
    match problem.error:
        case InterruptPending(interrupts=found):
            body["interrupts"] = [encode.interrupt(item) for item in found]
        case AlreadyAnswered(decision=decision):
            body["decision"] = decision
        case Invalid(fields=fields):
            body["fields"] = list(fields)
    if problem.error_id:
        body["error_id"] = problem.error_id
    return {"error": body}


FORM = Form(("/api/v2",), error, model=Error)
