"""LangChain's `HumanInTheLoopMiddleware` in an operator's own graph: the tool calls that it wants reviewed,
and the decisions in the form in which it expects them. A graph may also ask for the permission of a tool by
itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from caesura.agents.tools import ask_user
from caesura.core import ids, json_data
from caesura.core.answers import Answer
from caesura.core.interrupts import Decision, Question

if TYPE_CHECKING:
    from langgraph.types import Interrupt as GraphInterrupt

#: The member of a question's schema that we add: it has the code that asks.
CODE = "caesura_code"
_ALL: tuple[Decision, ...] = ("approve", "edit", "reject", "respond")


@dataclass(frozen=True, slots=True)
class Review:
    """One tool call that a person must review. `description` is the middleware's own text. `tool_call_id` is
    None if the middleware does not tell it."""

    name: str
    args: dict[str, Any]
    description: str
    decisions: tuple[Decision, ...]
    tool_call_id: str | None = None
    args_schema: dict[str, Any] | None = None
    #: Who wants to make the call, if the graph says so.
    agent: str = ""

    @property
    def questions(self) -> tuple[Question, ...]:
        """What a call of `ask_user` asks, if the middleware takes the answers."""
        takes = self.name == "ask_user" and {"edit", "respond"} & {*self.decisions}
        return ask_user.asked(json_data.clean(self.args)) if takes else ()


def single_tools(graph: Any) -> dict[str, frozenset[str]]:
    """The tools whose calls the middleware reviews one by one, by the name of the middleware's node: in the
    graph and in its subgraphs."""
    found: dict[str, frozenset[str]] = {}
    for _, part in (("", graph), *graph.get_subgraphs(recurse=True)):
        for name, node in part.nodes.items():
            mode, tools = _configured(node)
            if mode == "per_call":
                found[name] = found.get(name, frozenset()) | tools.keys()
    return found


def _configured(node: Any) -> tuple[str | None, Mapping[str, Any]]:
    """The mode of the middleware whose node this is, and the tools that it reviews."""
    middleware = getattr(getattr(node.bound, "afunc", None), "__self__", None)
    tools = getattr(middleware, "interrupt_on", None)
    return (getattr(middleware, "interrupt_mode", None), tools) if isinstance(tools, Mapping) else (None, {})


def hold(asked: Iterable[GraphInterrupt], node: Any, singly: Collection[str], messages: Any) -> bool:
    """Whether the middleware asks the same again: otherwise it makes no use of the decisions, not even of a
    refusal. `node` has asked, `singly` are the tools that are reviewed one by one, and `messages` are those
    that it has seen."""
    mode, tools = _configured(node) if node is not None else (None, {})
    said = next((item for item in reversed(messages or ()) if getattr(item, "type", "") == "ai"), None)
    called = [call["name"] for call in getattr(said, "tool_calls", ())]
    for item in asked:
        names = [review.name for review in of(item).values()]
        if isinstance(item.value, Mapping) and _is_single(item.value):
            if not {*names} <= {*singly}:
                return False
        elif mode is not None:
            always = [name for name in called if name in tools and tools[name].get("when") is None]
            if not {*names} <= tools.keys() or Counter(always) - Counter(names):
                return False
    return True


def of(item: GraphInterrupt) -> dict[str, Review]:
    """The reviews that an interrupt asks for, by the graph ids of their approvals. Empty for an interrupt
    that is neither the middleware's nor about a permission."""
    value = item.value
    if not isinstance(value, Mapping):
        return {}
    if _is_permission(value) or _is_single(value):
        schema = getattr(item, "response_schema", None)
        found = _permission(value) if _is_permission(value) else _single(value, schema)
        return {item.id: found} if found is not None else {}
    return {f"{item.id}:{place}": review for place, review in enumerate(_batch(value))}


def decided(item: GraphInterrupt, reviews: Mapping[str, Review], given: Mapping[str, Answer]) -> Any:
    """The value with which the graph goes on. `given` has an answer for each review."""
    if _is_permission(item.value):
        return given[item.id].decision == "approve"
    made = [_decision(review, given[graph_id]) for graph_id, review in reviews.items()]
    return made[0] if _is_single(item.value) else {"decisions": made}


def _is_single(value: Mapping[str, Any]) -> bool:
    """Whether the middleware asks for each call apart (`interrupt_mode="per_call"`)."""
    return value.get("type") == "tool_approval"


def _is_permission(value: Mapping[str, Any]) -> bool:
    """Whether a graph asks whether it may call a tool, and goes on with `True` or `False`."""
    return value.get("type") == "tool_permission"


def _permission(value: Mapping[str, Any]) -> Review | None:
    asks = {**value, "name": value.get("tool_name", value.get("tool")), "args": value.get("params") or {}}
    review = _review({**asks, "description": value.get("message")}, ("approve", "reject"))
    if review is None or not ids.is_tool_name(review.name):
        return None
    agent = value.get("agent")
    return replace(review, agent=agent) if isinstance(agent, str) else review


