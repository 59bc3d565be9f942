"""The routes of API C."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from caesura.core import answers as core_answers
from caesura.core import cursors, forms
from caesura.core import events as ev
from caesura.core import interrupt_state as states
from caesura.core.conversations import Conversation
from caesura.core.errors import (
    AlreadyAnswered,
    BadAnswer,
    BadInput,
    Conflict,
    InterruptPending,
    NoConversation,
    NotFound,
    NothingPending,
)
from caesura.core.events import Envelope
from caesura.core.interrupt_state import Session
from caesura.core.interrupts import Interrupt
from caesura.core.turns import Turn
from caesura.dialects.superagent import encode, legacy, wire
from caesura.dialects.superagent.refusals import ALWAYS, CONFLICT, FORM, FOUND, NOTHING, Waiting
from caesura.http import sse
from caesura.http.auth import RunningStreamUser, StreamUser, User, viewer_of
from caesura.http.context import Context, Here
from caesura.http.dialect import Dialect
from caesura.http.errors import documented
from caesura.http.frames import pump
from caesura.http.late import LateRoute
from caesura.service.conversations import Status
from caesura.service.turns import Message, check_message

TYPES = (
    *("text", "thinking", "tool_call", "tool_result", "interrupt", "error", "progress", "agent_switch"),
    "done",
)
_CURSOR = re.compile(r"(\d{1,16})(?:\.(\d{1,4}))?", re.ASCII)
_GONE = "the conversation was deleted"
_STREAM = sse.documented(
    "In the legacy form each `data` is a piece of text, an interrupt, or `[DONE]`, which comes last. In the "
    "A2UI form each `data` is `{type, timestamp, data}`, and `done` comes last.",
    TYPES,
)
_READ = {200: _STREAM[200]}
_TAKES = FOUND | documented(FORM, 413)

router = APIRouter(prefix="/api/v1", tags=["superagent"], responses=ALWAYS, route_class=LateRoute)
DIALECT = Dialect(FORM, router, headers=("X-A2UI",))

AgentId = Annotated[str | None, Query(description="The name of the agent")]
SessionId = Annotated[str | None, Query(description="The session that the client has chosen")]
ByHeader = Annotated[bool, Header(alias="X-A2UI", description="Whether the stream has the A2UI form")]
ByQuery = Annotated[bool, Query(description="As `X-A2UI`, for clients that cannot send headers")]
LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]
After = Annotated[str | None, Query(max_length=100, description="As `Last-Event-ID`, for a new EventSource")]


@router.get("/agents")
async def agents(here: Here, user_id: User) -> wire.AgentList:
    return wire.AgentList(agents=[wire.agent(found) for found in here.service.agents.listing()])


@router.post("/chat/stream", response_class=Response, responses=_READ | CONFLICT | _TAKES)
async def chat(
    here: Here,
    request: Request,
    user_id: RunningStreamUser,
    new: wire.Chat,
    x_a2ui: ByHeader = False,
    a2ui: ByQuery = False,
) -> Response:
    """Send a message and read the reply. The first message of a session makes its conversation. If something
    waits, the message is not taken, and it is asked again."""
    session = wire.session(new.agent_id, new.session_id)
    content = wire.required(new.message, "message")
    check_message(content)
    message = Message(
        content,
        on_disconnect=new.on_disconnect or here.default_on_disconnect,
        supersede=new.supersede,
        stop_unread=True,
    )
    turns, form, viewer = here.service.turns, x_a2ui or a2ui, viewer_of(request)
    try:
        turn = await turns.send_to_session(user_id, session.agent_id, session.session_id, message)
    except InterruptPending as error:
        found = await _status(here, user_id, session)
        if found is None or found.turn is None or not found.pending:  # it has just been answered
            raise _waiting(session, error) from error
        await here.service.showings.note({found.turn.num: [item.id for item in found.pending]}, viewer)
        frames = encode if form else legacy
        return here.streams.response(_bytes(frames.not_taken(session, found.pending, _now())))
    return here.streams.response(_segment(here, session, turn, 0, a2ui=form, viewer=viewer))


@router.post("/chat/resume", response_class=Response, responses=_READ | NOTHING | _TAKES)
async def resume(
    here: Here,
    request: Request,
    user_id: RunningStreamUser,
    new: wire.Resume,
    x_a2ui: ByHeader = False,
    a2ui: ByQuery = False,
) -> Response:
    """Fill in the fields of what waits, and read how the turn continues. An input that does not fit changes
    nothing. An input without `checkpoint_id` is refused if what waits was not shown, and within a second
    after another one, because nobody can have read what it is about."""
    session = wire.session(new.agent_id, new.session_id)
    given = wire.filled_in(new.input)
    found = await _status(here, user_id, session)
    if found is None or found.turn is None or not found.pending:
        raise await _nothing(here, session, found)
    named = (None, states.checkpoint_id(session, found.pending), found.pending[0].id)
    if new.checkpoint_id not in named:
        raise _waiting(session, InterruptPending(found.pending))
    blind, viewer = new.checkpoint_id is None, viewer_of(request)
    try:
        decided = forms.answered(found.pending, given)
        if blind:
            await here.service.showings.settle({found.turn.num: list(decided)}, viewer)
        answered = await here.service.turns.answer(user_id, decided, blind=blind, viewer=viewer)
    except InterruptPending as error:
        raise _waiting(session, error) from error
    except BadAnswer as error:
        if blind and await here.service.inbox.just_decided(found.turn.num):
            raise _waiting(session, InterruptPending(found.pending)) from error
        raise
    except AlreadyAnswered as error:
        raise AlreadyAnswered(error.decision, _none(session)) from error
    except (NothingPending, NotFound) as error:
        raise NothingPending(_none(session)) from error
    turn, after, segment = answered.turn, answered.after, found.turn.segment + 1
    form = x_a2ui or a2ui
    return here.streams.response(_segment(here, session, turn, after, segment, a2ui=form, viewer=viewer))


@router.get("/chat/interrupt_state", responses=FOUND, response_model_exclude_none=True)
async def interrupt_state(
    here: Here, request: Request, user_id: User, agent_id: AgentId = None, session_id: SessionId = None
) -> wire.Waiting:
    """What waits for an answer in a session."""
    session = wire.session(agent_id, session_id)
    found = await _status(here, user_id, session)
    if found is None:
        here.service.agents.get(session.agent_id)
    if found is None or found.turn is None or not found.pending:
        return wire.Waiting(interrupted=False)
    asked = {found.turn.num: [item.id for item in found.pending]}
    await here.service.showings.note(asked, viewer_of(request))
    state = states.of(session, found.pending, found.conversation.updated_at)
    return wire.Waiting(interrupted=True, state=wire.InterruptState.model_validate(state))


@router.post("/chat/abort", responses=_TAKES)
async def abort(here: Here, user_id: User, new: wire.InSession) -> wire.Aborted:
    """Stop the reply in a session, or close what waits. What was said is kept."""
    session = wire.session(new.agent_id, new.session_id)
    found = await _conversation(here, user_id, session)
    if found is None:
        here.service.agents.get(session.agent_id)
        return wire.Aborted(aborted=False)
    try:
        return wire.Aborted(aborted=await here.service.turns.stop_active(user_id, found.id))
    except NotFound:  # it was deleted meanwhile
        return wire.Aborted(aborted=False)


@router.get("/chat/stream", response_class=Response, responses=FOUND | _STREAM)
async def stream(
    here: Here,
    request: Request,
    user_id: StreamUser,
    agent_id: AgentId = None,
    session_id: SessionId = None,
    last_event_id: LastEventId = None,
    after: After = None,
    x_a2ui: ByHeader = False,
    a2ui: ByQuery = False,
) -> Response:
    """Join the current or the last segment, or continue after the last event that was seen."""
    session = wire.session(agent_id, session_id)
    seen, frames = _cursor(last_event_id or after)
    found = await _conversation(here, user_id, session)
    if found is None:
        here.service.agents.get(session.agent_id)
        return Response(status_code=204)
    try:
        place = await here.service.streams.join(user_id, found.id, *(seen or ()))
    except NoConversation:  # it was deleted meanwhile
        return Response(status_code=204)
    if place is None:
        return Response(status_code=204)
    partly = 0 if place.anew else frames
    form = x_a2ui or a2ui
    sent = _segment(
        here,
        session,
        place.turn,
        place.after,
        place.segment,
        a2ui=form,
        viewer=viewer_of(request),
        partly=partly,
        anew=place.anew,
    )
    return here.streams.response(sent)


async def _conversation(here: Context, user_id: str, session: Session) -> Conversation | None:
    return await here.service.conversations.of_session(user_id, session.agent_id, session.session_id)


async def _status(here: Context, user_id: str, session: Session) -> Status | None:
    """The state of a session's conversation; None if there is none."""
    conversation = await _conversation(here, user_id, session)
    if conversation is None:
        return None
    try:
        return await here.service.conversations.status(user_id, conversation.id)
    except NoConversation:  # it was deleted meanwhile
        return None


