"""Encodes the events of a segment as frames, with a pure fold. A stream that is resumed after any id equals
the unbroken stream.

An event may have several frames. The ids of all but the last are those of the event with `.1`, `.2` and so
on, so that a reader continues exactly even if it was cut between two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, assert_never

from caesura.core import cursors, interrupts, json_data
from caesura.core import events as ev
from caesura.core.events import Envelope
from caesura.core.interrupts import Approval, Confirmation, GraphRequest, Interrupt, Questions
from caesura.dialects.artifactflow import names

#: `response` has at most this many characters. A reader holds them until the answer is complete.
LONGEST_RESPONSE = 1 << 20
#: The words of at most this many authors are kept.
_AUTHORS = 8
_KINDS = {"approval": "tool_permission", "questions": "questions", "confirmation": "confirmation"}
_EXPIRED = "Nobody answered in time, and the run was stopped."

#: A text in pieces, newest first, each shorter than the one before it: few pieces, and little is copied.
Pieces = tuple["Pieces | None", str]
Outcome = ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who makes a model call: the members `agent` and, of a sub-agent, `parent`, as JSON."""

    members: bytes
    own: bool


class Text(NamedTuple):
    """A text that grows, its size, and how much of it came both ways, from a model and from the graph that
    writes by itself."""

    pieces: Pieces | None = None
    size: int = 0
    echoed: int = 0

    def add(self, text: str) -> Text:
        pieces = _added(self.pieces, text) if self.size < LONGEST_RESPONSE else self.pieces
        return Text(pieces, self.size + len(text), self.echoed)

    def echo(self, text: str) -> Text:
        return self._replace(echoed=self.echoed + len(text))


@dataclass(frozen=True, slots=True)
class State:
    """The state of a reader: the offset that the attempt adds to an event's number, who speaks in each model
    call, the answers by their calls (the two newest that are `done`, and those that are being given), the
    artifacts that were changed, and the outcome once it is known.

    A graph may write the words of its models by itself, which would be sent twice: `written` has the words of
    each author since it began, the newest author last. With `mute` the newest event repeats what was sent."""

    attempt: int = 0
    speakers: Mapping[int, Speaker] = field(default_factory=dict)
    answers: dict[int, Text] = field(default_factory=dict)
    done: tuple[int, ...] = ()
    artifacts: tuple[str, ...] = ()
    outcome: Outcome | None = None
    written: dict[str, Text] = field(default_factory=dict)
    mute: bool = False


