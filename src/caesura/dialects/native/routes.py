"""The routes of the native API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel

from caesura.core import json_data
from caesura.core.errors import NotFound
from caesura.core.stored_interrupts import StoredInterrupt
from caesura.dialects.native import (
    artifacts,
    encode,
    event_data,
    feed,
    files,
    people,
    question_replies,
    replies,
    requests,
    turn_replies,
)
from caesura.dialects.native.faults import FORM
from caesura.http import pagination, sse
from caesura.http.auth import Entered, RunningUser, StreamUser, User
from caesura.http.context import Here
from caesura.http.dialect import Dialect
from caesura.http.errors import documented
from caesura.http.frames import pump
from caesura.http.late import LateRoute
from caesura.http.tickets import SECONDS
from caesura.service.idempotency import Key
from caesura.service.turns import Message

_ALWAYS = documented(FORM, 401, 403, 429, 500, 503)
_FOUND = documented(FORM, 404, 422)
_SENT = documented(FORM, 400, 413, 422)
_STARTS = documented(FORM, 400, 404, 409, 413, 422)
_STREAM = sse.documented("One event for each fact; `id` is its cursor.", models=event_data.models)

router = APIRouter(prefix="/api/v2", responses=_ALWAYS, route_class=LateRoute)
DIALECT = Dialect(FORM, router, headers=("Idempotency-Key",), uploads=files.UPLOAD)

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9._-]+$", max_length=150)]
Limit = Annotated[int | None, Query(ge=1, le=2**31)]
PageCursor = Annotated[str | None, Query(max_length=1000)]
TitlePart = Annotated[str, Query(max_length=200, description="A part of the titles that are wanted")]
TreeCursor = Annotated[
    int | None, Query(ge=0, le=2**31 - 1, description="`next` of the page before this one")
]
BranchCursor = Annotated[
    str | None,
    Query(
        pattern=r"^[A-Za-z0-9._-]+$", max_length=150, description="`before` of the page that comes after it"
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="For 24 hours the same request under the same key is done once and answered alike",
    ),
]
Cursor = Annotated[int | None, Query(ge=0, le=2**53, description="The `id` of the last event that was seen")]
ToolName = Annotated[str, Path(min_length=1, max_length=200)]
LastEventId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=2**53)]


# --- people and agents


@router.get("/me", tags=["people"])
async def me(user_id: User) -> replies.Me:
    return replies.Me(user_id=user_id)


@router.post("/stream-ticket", tags=["people"], status_code=201, responses=_SENT)
async def stream_ticket(here: Here, access: Entered, wanted: requests.StreamWanted) -> replies.Ticket:
    """EventSource cannot send headers: a ticket lets it open one stream, once."""
    return replies.Ticket(ticket=here.gate.ticket(access, wanted.stream), expires_in=SECONDS)


@router.get("/agents", tags=["agents"])
async def agents(here: Here, user_id: User) -> replies.Agents:
    known = here.service.agents
    return replies.Agents(
        agents=[replies.Agent.of(agent, known.default, known.model(agent)) for agent in known.listing()]
    )


@router.get("/agents/schema", tags=["agents"])
async def agents_schema(here: Here, user_id: User) -> dict[str, Any]:
    """The JSON schema of an agent's file."""
    return here.service.agents.schema()


# --- conversations


@router.post(
    "/conversations", tags=["conversations"], status_code=201, responses=_SENT | documented(FORM, 404)
)
async def create(
    here: Here, request: Request, user_id: User, new: requests.NewConversation, key: IdempotencyKey = None
) -> replies.Conversation:
    conversations = here.service.conversations
    made = await conversations.create(user_id, new.agent, title=new.title, key=_key(request, key, new))
    return replies.Conversation.of(made)


@router.get("/conversations", tags=["conversations"], responses=documented(FORM, 400, 422))
async def listing(
    here: Here,
    user_id: User,
    limit: Limit = None,
    cursor: PageCursor = None,
    order: Literal["updated", "created"] = "updated",
    query: TitlePart = "",
) -> replies.Conversations:
    """The caller's conversations, newest first. A `limit` above the largest page size is reduced to it. With
    `query`, only those with this in their title; small and capital letters are the same."""
    after = pagination.position(cursor) if cursor is not None else None
    size = here.pages.size(limit)
    titled = query.strip()
    page = await here.service.conversations.page(user_id, size + 1, after=after, order=order, titled=titled)
    shown = page.items[:size]
    last = shown[-1] if len(page.items) > size else None
    return replies.Conversations(
        conversations=[replies.Conversation.of(item) for item in shown],
        total=page.total,
        next=pagination.cursor(getattr(last, f"{order}_at"), last.id) if last else None,
    )


