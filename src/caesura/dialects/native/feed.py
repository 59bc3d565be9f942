"""The feed of the native API: its frames, and its route."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Literal, assert_never

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, Field

from caesura.core import interrupts as core
from caesura.core import json_data
from caesura.dialects.native import replies
from caesura.dialects.native.faults import FORM
from caesura.http import sse
from caesura.http.auth import StreamUser
from caesura.http.context import Here
from caesura.http.errors import documented
from caesura.http.late import LateRoute
from caesura.service import feed
from caesura.service.feed import Item

router = APIRouter(
    prefix="/api/v2", responses=documented(FORM, 401, 403, 429, 500, 503), route_class=LateRoute
)


class FeedReady(BaseModel):
    """The first event. What follows comes after its `id`."""

    inbox: int = Field(description="How many questions wait")
    user_id: str = Field(description="Whose feed this is")


class FeedReset(BaseModel):
    """The cursor is too old, or was lost: load the lists again. The feed goes on from the `id` of this
    event."""


class FeedConversation(replies.Conversation):
    """The conversation as it is now. It was created, or something in it has changed."""

    questions: int = Field(description="How many questions wait in it")


class FeedConversationDeleted(BaseModel):
    id: str


class FeedQuestion(BaseModel):
    """What a list shows of a question. A `description` of more than 2,000 characters is cut."""

    id: str
    kind: core.Kind
    label: str
    description: str
    agent: str
    expires_at: int | None


class FeedQuestionOpened(BaseModel):
    interrupt: FeedQuestion
    conversation_id: str
    turn_id: str


class FeedQuestionClosed(BaseModel):
    interrupt_id: str
    conversation_id: str
    turn_id: str
    outcome: Literal["answered", "expired", "superseded", "cancelled"]
    decision: core.Decision | None = Field(description="How it was answered; null if it was not")


class FeedInbox(BaseModel):
    """The number of questions that wait has changed."""

    count: int


#: The data of each event, by its name.
MODELS: dict[str, type[BaseModel]] = {
    "ready": FeedReady,
    "reset": FeedReset,
    "conversation": FeedConversation,
    "conversation_deleted": FeedConversationDeleted,
    "question_opened": FeedQuestionOpened,
    "question_closed": FeedQuestionClosed,
    "inbox": FeedInbox,
}
_STREAM = sse.documented("One event for each change; `id` is its cursor.", models=lambda: MODELS)
del _STREAM[204]

Cursor = Annotated[int | None, Query(ge=0, le=2**53, description="The `id` of the last event that was seen")]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**53)]


@router.get(
    "/feed", tags=["conversations"], response_class=Response, responses=_STREAM | documented(FORM, 422)
)
async def read(
    here: Here, user_id: StreamUser, after: Cursor = None, last_event_id: LastEventId = None
) -> Response:
    """What changes in all conversations of the caller, as it happens. It does not end by itself."""
    begin = last_event_id if last_event_id is not None else after
    return here.streams.response(_frames(user_id, here.service.feeds.follow(user_id, begin)))


async def _frames(user_id: str, items: AsyncGenerator[list[Item], None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(items):
        async for batch in items:
            yield b"".join(_frame(user_id, item) for item in batch)


def _frame(user_id: str, item: Item) -> bytes:
    name, data = _named(user_id, item)
    return sse.frame(item.cursor, name, json_data.line(data.model_dump_json().encode()))


def _named(user_id: str, item: Item) -> tuple[str, BaseModel]:
    match item:
        case feed.Ready():
            return "ready", FeedReady(inbox=item.inbox, user_id=user_id)
        case feed.Reset():
            return "reset", FeedReset()
        case feed.Changed():
            shown = replies.Conversation.of(item.conversation).model_dump()
            return "conversation", FeedConversation(**shown, questions=item.questions)
        case feed.Deleted():
            return "conversation_deleted", FeedConversationDeleted(id=item.conversation_id)
        case feed.Opened():
            opened = FeedQuestionOpened(
                interrupt=FeedQuestion.model_validate(item.told),
                conversation_id=item.conversation_id,
                turn_id=item.turn_id,
            )
            return "question_opened", opened
        case feed.Closed():
            closed = FeedQuestionClosed.model_validate(
                {name: getattr(item, name) for name in FeedQuestionClosed.model_fields}
            )
            return "question_closed", closed
        case feed.Inbox():
            return "inbox", FeedInbox(count=item.count)
        case unreachable:
            assert_never(unreachable)