@dataclass(frozen=True, slots=True)
class Encoder:
    """The encoder of one turn, which the first frame names. Of the event `partly`, the reader has seen the
    first `seen` frames: they are not sent again."""

    conversation_id: str
    turn_id: str
    partly: int = 0
    seen: int = 0

    def start(self, ordinal: int, epoch: int = 0) -> State:
        return State(cursors.make(epoch, 0))

    def step(self, state: State, envelope: Envelope) -> tuple[State, bytes]:
        """The frames of one event; empty if this API has none for it."""
        event = envelope.event
        after = self.skip(state, event)
        if after.mute and after is not state and isinstance(event, ev.TextDelta | ev.GraphWrote):
            return after, b""
        if type(event) is ev.TextDelta:  # nearly all events of a log
            return after, _chunk(after, envelope, event.call, event.text, b'""')
        frames = self._frames(after, envelope)
        if not frames:
            return after, b""
        seen = self.seen if envelope.seq == self.partly and self.seen < len(frames) else 0
        return after, _joined(after.attempt + envelope.seq, frames, seen)

    def skip(self, state: State, event: ev.Event) -> State:
        """Like `step`, without the frames."""
        if type(event) is ev.TextDelta:
            return _heard(state, event.call, event.text)
        match event:
            case ev.RunStarted(cause="adopt", epoch=epoch):
                return replace(state, attempt=cursors.make(epoch, 0))
            case ev.RunStarted(epoch=epoch):
                return State(cursors.make(epoch, 0))
            case ev.ModelStarted(call, agent, parent=parent):
                speaker = Speaker(_members(agent, parent), parent is None)
                return replace(state, speakers={**state.speakers, call: speaker})
            case ev.ModelFinished(call) if call in state.answers:
                return _completed(state, call)
            case ev.TextVoided(call):
                done = tuple(other for other in state.done if other != call)
                return replace(state, answers=_without(state.answers, call), done=done)
            case ev.GraphWrote(parent=None) if event.words:
                return _wrote(state, event.author, event.words)
            case ev.GraphWrote(parent=None) if event.kind in ("start", "restart"):
                return replace(state, written=_without(state.written, event.author), mute=False)
            case ev.ArtifactChanged(id):
                known = state.artifacts
                return replace(state, artifacts=known if id in known else (*known, id))
            case ev.Interrupted() | ev.Finished() | ev.Failed() | ev.Stopped():
                return replace(state, outcome=event)
            case (
                ev.TextDelta()
                | ev.ReasoningDelta()
                | ev.CallDelta()
                | ev.ToolProgress()
                | ev.ModelFinished()
                | ev.ToolStarted()
                | ev.ToolFinished()
                | ev.GraphWrote()
                | ev.TitleChanged()
                | ev.InterruptClosed()
                | ev.SegmentEnded()
            ):
                return state
            case unreachable:
                assert_never(unreachable)

    def _frames(self, state: State, envelope: Envelope) -> list[bytes]:  # noqa: C901 - one case for each event
        """The frames of an event without their ids. `state` is the one after the event."""
        at, event = envelope.at, envelope.event
        match event:
            case ev.RunStarted(cause="adopt"):
                return []
            case ev.RunStarted():
                return [_frame("metadata", self._ids())]
            case ev.ModelStarted(call):
                return [_stream("start", at, state.speakers[call].members, {})]
            case ev.ReasoningDelta(call, text):
                piece = b'{"content":"","reasoning_content":%b}' % _dumps(text)
                return [_streamed("llm_chunk", at, _speaker(state, call).members, piece)]
            case ev.TextVoided(call):
                # A retry voids what was cut off in an earlier segment: no frame of this stream has its text.
                known = state.speakers.get(call)
                return [] if known is None else [_stream("restart", at, known.members, {})]
            case ev.ModelFinished(call, usage=usage):
                members = _speaker(state, call).members
                return [_stream("llm_complete", at, members, {"token_usage": usage})]
            case ev.ToolStarted(id, name, args, agent, parent):
                begun = {"tool_name": name, "input": args, "call_id": id}
                return [_stream("tool_start", at, _members(agent, parent), begun)]
            case ev.ToolFinished(id, name, output, status, agent, parent):
                result = {"tool_name": name, "call_id": id, "success": status in ("ok", "answered")}
                ended = {**result, "status": status, "output": output}
                return [_stream("tool_result", at, _members(agent, parent), ended)]
            case ev.GraphWrote():
                return [_frame("stream", _written(event, at))]
            case ev.TitleChanged() | ev.SegmentEnded() if isinstance(state.outcome, ev.Interrupted):
                return []  # the question was the last frame
            case ev.TitleChanged(title):
                return [_stream("title", at, _members("", None), {"title": title})]
            case ev.ArtifactChanged(id, version, update_type, agent, parent):
                changed = {"id": id, "version": version, "update_type": update_type}
                return [_stream("artifact", at, _members(agent, parent), changed)]
            case ev.Interrupted(items):
                return [*_permissions(at, items), _frame("interrupt", self._interrupt(items))]
            case ev.SegmentEnded():
                return [_ending(state)]
            case (
                ev.TextDelta()
                | ev.CallDelta()
                | ev.ToolProgress()
                | ev.InterruptClosed()
                | ev.Finished()
                | ev.Failed()
                | ev.Stopped()
            ):
                return []
            case unreachable:
                assert_never(unreachable)

    def _ids(self) -> dict[str, str]:
        return {
            "conversation_id": names.conversation(self.conversation_id),
            "message_id": names.message(self.turn_id),
            "thread_id": names.thread(self.turn_id),
        }

    def _interrupt(self, items: Sequence[Interrupt]) -> dict[str, Any]:
        return {"success": True, "interrupted": True, **interrupt_data(items), **self._ids()}


