"""Models asked for a word: those of one agent, or of every agent, each model once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from caesura.agents.loader import Agent
from caesura.agents.model_names import default_model
from caesura.agents.models import ModelUnavailable, Tried, tried
from caesura.cli.remedies import remedy
from caesura.core.messages import Message
from caesura.models import refusals
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.model import Model, Reasoning, Text, Usage
from caesura.settings import Settings

#: The seconds that a reply may take, how many of its characters are told, and how many models are asked at
#: once.
_SECONDS, _TOLD, _AT_ONCE = 120.0, 60, 8
_QUESTION = "Reply with one word: ready"


class Outcome(NamedTuple):
    """What came of a call. `agents` use this model. `vital` is whether one of them has no model that
    works."""

    works: bool
    text: str
    agents: tuple[str, ...]
    vital: bool


class _Heard(NamedTuple):
    works: bool
    text: str


async def ask(settings: Settings, agents: Sequence[Agent]) -> list[Outcome]:
    """Ask each model of these agents for a word."""
    default = default_model(os.environ, settings.model)
    async with Connections(os.environ) as connections:
        models = {
            agent.name: tried(
                agent.spec.model, default, os.environ, connections, agent.model_class, settings.model_map
            )
            for agent in agents
            if is_called(agent)
        }
        distinct = {item.identity: item for items in models.values() for item in items}
        alone = {items[0].identity for items in models.values() if len(items) == 1}
        limit = asyncio.Semaphore(_AT_ONCE)
        heard = await asyncio.gather(
            *(_heard(item, item.identity in alone, limit) for item in distinct.values())
        )
    found = dict(zip(distinct, heard, strict=True))
    without = {
        agent.name
        for agent in agents
        if agent.graph is None and not any(found[item.identity].works for item in models[agent.name])
    }
    users = {
        identity: tuple(name for name, items in models.items() if identity in {one.identity for one in items})
        for identity in distinct
    }
    return [
        Outcome(works, text, users[identity], not without.isdisjoint(users[identity]))
        for identity, (works, text) in found.items()
    ]


def is_called(agent: Agent) -> bool:
    """Whether the server calls a model for this agent. A graph makes its own; the model that its file names
    is for titles."""
    return agent.graph is None or "model" in agent.spec.model_fields_set


async def _heard(item: Tried, alone: bool, limit: asyncio.Semaphore) -> _Heard:
    """`alone`: an agent has no other model."""
    if isinstance(item.made, ModelUnavailable):
        return _Heard(False, item.made.message)
    try:
        async with limit, asyncio.timeout(_SECONDS):
            return _Heard(True, await _word_of(item.made))
    except ModelError as error:
        return _Heard(False, f"{item.name}: {error}: {remedy(error, alone)}")
    except TimeoutError:
        return _Heard(False, f"{item.name} did not come to an end in {_SECONDS:g} s: try again")
    except Exception as error:  # noqa: BLE001 - a model of a library or of an operator fails in its own ways
        told = f"{type(error).__name__}: {refusals.scrubbed(str(error), ())}"
        return _Heard(False, f"{item.name} failed with {told}: look at its code or its documentation")


async def _word_of(model: Model) -> str:
    began, first = time.monotonic(), 0.0
    said, counts = "", dict[str, int]()
    async with aclosing(model.stream([Message("user", _QUESTION)])) as pieces:
        async for piece in pieces:
            first = first or time.monotonic() - began
            if isinstance(piece, Text):
                said += piece.text
            elif isinstance(piece, Usage):
                counts = piece.counts
            elif isinstance(piece, Reasoning):
                continue
            if len(said) > _TOLD:
                break
    if not said.strip():
        raise ModelError("broken", f"{model.label} answered without a word")
    told = said.strip() if len(said.strip()) <= _TOLD else f"{said.strip()[:_TOLD]}…"
    tokens = f", {counts['input_tokens']} tokens in, {counts.get('output_tokens', 0)} out" if counts else ""
    return f'{model.label} answered "{told}" after {first:.2f} s{tokens}'
