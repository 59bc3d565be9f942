"""The routes of API B, except those of artifacts."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request, Response
from starlette.convertors import Convertor, register_url_convertor

from caesura.core import answers as core_answers
from caesura.core import events as ev
from caesura.core.errors import (
    AlreadyAnswered,
    BadInput,
    Conflict,
    NotFound,
    NothingPending,
)
from caesura.core.events import Envelope
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.core.turns import Turn
from caesura.dialects.artifactflow import artifacts, decisions, details, encode, names, wire
from caesura.dialects.artifactflow.forms import ALWAYS, FORM, FOUND, STARTS
from caesura.http import sse
from caesura.http.auth import RunningUser, StreamUser, User, viewer_of
from caesura.http.context import Context, Here
from caesura.http.dialect import Dialect
from caesura.http.errors import documented
from caesura.http.frames import pump
from caesura.http.late import LateRoute
from caesura.service.idempotency import Key
from caesura.service.streams import Place
from caesura.service.turns import Message

_CURSOR = re.compile(r"(\d{1,16})(?:\.(\d{1,4}))?", re.ASCII)
_LARGEST = 2**53
_ENDS: tuple[type[ev.Event], ...] = (ev.SegmentEnded, ev.Interrupted)


class _ConversationId(Convertor[str]):
    """An id that begins with `conv-`. Other words at this place, such as `stream` and `resume`, belong to
    other APIs, whichever of the routes comes first."""

    regex = "conv-[^/]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("conversation", _ConversationId())


_STREAM = sse.documented(
    "`metadata` comes first, then `stream` events. `complete`, `interrupt` or `error` comes last.",
    ("metadata", "stream", "complete", "interrupt", "error"),
)

router = APIRouter(prefix="/api/v1", responses=ALWAYS, tags=["artifactflow"], route_class=LateRoute)

ConversationId = Annotated[str, Path(max_length=200, pattern=r"^conv-[A-Za-z0-9._-]+$")]
ThreadId = Annotated[str, Path(max_length=200, pattern=r"^[A-Za-z0-9._-]+$")]
Limit = Annotated[int | None, Query(ge=1, le=2**31)]
Offset = Annotated[int, Query(ge=0, le=2**31)]
IdempotencyKey = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="The same request under the same key is done once"),
]
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]
After = Annotated[str | None, Query(max_length=100, description="As `Last-Event-ID`, for a new EventSource")]


@router.post("/chat", responses=STARTS)
@router.post("/chat/", responses=STARTS, include_in_schema=False)
async def chat(
    here: Here, request: Request, user_id: RunningUser, new: wire.Chat, key: IdempotencyKey = None
) -> wire.Started:
    """Send a message. When the response arrives, the message is stored, and its run can be read at
    `stream_url`."""
    once = None if key is None else Key(key, ("/api/v1/chat", new.model_dump(exclude_unset=True)))
    turns = here.service.turns
    if new.conversation_id is None:
        if new.parent_message_id is not None:
            raise BadInput("parent_message_id needs the conversation_id of its conversation")
        message = Message(new.content)
        turn = await turns.open(user_id, new.agent or here.lead_agent, message, once)
        return wire.started(turn, here.root)
    message = Message(new.content, _parent(new), new.agent, supersede=new.supersede)
    turn = await turns.send(user_id, names.conversation_row(new.conversation_id), message, once)
    return wire.started(turn, here.root)


@router.get("/chat", responses=documented(FORM, 422))
@router.get("/chat/", responses=documented(FORM, 422), include_in_schema=False)
async def listing(here: Here, user_id: User, limit: Limit = None, offset: Offset = 0) -> wire.Conversations:
    """The caller's conversations, newest first. A `limit` above the largest page size is reduced to it."""
    size = here.pages.size(limit)
    page = await here.service.conversations.page(user_id, size, offset=offset, order="updated")
    return wire.Conversations(
        conversations=[wire.listed(item) for item in page.items],
        total=page.total,
        has_more=offset + len(page.items) < page.total and bool(page.items),
    )


@router.get("/chat/{conv_id:conversation}", response_model=wire.Detail, responses=FOUND)
async def detail(here: Here, request: Request, user_id: User, conv_id: ConversationId) -> Response:
    """The conversation with its message tree: all messages of all branches, oldest first."""
    row_id = names.conversation_row(conv_id)
    return await details.response(here, user_id, row_id, viewer_of(request))


@router.delete("/chat/{conv_id:conversation}", status_code=204, responses=FOUND)
async def delete(here: Here, user_id: User, conv_id: ConversationId) -> None:
    """Stop the conversation's runs and delete all of its data."""
    await here.service.conversations.delete(user_id, names.conversation_row(conv_id))


@router.post("/chat/{conv_id:conversation}/resume", responses=STARTS, response_model_exclude_none=True)
async def resume(
    here: Here, request: Request, user_id: RunningUser, conv_id: ConversationId, new: wire.Resume
) -> wire.Resumed:
    """Decide on what waits in a run. The run goes on once nothing of it waits any more. A decision that names
    no question is refused if what waits was not shown, and within a second after another decision, because
    nobody can have read what it is about."""
    turn = await _turn(here, user_id, conv_id, new.message_id)
    if names.turn_of_thread(new.thread_id) != turn.id:
        raise NotFound("this message has another thread")
    waiting = [item.interrupt for item in await here.service.inbox.pending(turn.num)]
    try:
        given = decisions.decisions(waiting, new)
    except NothingPending:
        raise await _refusal(here, user_id, turn.id, new) from None
    blind, viewer, showings = new.interrupt_id is None, viewer_of(request), here.service.showings
    if blind:
        await showings.settle({turn.num: list(given)}, viewer)
    answered = await here.service.turns.answer(user_id, given, blind=blind, viewer=viewer)
    waits = answered.turn.status == "waiting"
    left = [item.interrupt for item in await here.service.inbox.pending(turn.num)] if waits else []
    if left:
        await showings.note({turn.num: [item.id for item in left]}, viewer)
    return wire.Resumed(
        stream_url=names.stream(turn.id, here.root), interrupt=encode.interrupt_data(left) if left else None
    )


