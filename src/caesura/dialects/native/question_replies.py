"""The JSON of questions to a person, and of what they always allow."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from caesura.core import answers as core_answers
from caesura.core import interrupts as core
from caesura.core.conversations import Grant as GrantRow
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.dialects.native import encode


class Option(BaseModel):
    label: str
    value: str
    allow_custom: bool = False


class Question(BaseModel):
    question: str
    options: list[Option] = Field(default_factory=list)


class FormField(BaseModel):
    name: str
    type: core.FieldType
    label: str
    required: bool
    options: list[str] = Field(default_factory=list)


class File(BaseModel):
    """What a file holds that an approved call would write."""

    path: str
    exists: bool
    content: str | None = Field(description="At most 64 KiB of text; null for anything else")
    size: int
    sha256: str | None = Field(description="Null for a file that does not exist or is very long")


class Interrupt(BaseModel):
    id: str
    kind: core.Kind
    tool_call_id: str | None
    name: str | None
    args: dict[str, Any]
    label: str
    description: str
    unknown: bool = Field(description="The call was begun before a crash, and nobody knows what came of it")
    file: File | None = Field(description="What the file holds now that `write_file` would write")
    changed: bool = Field(
        description="It was approved, but the file had changed since it was shown: nothing was written"
    )
    note: str = Field(description="What the operator says about the call, if anything; on one line")
    questions: list[Question]
    reason: str
    context: str = Field(
        description="What is to be confirmed: at most 2,000 characters from the end of what the agent said"
    )
    fields: list[FormField]
    value: Any
    agent: str
    parent: str | None = Field(description="The tool call under which a sub-agent asks")
    expires_at: int | None
    decisions: list[core.Decision]

    @classmethod
    def of(cls, item: core.Interrupt) -> Interrupt:
        return cls(**encode.interrupt(item))


class Asked(Interrupt):
    turn_id: str
    conversation_id: str
    status: core.Status
    answer: dict[str, Any] | None
    created_at: int

    @classmethod
    def of_row(cls, row: StoredInterrupt) -> Asked:
        return cls(
            **encode.interrupt(row.interrupt),
            turn_id=row.turn_id,
            conversation_id=row.conversation_id,
            status=row.status,
            answer=core_answers.to_dict(row.answer) if row.answer else None,
            created_at=row.created_at,
        )


class Inbox(BaseModel):
    interrupts: list[Asked]
    next: str | None = Field(description="The cursor of the next page; null after the last one")


class Grant(BaseModel):
    agent: str = Field(description="The agent to which the tool is allowed")
    tool: str
    turn_id: str = Field(description="The turn in which it was granted")
    granted_at: int

    @classmethod
    def of(cls, row: GrantRow) -> Grant:
        return cls(**row._asdict())


class Grants(BaseModel):
    grants: list[Grant]
