"""The JSON that the native API takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from caesura.core import interrupts as core
from caesura.core.answers import Answer
from caesura.core.artifacts import MOST_VERSIONS, ContentType, Edit, rewrite, update
from caesura.core.turns import OnDisconnect

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+$", max_length=150)]
AgentName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=100)]
_MEMBERS = 100


def _few(value: Any) -> Any:
    """Refuse objects with too many members. Each wrong member makes its own error, and 100,000 errors would
    block the server."""
    if isinstance(value, dict) and len(value) > _MEMBERS:
        raise PydanticCustomError("too_many_members", f"an object has at most {_MEMBERS} members here")
    return value


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    _has_few_members = model_validator(mode="before")(_few)


class NewConversation(_In):
    agent: AgentName | None = None
    title: str | None = Field(default=None, max_length=1000)


class Rename(_In):
    title: str = Field(max_length=1000)


class Branch(_In):
    turn_id: Id


class Read(_In):
    """The last turn that was read, and the cursor of the last event in it."""

    turn_id: Id
    cursor: int = Field(default=0, ge=0, le=2**53)


class NewTurn(_In):
    """Without `parent` the message continues the active branch. `null` begins a new root. A turn's id
    branches there."""

    content: str
    parent: Id | None = None
    agent: AgentName | None = None
    on_disconnect: OnDisconnect = "continue"
    supersede: bool = Field(default=False, description="Refuse what waits for an answer, and go on")


class NewAnswer(_In):
    """Which of the other members are used depends on the decision."""

    decision: core.Decision
    args: dict[str, Any] | None = None
    message: str = ""
    answers: Annotated[list[str], FailFast()] = Field(default_factory=list)
    fields: dict[str, Any] = Field(default_factory=dict)
    value: Any = None
    always_allow: bool = Field(default=False, description="Allow this tool from now on along the branch")

    def answer(self) -> Answer:
        return Answer(
            self.decision,
            self.args,
            self.message,
            tuple(self.answers),
            self.fields,
            self.value,
            self.always_allow,
        )


class NewAnswers(_In):
    answers: Annotated[dict[Id, NewAnswer], BeforeValidator(_few)] = Field(min_length=1, max_length=_MEMBERS)


class NewArtifact(_In):
    id: str = Field(
        min_length=1, max_length=400, description="Letters, digits, `_`, `-` and `.`, at most 100"
    )
    title: str = Field(min_length=1, max_length=800)
    content_type: ContentType
    content: str


class NewVersion(_In):
    """Either the whole new `content`, or `old`, a text to replace, and `new`."""

    content: str | None = None
    old: str | None = None
    new: str | None = None
    base: int | None = Field(
        default=None,
        ge=1,
        le=MOST_VERSIONS,
        description="The version that was edited: refuse if it is not current",
    )

    @model_validator(mode="after")
    def _is_one_of_both(self) -> NewVersion:
        whole, part = self.content is not None, (self.old is not None, self.new is not None)
        if whole == any(part) or any(part) != all(part):
            raise PydanticCustomError("one_of_both", "give either content, or old and new")
        return self

    def change(self) -> Callable[[str], Edit]:
        """What makes the next content from the current one."""
        if self.content is not None:
            return partial(_rewritten, self.content)
        return partial(update, old=self.old or "", new=self.new or "")


def _rewritten(content: str, before: str) -> Edit:
    return rewrite(content)


#: Below a root path, or not.
_STREAM = r"^(/[A-Za-z0-9._~-]+)*/api/[^#\s]*$"


class StreamWanted(_In):
    stream: Annotated[str, StringConstraints(pattern=_STREAM, max_length=1500)] = Field(
        description="The path of the stream that is to be opened, with the query that names it, if it has"
        " one. The server's root path may be left out"
    )
