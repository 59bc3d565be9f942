"""The routes of API A."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Body, Header, Path, Query, Response
from fastapi.responses import StreamingResponse

from caesura.core import answers as core_answers
from caesura.core import cursors, json_data
from caesura.core.errors import (
    AlreadyAnswered,
    BadAnswer,
    BadInput,
    Conflict,
    Forbidden,
    InterruptPending,
    NoConversation,
    NotFound,
    NothingPending,
)
from caesura.core.messages import Line
from caesura.core.turns import Turn
from caesura.dialects.threads import encode, thread_ids, wire
from caesura.dialects.threads.decisions import Action, Said, decisions, named
from caesura.http import sse
from caesura.http.auth import RunningStreamUser, StreamUser, User
from caesura.http.context import Context, Here
from caesura.http.dialect import Dialect
from caesura.http.errors import Form, Problem, documented
from caesura.http.frames import pump
from caesura.http.late import LateRoute
from caesura.service.turns import Message

PREFIXES = ("/api/sessions", "/api/chat", "/api/resume", "/api/status", "/api/history")
ACTION = "Action must be 'continue', 'cancel' or 'answer'"
ANSWERS = "answers is required when action is 'answer'"


def body(problem: Problem) -> dict[str, Any]:
    data: dict[str, Any] = {"detail": problem.message}
    if isinstance(problem.error, InterruptPending):
        data["interrupt"] = encode.interrupt_data(problem.error.interrupts)
    if isinstance(problem.error, AlreadyAnswered):
        data["decision"] = problem.error.decision
    return data


FORM = Form(PREFIXES, body, invalid=400, model=wire.Refusal)
_ALWAYS = documented(FORM, 401, 403, 405, 429, 500, 503)
_OF_ONE = documented(FORM, 403, 404)
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `messages/partial {content}`, `messages/reset {}`, "
        "`tool/start {tool, input, id}`, `tool/end {tool, output, id}`, `interrupt {info, taskName, data, "
        "questions, options, interrupt_id}`, `title_updated {title}`, `error {message}`, and exactly one "
        "`end {}`, last.",
        "content": {"text/event-stream": {"schema": sse.schema()}},
    }
}
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"description": "A run is in progress, or an interrupt is pending", "model": wire.PendingRefusal}
}

router = APIRouter(prefix="/api", tags=["threads"], responses=_ALWAYS, route_class=LateRoute)
DIALECT = Dialect(FORM, router)

ThreadId = Annotated[str, Path(max_length=150)]
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID")]


@router.post("/sessions", status_code=201, responses=documented(FORM, 400, 404, 413))
async def create(
    here: Here, user_id: User, new: Annotated[wire.NewSession | None, Body()] = None
) -> wire.Session:
    agent = new.agent if new is not None else None
    made = await here.service.conversations.create(user_id, agent, thread_ids.make(user_id))
    return wire.session(made)


@router.get("/sessions", responses=documented(FORM, 400))
async def listing(
    here: Here,
    user_id: User,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    page_size: Annotated[int | None, Query(ge=1, le=10**9)] = None,
) -> wire.Sessions:
    """Newest first. A page size above the largest is reduced to it."""
    size = here.pages.size(page_size)
    found = await here.service.conversations.page(user_id, size, offset=(page - 1) * size)
    return wire.Sessions(threads=[wire.session(item) for item in found.items], total=found.total)


@router.delete("/sessions/{thread_id}", status_code=204, responses=_OF_ONE)
async def delete(here: Here, user_id: User, thread_id: ThreadId) -> None:
    """Stop the thread's run and delete all of its data."""
    with _own(user_id, thread_id):
        await here.service.conversations.delete(user_id, thread_id)


@router.get("/status/{thread_id}", responses=_OF_ONE)
async def status(here: Here, user_id: User, thread_id: ThreadId) -> wire.ThreadStatus:
    with _own(user_id, thread_id):
        return wire.status(await here.service.conversations.status(user_id, thread_id))


@router.get("/history/{thread_id}", response_model=wire.History, responses=_OF_ONE)
async def history(here: Here, user_id: User, thread_id: ThreadId) -> Response:
    pages = here.service.conversations.history(user_id, thread_id)
    with _own(user_id, thread_id):
        first = await anext(pages)
        more = await anext(pages, None)
    # Thousands of messages are serialized directly, without a pydantic model for each.
    if more is None:
        return Response(json_data.dumps(wire.history(thread_id, first)), media_type="application/json")
    return StreamingResponse(_written(thread_id, first, more, pages), media_type="application/json")


@router.post(
    "/chat/{thread_id}",
    response_class=Response,
    responses=_OF_ONE | _STREAM | _CONFLICT | documented(FORM, 400, 413),
)
async def chat(here: Here, user_id: RunningStreamUser, thread_id: ThreadId, new: wire.Chat) -> Response:
    """Send a message and read the reply. If a question waits, the message is not taken, and it is asked
    again."""
    message = Message(
        new.message,
        on_disconnect=new.on_disconnect or here.default_on_disconnect,
        supersede=new.supersede,
        stop_unread=True,
    )
    with _own(user_id, thread_id):
        try:
            turn = await here.service.turns.send(user_id, thread_id, message)
        except InterruptPending as error:
            if not error.interrupts:  # another request has just answered it
                raise
            return here.streams.response(_bytes(encode.not_taken(error.interrupts)))
    return here.streams.response(_segment(here, turn, 0))


