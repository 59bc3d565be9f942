"""Happenings: the events of a turn, for people and for programs."""

from __future__ import annotations

from contextlib import aclosing
from datetime import datetime

from caesura.cli.screen import clean
from caesura.cli.session import Session, opened
from caesura.client.events import KINDS
from caesura.core import cursors, interrupts, json_data, shown
from caesura.core.events import (
    HIDDEN,
    CallDelta,
    Envelope,
    Interrupted,
    ModelStarted,
    ReasoningDelta,
    TextDelta,
)

_NAMES = {kind: name for name, kind in KINDS.items()}


def show(url: str, user: str | None, turn_id: str, after: int, follow: bool, as_json: bool) -> None:
    with opened(url, user) as session:
        session.run(_show(session, turn_id, after, follow, as_json))


async def _show(session: Session, turn_id: str, after: int, follow: bool, as_json: bool) -> None:
    last = None if follow else cursors.seq((await session.client.seen(turn_id)).cursor)
    if last is not None and last <= cursors.seq(after):
        return
    agents: dict[int, str] = {}
    async with aclosing(session.client.events(turn_id, after)) as found:
        async for envelope in found:
            print(_json(envelope) if as_json else _line(envelope, agents), flush=True)
            if envelope.seq == last:
                return


def _json(envelope: Envelope) -> str:
    event = {"seq": envelope.seq, "at": envelope.at, "event": _NAMES[type(envelope.event)]}
    return shown.json(json_data.dumps(event | _fields(envelope)).decode())


def _line(envelope: Envelope, agents: dict[int, str]) -> str:
    """`agents` has the name of the sub-agent that speaks in a model call, which is added to its words."""
    event = envelope.event
    if isinstance(event, ModelStarted) and event.parent is not None:
        agents[event.call] = event.agent
    at = datetime.fromtimestamp(envelope.at / 1000).astimezone().strftime("%H:%M:%S.%f")[:-3]
    fields = " ".join(f"{name}={_short(value)}" for name, value in _fields(envelope).items())
    if isinstance(event, TextDelta | ReasoningDelta | CallDelta) and event.call in agents:
        fields += f" agent={_short(agents[event.call])}"
    return f"{envelope.seq:>6}  {at}  {_NAMES[type(event)]:<16}  {fields}".rstrip()


def _fields(envelope: Envelope) -> dict[str, object]:
    event = envelope.event
    if isinstance(event, Interrupted):
        return {"interrupts": [interrupts.to_dict(item) for item in event.interrupts]}
    return {name: getattr(event, name) for name in event.__slots__ if name not in HIDDEN}


def _short(value: object) -> str:
    text = clean(shown.data(value))
    return text if len(text) <= 200 else f"{text[:200]}…"
