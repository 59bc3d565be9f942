"""What an operator's own graph is told about its run: for whom, where and under which thread it works."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from caesura.engine.graphs.saver import Place
from caesura.engine.graphs.seen import Seen
from caesura.engine.run import Scope


def thread_id(scope: Scope) -> str:
    """The id of the turn's branch. The first turn that follows another one continues its branch, and every
    other one begins a branch of its own. Each call of a sub-agent is a thread of its own."""
    turn = scope.run.turn
    branch = f"{turn.conversation_id}:{turn.branch or turn.id}"
    return branch if scope.parent is None else f"{branch}:{turn.id}:{scope.parent}"


def place(scope: Scope) -> Place:
    turn, control = scope.run.turn, scope.run.control
    seen = Seen(lambda: control.stop is not None)
    return Place(turn.num, turn.epoch, thread_id(scope), scope.parent, seen)


def known(scope: Scope) -> dict[str, str]:
    """The members of the config that tell it."""
    return {"thread_id": thread_id(scope), **_told(scope)}


def context(schema: Any, scope: Scope) -> Any:
    """The same for LangGraph's runtime: the members that the graph's schema of it has, or all if it has no
    schema. None if the schema needs others too."""
    told = _told(scope)
    if schema is None:
        return told
    names, required = _members(schema)
    return {name: told[name] for name in names if name in told} if required <= told.keys() else None


def _told(scope: Scope) -> dict[str, str]:
    turn = scope.run.turn
    return {
        "user_id": turn.user_id,
        "conversation_id": turn.conversation_id,
        "turn_id": turn.id,
        "agent": scope.agent.name,
    }


def _members(schema: Any) -> tuple[set[str], set[str]]:
    """The names of the schema's members, and of those that it requires."""
    if inspect.isclass(schema) and issubclass(schema, BaseModel):
        infos = schema.model_fields.items()
        return {info.alias or name for name, info in infos}, {
            info.alias or name for name, info in infos if info.is_required()
        }
    if is_dataclass(schema):
        made = [item for item in fields(schema) if item.init]
        needed = {i.name for i in made if i.default is MISSING and i.default_factory is MISSING}
        return {item.name for item in made}, needed
    return set(inspect.get_annotations(schema)), set(getattr(schema, "__required_keys__", ()))