@router.post(
    "/resume/{thread_id}",
    response_class=Response,
    responses=_OF_ONE | _STREAM | _CONFLICT | documented(FORM, 400, 413),
)
async def resume(here: Here, user_id: RunningStreamUser, thread_id: ThreadId, new: wire.Resume) -> Response:
    """Decide on the waiting interrupts, and read how the turn continues. A decision that does not fit changes
    nothing. A decision that names no interrupt is refused within a second after another decision, because
    nobody can have seen what it is about."""
    action, said = _checked(new)
    shown = _shown(new)
    with _own(user_id, thread_id):
        found = await here.service.conversations.status(user_id, thread_id)
    if found.turn is None or not found.pending:
        raise await _nothing(here, found.turn)
    blind = shown is None
    try:
        decided = decisions(named(found.pending, shown), action, said)
        answered = await here.service.turns.answer(user_id, decided, blind=blind)
    except BadAnswer as error:
        if blind and await here.service.inbox.just_decided(found.turn.num):
            raise InterruptPending(found.pending) from error
        return here.streams.response(_bytes(encode.error(error.message)))
    # Read the pending interrupts again: another request may have answered the rest at the same time.
    waits = answered.turn.status == "waiting"
    if waits and (left := await here.service.inbox.pending(answered.turn.num)):
        return here.streams.response(_bytes(encode.still_pending([item.interrupt for item in left])))
    return here.streams.response(_segment(here, answered.turn, answered.after, found.turn.segment + 1))


@router.get(
    "/chat/{thread_id}/stream",
    response_class=Response,
    responses=_OF_ONE | _STREAM | {204: {"description": "Everything was sent"}} | documented(FORM, 400),
)
async def stream(
    here: Here, user_id: StreamUser, thread_id: ThreadId, last_event_id: LastEventId = None
) -> Response:
    """Join the current or the last segment, or continue after the last event that was seen."""
    seen = cursors.place(last_event_id) if last_event_id else None
    if last_event_id and seen is None:
        raise BadInput("Last-Event-ID must be an id that this thread's stream has sent")
    with _own(user_id, thread_id):
        place = await here.service.streams.join(user_id, thread_id, *(seen or ()))
    if place is None:
        return Response(status_code=204)
    frames = _segment(here, place.turn, place.after, place.segment, first=encode.ANEW if place.anew else b"")
    return here.streams.response(frames)


@router.post("/chat/{thread_id}/stop", responses=_OF_ONE)
async def stop(here: Here, user_id: User, thread_id: ThreadId) -> wire.Stopped:
    """Stop the active turn; its messages are kept."""
    with _own(user_id, thread_id):
        return wire.Stopped(stopped=await here.service.turns.stop_active(user_id, thread_id))


@contextmanager
def _own(user_id: str, thread_id: str) -> Iterator[None]:
    """Somebody else's thread and a thread that does not exist look the same: 403, or 404 if the id begins
    with the person's own name."""
    try:
        yield
    except NoConversation as error:
        if thread_ids.names(thread_id, user_id):
            raise NotFound("thread not found") from error
        raise Forbidden("this thread is not yours") from error


async def _nothing(here: Context, turn: Turn | None) -> Conflict:
    """The error when nothing waits. While the turn continues after an answer, it says what the answer was, so
    that the second click of a double click learns of the first."""
    live = turn is not None and turn.status in ("queued", "running")
    stored = await here.service.inbox.decided(turn.num) if turn is not None and live else None
    if stored is None or stored.answer is None:
        return NothingPending()
    return AlreadyAnswered(core_answers.to_dict(stored.answer))


def _checked(new: wire.Resume) -> tuple[Action, Said]:
    if new.action not in get_args(Action):
        raise BadInput(ACTION)
    if new.action != "answer":
        return new.action, Said(args=new.args, respond=new.respond, message=new.message)
    if not new.answers:
        raise BadInput(ANSWERS)
    if not isinstance(new.answers, list) or not all(isinstance(item, str) for item in new.answers):
        raise BadInput("answers must be a list of texts")
    return new.action, Said(new.answers, new.args, new.respond, new.message)


def _shown(new: wire.Resume) -> str | set[str] | None:
    shown = new.interrupt_id
    if shown is None or isinstance(shown, str):
        return shown
    if not isinstance(shown, list) or not shown or not all(isinstance(item, str) for item in shown):
        raise BadInput("interrupt_id must be a text or a list of texts")
    return set(shown)


async def _segment(
    here: Context, turn: Turn, after: int, segment: int = 0, first: bytes = b""
) -> AsyncGenerator[bytes, None]:
    """The frames of a segment after the event `after`. Earlier events of the segment are folded in, not sent
    again. `segment` selects a later segment, which is sent from its beginning. `first` is sent before
    everything else."""
    if first:
        yield first
    turn = turn.bare()
    since = None if segment else turn.segment_seq if after >= turn.segment_seq else 0
    batches = here.service.streams.read(turn, after, since=since, segment=segment, until="segment")

    def gone() -> bytes:
        return b"" if here.service.draining else encode.END

    async with aclosing(pump(encode, batches, encode.start(turn.ordinal), after, gone)) as frames:
        async for frame in frames:
            yield frame
            del frame


async def _written(
    thread_id: str, first: list[Line], second: list[Line], others: AsyncGenerator[list[Line], None]
) -> AsyncGenerator[bytes, None]:
    """A history as JSON in pieces: one page is in memory at a time."""
    begin = json_data.dumps(wire.history(thread_id, first))
    yield begin.removesuffix(b"]}")
    del begin, first
    async with aclosing(others) as pages:
        page: list[Line] | None = second
        while page is not None:
            yield b"," + json_data.dumps(wire.said(page))[1:-1]
            page = await anext(pages, None)
    yield b"]}"


async def _bytes(frames: bytes) -> AsyncGenerator[bytes, None]:
    yield frames