async def _nothing(here: Context, session: Session, found: Status | None) -> Conflict | NotFound:
    """The error when nothing waits. While the turn continues after an answer, it says what the answer was, so
    that the second of two clicks learns of the first."""
    agent = here.service.agents.get(session.agent_id)
    turn = found.turn if found is not None else None
    if turn is not None and turn.status in ("queued", "running"):
        stored = await here.service.inbox.decided(turn.num)
        if stored is not None and stored.answer is not None:
            return AlreadyAnswered(core_answers.to_dict(stored.answer), _none(session))
    if not agent.spec.interrupt.enabled:
        return NotFound(f"agent does not support interrupt/resume: {session.agent_id}")
    return NothingPending(_none(session))


def _none(session: Session) -> str:
    return f"no pending interrupt for session: {session.session_id}"


def _waiting(session: Session, error: InterruptPending) -> Conflict:
    items: tuple[Interrupt, ...] = error.interrupts
    if not items:  # it has expired, or another request has just answered it
        return error
    return Waiting(states.of(session, items, _now()))


def _cursor(text: str | None) -> tuple[cursors.Place | None, int]:
    """The event after which a reader continues; and of the next event, how many frames were seen."""
    if not text:
        return None, 0
    found = _CURSOR.fullmatch(text)
    place = cursors.place(found[1]) if found is not None else None
    if found is None or place is None:
        raise BadInput("Last-Event-ID must be an id that this session's stream has sent")
    if not found[2] or cursors.seq(place.cursor) == 0:
        return place, 0
    return cursors.Place(place.ordinal, place.cursor - 1), int(found[2])


