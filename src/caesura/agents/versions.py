"""A version of an agent as data, so that a turn can go on with it after the file has changed.

The data holds what the files say, of the agent and of its sub-agents. It cannot hold code: an agent with a
graph, a model class or tools of the operator has no such form.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from caesura.agents.loader import Agent, Link
from caesura.agents.spec import Metadata, Permission, Spec
from caesura.core import json_data

_STRICTNESS: tuple[Permission, ...] = ("auto", "confirm", "deny")


def dump(agent: Agent) -> bytes | None:
    """The data of a version; None if it cannot do without code."""
    if any(_has_code(item) for item in _all(agent)):
        return None
    return zlib.compress(json_data.dumps(_to_dict(agent)))


def load(data: bytes, tools: Collection[str]) -> Agent:
    """The version that `dump` was given, without tools that no longer exist. Raises `ValueError` if this
    program does not understand it."""
    try:
        return _from_dict(json_data.loads(zlib.decompress(data)), tools)
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError("this version of the agent cannot be read") from error


def stricter(one: Permission, other: Permission) -> Permission:
    return max(one, other, key=_STRICTNESS.index)


def _all(agent: Agent) -> Iterator[Agent]:
    yield agent
    for link in agent.sub_agents:
        yield from _all(link.agent)


def _has_code(agent: Agent) -> bool:
    return agent.graph is not None or agent.spec.model.class_ is not None or bool(agent.own)


def _to_dict(agent: Agent) -> dict[str, Any]:
    said: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_unset": True}
    return {
        "version": agent.version,
        "metadata": agent.metadata.model_dump(**said),
        "spec": agent.spec.model_dump(**said),
        "sub_agents": [
            {"agent": _to_dict(link.agent), "description": link.description} for link in agent.sub_agents
        ],
    }


def _from_dict(data: dict[str, Any], tools: Collection[str]) -> Agent:
    metadata, spec = Metadata.model_validate(data["metadata"]), Spec.model_validate(data["spec"])
    if spec.tools is not None:
        spec = spec.model_copy(update={"tools": [name for name in spec.tools if name in tools]})
    links = [Link(_from_dict(item["agent"], tools), item["description"]) for item in data["sub_agents"]]
    return Agent(metadata.name, data["version"], metadata, spec, Path(), sub_agents=tuple(links))