@router.get(
    "/conversations/{conversation_id}",
    tags=["conversations"],
    response_model=replies.Tree,
    responses=_FOUND,
)
async def tree(
    here: Here, user_id: User, conversation_id: Id, limit: Limit = None, cursor: TreeCursor = None
) -> Response:
    """The conversation with its turns on all branches, oldest first. Without `limit` a page has the largest
    allowed size."""
    size = here.pages.size(limit or here.pages.largest)
    body = await here.service.conversations.tree(
        user_id, conversation_id, size, cursor or 0, lambda page: _json(replies.Tree.of_page(page))
    )
    return Response(body, media_type="application/json")


@router.get(
    "/conversations/{conversation_id}/snapshot",
    tags=["conversations"],
    response_model=replies.Snapshot,
    responses=_FOUND,
)
async def snapshot(
    here: Here, user_id: User, conversation_id: Id, limit: Limit = None, cursor: BranchCursor = None
) -> Response:
    """For a client that just opened: the end of the active branch, and the cursor after which its events
    continue. Without `limit` a page has the largest allowed size."""
    size = here.pages.size(limit or here.pages.largest)
    body = await here.service.conversations.branch(
        user_id, conversation_id, size, cursor, lambda page: _json(replies.Snapshot.of_page(page))
    )
    return Response(body, media_type="application/json")


@router.patch("/conversations/{conversation_id}", tags=["conversations"], responses=_FOUND | _SENT)
async def rename(
    here: Here, user_id: User, conversation_id: Id, new: requests.Rename
) -> replies.Conversation:
    return replies.Conversation.of(
        await here.service.conversations.rename(user_id, conversation_id, new.title)
    )


@router.delete("/conversations/{conversation_id}", tags=["conversations"], status_code=204, responses=_FOUND)
async def delete(here: Here, user_id: User, conversation_id: Id) -> None:
    """Stop the conversation's runs and delete all of its data."""
    await here.service.conversations.delete(user_id, conversation_id)


@router.post("/conversations/{conversation_id}/branch", tags=["conversations"], responses=_FOUND | _SENT)
async def branch(here: Here, user_id: User, conversation_id: Id, to: requests.Branch) -> replies.Conversation:
    """Make the branch through this turn the active branch."""
    return replies.Conversation.of(
        await here.service.conversations.activate(user_id, conversation_id, to.turn_id)
    )


@router.put(
    "/conversations/{conversation_id}/read",
    tags=["conversations"],
    status_code=204,
    responses=_FOUND | _SENT,
)
async def mark_read(here: Here, user_id: User, conversation_id: Id, to: requests.Read) -> None:
    """Note up to where the person has read. The mark does not move back on its branch."""
    await here.service.conversations.mark_read(user_id, conversation_id, to.turn_id, to.cursor)


@router.get("/conversations/{conversation_id}/grants", tags=["conversations"], responses=_FOUND)
async def grants(here: Here, user_id: User, conversation_id: Id) -> question_replies.Grants:
    """The tools that are always allowed on the active branch."""
    found = await here.service.grants.listing(user_id, conversation_id)
    return question_replies.Grants(grants=[question_replies.Grant.of(item) for item in found])


@router.delete(
    "/conversations/{conversation_id}/grants/{tool}",
    tags=["conversations"],
    status_code=204,
    responses=_FOUND,
)
async def revoke(here: Here, user_id: User, conversation_id: Id, tool: ToolName) -> None:
    """Revoke the grant for this tool on every branch of the conversation. From now on calls need approval
    again, also in running turns."""
    await here.service.grants.revoke(user_id, conversation_id, tool)


# --- turns


@router.post("/conversations/{conversation_id}/turns", tags=["turns"], status_code=201, responses=_STARTS)
async def send(
    here: Here,
    request: Request,
    user_id: RunningUser,
    conversation_id: Id,
    new: requests.NewTurn,
    key: IdempotencyKey = None,
) -> turn_replies.Turn:
    """Send a message. When the response arrives, the message is stored and its turn is queued or running."""
    message = Message(
        new.content,
        new.parent if "parent" in new.model_fields_set else ...,
        new.agent,
        new.on_disconnect,
        new.supersede,
    )
    turn = await here.service.turns.send(user_id, conversation_id, message, _key(request, key, new))
    return turn_replies.Turn.of(turn)


@router.get("/turns/{turn_id}", tags=["turns"], responses=_FOUND)
async def turn(here: Here, user_id: User, turn_id: Id) -> turn_replies.Turn:
    return turn_replies.Turn.of(await here.service.turns.get(user_id, turn_id))


@router.post("/turns/{turn_id}/stop", tags=["turns"], responses=_FOUND)
async def stop(here: Here, user_id: User, turn_id: Id) -> turn_replies.Stopped:
    """Stop a turn; `stopped` is false when it had already ended. Its messages are kept."""
    return turn_replies.Stopped(stopped=await here.service.turns.stop(user_id, turn_id))