def interrupt_data(items: Sequence[Interrupt]) -> dict[str, Any]:
    """What a client needs to show the questions, live or after a reload: the first one, and all of them."""
    requests = [_request(item) for item in items]
    first = requests[0] if requests else {}
    kind = _KINDS.get(items[0].kind, items[0].kind) if items else None
    return {"interrupt_type": kind, "interrupt_data": {**first, "requests": requests}}


def failure(message: str) -> bytes:
    """The last frame of a stream whose conversation was deleted."""
    return b"event: error\ndata: " + _dumps({"error": message}) + b"\n\n"


def restarted() -> bytes:
    """Sent first when power loss took events that the reader has seen: all of the segment comes anew."""
    data = {"type": "restart", "agent": "", "timestamp": None, "data": {"scope": "segment"}}
    return b"event: stream\ndata: " + _dumps(data) + b"\n\n"


@lru_cache(maxsize=4)
def _second(second: int) -> bytes:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


def time_of(milliseconds: int) -> bytes:
    """A time as this API writes it: ISO, UTC, with a `Z`."""
    second, rest = divmod(milliseconds, 1000)
    return b"%b.%03dZ" % (_second(second), rest)


def _heard(state: State, call: int, text: str) -> State:
    """The state after a piece of text."""
    if not _speaker(state, call).own:
        return state
    answer, written, mute = state.answers.get(call) or Text(), state.written, False
    if written and answer.echoed == answer.size and (author := _author(written, text)) is not None:
        words = written[author]
        whole = Text((None, _text(words.pieces)), words.size, words.echoed + len(text))
        answer, written, mute = answer.echo(text), {**written, author: whole}, True
    answers = {**state.answers, call: answer.add(text)}
    return State(state.attempt, state.speakers, answers, state.done, state.artifacts, None, written, mute)


def _author(written: dict[str, Text], text: str) -> str | None:
    """Whose words, as far as no answer has them, begin with this text."""
    for author, words in reversed(written.items()):
        if words.echoed < words.size and _text(words.pieces).startswith(text, words.echoed):
            return author
    return None


def _wrote(state: State, author: str, words: str) -> State:
    """The state after words that a graph has written. An answer may have them already."""
    for call, answer in reversed(state.answers.items()):
        ahead = answer.size - answer.echoed
        if len(words) <= ahead and _text(answer.pieces, ahead).startswith(words):
            return replace(state, answers={**state.answers, call: answer.echo(words)}, mute=True)
    answers = {call: answer._replace(echoed=answer.size) for call, answer in state.answers.items()}
    others = list(_without(state.written, author).items())[1 - _AUTHORS :]
    written = {**dict(others), author: state.written.get(author, Text()).add(words)}
    return replace(state, answers=answers, written=written, mute=False)


def _completed(state: State, call: int) -> State:
    done = *state.done[-1:], call
    growing = (other for other in state.answers if other not in (*state.done, call))
    return replace(state, answers={other: state.answers[other] for other in (*done, *growing)}, done=done)


def _without(texts: dict[Any, Text], key: Any) -> dict[Any, Text]:
    return {other: text for other, text in texts.items() if other != key}


def _added(pieces: Pieces | None, text: str) -> Pieces:
    while pieces is not None and len(pieces[1]) <= len(text):
        before, last = pieces
        pieces, text = before, last + text
    return pieces, text


def _speaker(state: State, call: int) -> Speaker:
    return state.speakers.get(call) or Speaker(_members("", None), own=False)


def _members(agent: str, parent: str | None) -> bytes:
    members = b'"agent":%b' % _dumps(agent)
    return members if parent is None else b'%b,"parent":%b' % (members, _dumps(parent))


def _chunk(state: State, envelope: Envelope, call: int, text: str, reasoning: bytes) -> bytes:
    members = (
        state.attempt + envelope.seq,
        _speaker(state, call).members,
        time_of(envelope.at),
        _dumps(text),
        reasoning,
    )
    return (
        b'id: %d\nevent: stream\ndata: {"type":"llm_chunk",%b,"timestamp":"%b",'
        b'"data":{"content":%b,"reasoning_content":%b}}\n\n' % members
    )


def _stream(kind: str, at: int, members: bytes, data: Mapping[str, Any]) -> bytes:
    return _streamed(kind, at, members, _dumps(data))