async def _segment(
    here: Context,
    session: Session,
    turn: Turn,
    after: int,
    segment: int = 0,
    *,
    a2ui: bool,
    viewer: str,
    partly: int = 0,
    anew: bool = False,
) -> AsyncGenerator[bytes, None]:
    """The frames of a segment after the event `after`. Earlier events of the segment are folded in, not sent
    again. `segment` selects a later segment, which is sent from its beginning. Of the first event, `partly`
    frames were seen."""
    if anew:
        yield encode.anew(_now()) if a2ui else legacy.frames(legacy.RESTART)
    turn = turn.bare()
    since = None if segment else turn.segment_seq if after >= turn.segment_seq else 0
    read = here.service.streams.read(turn, after, since=since, segment=segment, until="segment")
    batches = _shown(here, turn.num, after, viewer, read)

    def gone() -> bytes:
        if here.service.draining:
            return b""
        if a2ui:
            return encode.failed("deleted", _GONE, _now())
        return legacy.error(_GONE, after_text=True) + legacy.DONE

    encoder: Any = encode.Encoder(session, after + 1, partly) if a2ui else legacy.Encoder(session)
    async with aclosing(pump(encoder, batches, encoder.start(turn.ordinal, 0), after, gone)) as frames:
        async for frame in frames:
            yield frame
            del frame


async def _shown(
    here: Context, turn: int, after: int, viewer: str, batches: AsyncGenerator[list[Envelope], None]
) -> AsyncGenerator[list[Envelope], None]:
    """The same events. Before a question is sent, it is recorded that it is shown; what comes before it does
    not wait for that."""
    async with aclosing(batches):
        async for batch in batches:
            for place, (seq, _, event) in enumerate(batch):
                if isinstance(event, ev.Interrupted) and seq > after:
                    if place:
                        yield batch[:place]
                    await here.service.showings.show(turn, event.interrupts, viewer)
                    batch = batch[place:]
                    break  # a segment has one
            yield batch
            del batch


async def _bytes(frames: bytes) -> AsyncGenerator[bytes, None]:
    yield frames


def _now() -> int:
    return time.time_ns() // 1_000_000