def _single(value: Mapping[str, Any], schema: Any) -> Review | None:
    """The middleware always says which answers it takes. Without that, somebody else asks."""
    if not isinstance(schema, Mapping) or schema.keys() <= {CODE}:
        return None
    call_id, decisions = value.get("tool_call_id"), _known(_types(schema)) or _ALL
    review = _review(value, decisions)
    if review is None or not isinstance(call_id, str):
        return None
    return Review(review.name, review.args, review.description, decisions, call_id, _args_schema(schema))


def _batch(value: Mapping[str, Any]) -> list[Review]:
    """All or none: a value that has only some members of the form is somebody else's."""
    requests, configs = value.get("action_requests"), value.get("review_configs")
    if not (isinstance(requests, list | tuple) and isinstance(configs, list | tuple)):
        return []
    found = []
    for place, request in enumerate(requests):
        config = _config(request, configs, place)
        decisions = _known(config.get("allowed_decisions"))
        review = _review(request, decisions)
        if review is None or not decisions:
            return []
        found.append(review)
    return found


def _review(request: Any, decisions: tuple[Decision, ...]) -> Review | None:
    if not isinstance(request, Mapping):
        return None
    name, args, told = request.get("name"), request.get("args"), request.get("description")
    if not isinstance(name, str) or not isinstance(args, dict):
        return None
    return Review(name, args, _own_words(name, args, told), decisions)


def _own_words(name: str, args: dict[str, Any], told: Any) -> str:
    """What the operator says about the call. What the middleware writes by itself is the name and the
    arguments, which are shown anyway."""
    if not isinstance(told, str) or told.endswith(f"\n\nTool: {name}\nArgs: {args}"):
        return ""
    return " ".join(told.split())


def _config(request: Any, configs: Any, place: int) -> Mapping[str, Any]:
    """What may be decided about a request: the configuration at its place or, if that is another tool's, the
    one of its tool."""
    name = request.get("name") if isinstance(request, Mapping) else None
    here = configs[place : place + 1]
    for config in (*here, *configs):
        if isinstance(config, Mapping) and config.get("action_name") == name:
            return config
    return {}


def _known(names: Any) -> tuple[Decision, ...]:
    given = names if isinstance(names, list | tuple | set) else ()
    return tuple(name for name in _ALL if name in given)


def _types(schema: Mapping[str, Any]) -> list[str]:
    """The decisions that the schema of an answer allows: the alternatives of a union, or the only one."""
    discriminator = schema.get("discriminator")
    mapping = discriminator.get("mapping") if isinstance(discriminator, Mapping) else None
    if isinstance(mapping, Mapping):
        return list(mapping)
    only = _member(schema, "type").get("const")
    return [only] if isinstance(only, str) else []


def _args_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema of edited arguments, from the schema of an answer."""
    known = schema.get("$defs")
    named = known if isinstance(known, Mapping) else {}
    for branch in (schema, *named.values()):
        action = _resolved(_member(branch, "edited_action"), named)
        if args := _resolved(_member(action, "args"), named):
            return dict(args)
    return None


def _resolved(schema: Mapping[str, Any], named: Mapping[str, Any]) -> Mapping[str, Any]:
    found = named.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), schema)
    return found if isinstance(found, Mapping) else {}


def _member(schema: Any, name: str) -> Mapping[str, Any]:
    found = _members(schema).get(name)
    return found if isinstance(found, Mapping) else {}


def _members(schema: Any) -> Mapping[str, Any]:
    members = schema.get("properties") if isinstance(schema, Mapping) else None
    return members if isinstance(members, Mapping) else {}


def _decision(review: Review, answer: Answer) -> dict[str, Any]:
    match answer.decision:
        case "approve":
            return {"type": "approve"}
        case "edit":
            return {"type": "edit", "edited_action": {"name": review.name, "args": answer.args or {}}}
        case "reject":
            return {"type": "reject", "message": answer.message} if answer.message else {"type": "reject"}
        case "respond":
            return {"type": "respond", "message": answer.message}
        case "answers" if _takes_answers(review):
            args = answered(review.args, answer)
            return {"type": "edit", "edited_action": {"name": review.name, "args": args}}
        case "answers":
            return {"type": "respond", "message": ask_user.result(review.questions, answer)}
        case "fields" | "value":
            raise ValueError(f"{answer.decision} is no decision about a tool call")
        case unreachable:
            assert_never(unreachable)


def answered(args: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """The arguments of a call of `ask_user` with the answers."""
    return {**args, "answers": list(answer.answers)}


def _takes_answers(review: Review) -> bool:
    """Whether the tool gets the answers as an argument. If it is known to have no such argument, they are its
    result."""
    schema = review.args_schema
    known = schema is None or "respond" not in review.decisions or "answers" in _members(schema)
    return "edit" in review.decisions and known