@router.post("/chat/{conv_id:conversation}/cancel", responses=FOUND | documented(FORM, 400, 413))
async def cancel(
    here: Here, user_id: User, conv_id: ConversationId, new: wire.Cancel | None = None
) -> wire.Cancelled:
    """Stop the run of a message, or all runs of the conversation. What was said is kept."""
    turns = here.service.turns
    if new is None or new.message_id is None:
        return wire.Cancelled(cancelled=await turns.stop_all(user_id, names.conversation_row(conv_id)))
    turn = await _turn(here, user_id, conv_id, new.message_id)
    return wire.Cancelled(cancelled=await turns.stop(user_id, turn.id))


@router.get("/stream/{thread_id}", response_class=Response, responses=FOUND | documented(FORM, 400) | _STREAM)
async def stream(
    here: Here,
    request: Request,
    user_id: StreamUser,
    thread_id: ThreadId,
    last_event_id: LastEventId = None,
    after: After = None,
) -> Response:
    """The events of a run's newest segment from its beginning, or those after the last event that was
    seen."""
    cursor, seen = _cursor(last_event_id or after)
    turn_id = names.turn_of_thread(thread_id)
    # A reader that has seen only some frames of an event gets the others.
    try:
        place = await here.service.streams.enter(user_id, turn_id, cursor - 1 if seen else cursor)
    except NotFound as error:
        raise NotFound("thread not found") from error
    if place is None:
        return Response(status_code=204)
    return here.streams.response(_segment(here, place, 0 if place.anew else seen, viewer_of(request)))


async def _segment(here: Context, place: Place, seen: int, viewer: str) -> AsyncGenerator[bytes, None]:
    """The frames of a segment after the place. Earlier events of the segment are folded in, not sent
    again."""
    turn = place.turn
    if place.anew:
        yield encode.restarted()
    encoder = encode.Encoder(turn.conversation_id, turn.id, place.after + 1, seen)
    since = None if place.segment else turn.segment_seq if place.after >= turn.segment_seq else 0
    read = here.service.streams.read(turn, place.after, since=since, segment=place.segment, until="pause")
    batches = _shown(here, turn.num, place.after, viewer, read)

    def gone() -> bytes:
        return b"" if here.service.draining else encode.failure("the conversation was deleted")

    state = encoder.start(turn.ordinal)
    async with aclosing(pump(encoder, batches, state, place.after, gone, ends=_ENDS)) as frames:
        async for frame in frames:
            yield frame
            del frame


async def _shown(
    here: Context, turn: int, after: int, viewer: str, batches: AsyncGenerator[list[Envelope], None]
) -> AsyncGenerator[list[Envelope], None]:
    """The same events. Before a question is sent, it is recorded that it is shown; what comes before it does
    not wait for that. Of several questions, those that were answered since are left out."""
    async with aclosing(batches):
        async for batch in batches:
            if isinstance(batch[-1].event, ev.Interrupted) and batch[-1].seq > after:
                if len(batch) > 1:
                    yield batch[:-1]
                items = await here.service.showings.show(turn, batch[-1].event.interrupts, viewer)
                batch = [batch[-1]._replace(event=ev.Interrupted(items))]
            yield batch
            del batch


def _cursor(text: str | None) -> tuple[int, int]:
    """The event that was seen last, and how many of its frames were; 0 if all of them."""
    if not text:
        return 0, 0
    found = _CURSOR.fullmatch(text)
    if found is None or int(found[1]) >= _LARGEST:
        raise BadInput("Last-Event-ID must be an id that this stream has sent")
    return int(found[1]), int(found[2] or 0)


def _parent(new: wire.Chat) -> Any:
    if "parent_message_id" not in new.model_fields_set:
        return ...
    return None if new.parent_message_id is None else names.turn_of_message(new.parent_message_id)


async def _turn(here: Context, user_id: str, conversation_id: str, message_id: str) -> Turn:
    """The turn of a message of this conversation."""
    row_id = names.conversation_row(conversation_id)
    turn = await here.service.turns.get(user_id, names.turn_of_message(message_id))
    if turn.conversation_id != row_id:
        raise NotFound("message not found")
    return turn


async def _refusal(here: Context, user_id: str, turn_id: str, new: wire.Resume) -> Conflict:
    """The error when nothing waits: what was decided about the question that the request names, or, if it
    names none, about the last one while the turn goes on after it."""
    turn = await here.service.turns.get(user_id, turn_id)  # the decision may be newer than what was read
    stored: StoredInterrupt | None = None
    if new.interrupt_id is not None:
        with suppress(NotFound):
            stored = await here.service.inbox.get(user_id, new.interrupt_id)
    elif turn.status in ("queued", "running"):
        stored = await here.service.inbox.decided(turn.num)
    if stored is None or stored.turn_id != turn_id or stored.answer is None:
        return NothingPending()
    return AlreadyAnswered(core_answers.to_dict(stored.answer))


router.routes.extend(artifacts.router.routes)
DIALECT = Dialect(FORM, router, headers=("Idempotency-Key",))
