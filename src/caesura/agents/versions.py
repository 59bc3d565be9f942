"""A version of an agent as data, so that a turn can go on with it after the file has changed.

The data holds what the files say, of the agent and of its sub-agents. The code that they name is not part of
it: a turn goes on with the code that this process has loaded.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from caesura.agents.loader import Agent, Link
from caesura.agents.spec import Metadata, Permission, Spec
from caesura.core import json_data

_STRICTNESS: tuple[Permission, ...] = ("auto", "confirm", "deny")


def dump(agent: Agent) -> bytes:
    return zlib.compress(json_data.dumps(_to_dict(agent)))


def load(data: bytes, tools: Collection[str], now: Agent) -> Agent:
    """The version that `dump` was given, without what `now` does not have: the same agent as it is now. It is
    `now` itself if its graph or the class of its model has been replaced. Raises `ValueError` if this program
    does not understand the data."""
    try:
        return _from_dict(json_data.loads(zlib.decompress(data)), tools, now)
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError("this version of the agent cannot be read") from error


def stricter(one: Permission, other: Permission) -> Permission:
    return max(one, other, key=_STRICTNESS.index)


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


def _from_dict(data: dict[str, Any], tools: Collection[str], now: Agent) -> Agent:
    metadata, spec = Metadata.model_validate(data["metadata"]), Spec.model_validate(data["spec"])
    if (spec.graph, spec.model.class_) != (now.spec.graph, now.spec.model.class_):
        return now
    if spec.tools is not None:
        known = {*tools, *now.own}
        spec = spec.model_copy(update={"tools": [name for name in spec.tools if name in known]})
    newer = {link.agent.name: link.agent for link in now.sub_agents}
    links = [
        Link(_from_dict(item["agent"], tools, newer[name]), item["description"])
        for item in data["sub_agents"]
        if (name := item["agent"]["metadata"]["name"]) in newer
    ]
    return replace(now, version=data["version"], metadata=metadata, spec=spec, sub_agents=tuple(links))