@router.post("/turns/{turn_id}/retry", tags=["turns"], responses=_STARTS)
async def retry(
    here: Here, request: Request, user_id: RunningUser, turn_id: Id, key: IdempotencyKey = None
) -> turn_replies.Turn:
    """Retry a failed or stopped turn that no other turn follows."""
    return turn_replies.Turn.of(await here.service.turns.retry(user_id, turn_id, _key(request, key)))


@router.post("/turns/{turn_id}/regenerate", tags=["turns"], status_code=201, responses=_STARTS)
async def regenerate(
    here: Here, request: Request, user_id: RunningUser, turn_id: Id, key: IdempotencyKey = None
) -> turn_replies.Turn:
    """Send the same message again, as a sibling of this turn. Both replies are kept."""
    return turn_replies.Turn.of(await here.service.turns.regenerate(user_id, turn_id, _key(request, key)))


@router.get("/turns/{turn_id}/events", tags=["turns"], response_class=Response, responses=_FOUND | _STREAM)
async def events(
    here: Here,
    user_id: StreamUser,
    turn_id: Id,
    after: Cursor = None,
    last_event_id: LastEventId = None,
) -> Response:
    """All events of this turn, over all its segments, until the turn has ended."""
    begin = last_event_id if last_event_id is not None else after or 0
    place = await here.service.streams.place(user_id, turn_id, begin)
    if place.exhausted and place.turn.ended:
        return Response(status_code=204)
    batches = here.service.streams.read(place.turn, place.after, until="turn")
    state = encode.start(place.turn.ordinal, place.epoch)
    return here.streams.response(pump(encode, batches, state, place.after, opening=encode.opening))


# --- interrupts


@router.get(
    "/interrupts",
    tags=["interrupts"],
    response_model=question_replies.Inbox,
    responses=documented(FORM, 400, 422),
)
async def inbox(here: Here, user_id: User, limit: Limit = None, cursor: PageCursor = None) -> Response:
    """The interrupts that wait for the caller in all conversations, oldest first. Without `limit` a page has
    the largest allowed size."""
    after = pagination.position(cursor) if cursor is not None else None
    size = here.pages.size(limit or here.pages.largest)
    body = await here.service.inbox.waiting(user_id, size, after, _inbox)
    return Response(body, media_type="application/json")


@router.get("/interrupts/{interrupt_id}", tags=["interrupts"], responses=_FOUND)
async def interrupt(here: Here, user_id: User, interrupt_id: Id) -> question_replies.Asked:
    return question_replies.Asked.of_row(await here.service.inbox.get(user_id, interrupt_id))


@router.post("/interrupts/{interrupt_id}/answer", tags=["interrupts"], responses=_STARTS)
async def answer(
    here: Here,
    request: Request,
    user_id: RunningUser,
    interrupt_id: Id,
    new: requests.NewAnswer,
    key: IdempotencyKey = None,
) -> turn_replies.Turn:
    """Answer an interrupt. The turn continues once none of its interrupts is pending. A second answer is
    refused, and the error contains the first one."""
    answers = {interrupt_id: new.answer()}
    answered = await here.service.turns.answer(user_id, answers, _key(request, key, new))
    return turn_replies.Turn.of(answered.turn)


@router.post("/turns/{turn_id}/answers", tags=["interrupts"], responses=_STARTS)
async def answer_all(
    here: Here,
    request: Request,
    user_id: RunningUser,
    turn_id: Id,
    new: requests.NewAnswers,
    key: IdempotencyKey = None,
) -> turn_replies.Turn:
    """Answer several interrupts of a turn at once: all answers are accepted, or none."""
    for interrupt_id in new.answers:
        if (await here.service.inbox.get(user_id, interrupt_id)).turn_id != turn_id:
            raise NotFound("interrupt not found")
    answers = {interrupt_id: given.answer() for interrupt_id, given in new.answers.items()}
    answered = await here.service.turns.answer(user_id, answers, _key(request, key, new))
    return turn_replies.Turn.of(answered.turn)


router.routes.extend(artifacts.router.routes)
router.routes.extend(feed.router.routes)
router.routes.extend(files.router.routes)
router.routes.extend(people.router.routes)


def _inbox(found: list[StoredInterrupt], more: bool) -> bytes:
    """One interrupt at a time: serializing a large page in one call would stop all other threads."""
    last = found[-1] if more else None
    items = b",".join(_json(question_replies.Asked.of_row(item)) for item in found)
    cursor = pagination.cursor(last.created_at, last.interrupt.id) if last else None
    return b'{"interrupts":[%b],"next":%b}' % (items, json_data.dumps(cursor))


def _json(page: BaseModel) -> bytes:
    return page.model_dump_json().encode()


def _key(request: Request, value: str | None, body: BaseModel | None = None) -> Key | None:
    if value is None:
        return None
    given = body.model_dump(exclude_unset=True) if body is not None else None
    return Key(value, (request.url.path, given))
