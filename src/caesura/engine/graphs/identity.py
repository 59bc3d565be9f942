"""What an operator's own graph is told about its run: for whom, where and under which thread it works."""

from __future__ import annotations

from typing import Any

from caesura.agents.graphs import context_members
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
    names, required = context_members(schema)
    return {name: told[name] for name in names if name in told} if required <= told.keys() else None


def _told(scope: Scope) -> dict[str, str]:
    turn = scope.run.turn
    return {
        "user_id": turn.user_id,
        "conversation_id": turn.conversation_id,
        "turn_id": turn.id,
        "agent": scope.agent.name,
    }