def _streamed(kind: str, at: int, members: bytes, data: bytes) -> bytes:
    parts = (kind.encode(), members, time_of(at), data)
    return b'event: stream\ndata: {"type":"%b",%b,"timestamp":"%b","data":%b}\n\n' % parts


def _frame(name: str, data: Mapping[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _dumps(data))


def _joined(number: int, frames: Sequence[bytes], seen: int) -> bytes:
    """The frames of one event with their ids."""
    last = len(frames)
    numbered = [
        b"id: %d\n%b" % (number, frame) if place == last else b"id: %d.%d\n%b" % (number, place, frame)
        for place, frame in enumerate(frames, 1)
    ]
    return b"".join(numbered[seen:])


def _written(event: ev.GraphWrote, at: int) -> dict[str, Any]:
    """What a graph writes in the form of these frames is sent as it is. Anything else is the data of one."""
    who = {"agent": event.author} | ({} if event.parent is None else {"parent": event.parent})
    frame = {"type": event.kind or "custom", **who, "timestamp": time_of(at).decode()}
    if event.kind and "data" in event.value:
        return {**frame, **event.value, **who}
    return {**frame, "data": event.value}


def _permissions(at: int, items: Sequence[Interrupt]) -> list[bytes]:
    return [
        _stream("permission_required", at, _members(item.agent, item.parent), {"routing": _request(item)})
        for item in items
        if isinstance(item, Approval)
    ]


def _ending(state: State) -> bytes:
    """The last frame of a segment that asks nothing."""
    match state.outcome:
        case ev.Failed(message=message, code=code, error_id=error_id, retryable=retryable):
            data = {"error": f"{message} ({error_id})" if error_id else message}
            return _frame("error", {**data, "code": code, "retryable": retryable})
        case ev.Stopped(reason="timeout"):
            return _frame("error", {"error": _EXPIRED, "code": "expired", "retryable": False})
        case ev.Stopped(reason=reason):
            return _frame("complete", {**_complete(state, False), "cancelled": True, "reason": reason})
        case ev.Finished() | ev.Interrupted() | None:
            return _frame("complete", _complete(state, True))
        case unreachable:
            assert_never(unreachable)


def _complete(state: State, success: bool) -> dict[str, Any]:
    answer = [Text(), *(state.answers or state.written).values()][-1]
    data = {
        "success": success,
        "interrupted": False,
        "response": _text(answer.pieces)[:LONGEST_RESPONSE],
        "artifacts_updated": list(state.artifacts),
    }
    return data | {"response_cut": True} if answer.size > LONGEST_RESPONSE else data


def _text(pieces: Pieces | None, last: int | None = None) -> str:
    """The text of these pieces, or the `last` characters of it."""
    found, size = list[str](), 0
    while pieces is not None and (last is None or size < last):
        pieces, text = pieces
        found.append(text)
        size += len(text)
    whole = "".join(reversed(found))
    return whole if last is None else whole[max(size - last, 0) :]


def _request(item: Interrupt) -> dict[str, Any]:
    """One question: of a tool call its name and arguments, of a form its questions or fields."""
    request: dict[str, Any] = {
        "interrupt_id": item.id,
        "type": _KINDS.get(item.kind, item.kind),
        "agent": item.agent,
        "parent": item.parent,
        "call_id": item.tool_call_id,
        "tool_name": None,
        "params": {},
        "label": item.label,
        "description": item.description,
        "expires_at": None if item.expires_at is None else time_of(item.expires_at).decode(),
        "decisions": list(item.decisions),
    }
    return request | _own(item)


def _own(item: Interrupt) -> dict[str, Any]:
    match item:
        case Approval(name=name, args=args, unknown=unknown):
            return {"tool_name": name, "params": args, "unknown": unknown}
        case Questions(name=name, args=args, questions=questions):
            listed = [interrupts.question_dict(question) for question in questions]
            return {"tool_name": name, "params": args, "questions": listed}
        case Confirmation(reason=reason, fields=fields):
            return {"reason": reason, "fields": [interrupts.field_dict(form_field) for form_field in fields]}
        case GraphRequest(value=value):
            return {"value": value}
        case unreachable:
            assert_never(unreachable)


def _dumps(value: Any) -> bytes:
    return json_data.line(json_data.dumps(value))
