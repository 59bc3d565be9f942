"""The questions of an operator's own graph: what a person is shown, and the value with which the graph goes
on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, assert_never

from langgraph.types import Interrupt as GraphInterrupt

from caesura.agents.aside import LARGE
from caesura.agents.tools import ask_user, execute, files
from caesura.agents.tools.tool import Description, describe_any
from caesura.core import described, ids, json_data
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Confirmation, Decision, GraphRequest, Interrupt, Question
from caesura.core.interrupts import Questions as Form
from caesura.core.language import Language
from caesura.core.permits import Permit
from caesura.engine import interrupts, texts
from caesura.engine.graphs import asking, reviews
from caesura.engine.graphs.call_ids import CallIds
from caesura.engine.graphs.reviews import Review
from caesura.engine.run import Run, Scope
from caesura.store import grants

P = ParamSpec("P")
T = TypeVar("T")


class Questions:
    """What a graph asks, and what was answered in this turn. A tool that the person always allows is approved
    without asking."""

    def __init__(self, scope: Scope, call_ids: CallIds) -> None:
        self._scope, self._run, self._call_ids = scope, scope.run, call_ids
        asked = self._run.interrupts
        self._answered = {item.graph_id: item for item in asked if item.answer is not None}
        #: What the graph was resumed with in this segment. If it asks the same again, so do we.
        self._resumed: set[str] = set()

    async def asked(self, items: Iterable[GraphInterrupt]) -> dict[str, Interrupt]:
        """What a person must still decide about these, by the id under which the graph expects the answer."""
        asked: dict[str, Interrupt] = {}
        calls, taken = _open_calls(self._scope), set[str | None]()
        for item in items:
            found = reviews.of(item)
            if not found:
                asked[item.id] = await self._request(item.value)
            given = {} if item.id in self._resumed else await self._given(found)
            interrupts.check_count(self._run, len(asked) + len(found.keys() - given.keys()))
            for graph_id, review in found.items():
                named = review.tool_call_id
                call_id = (
                    self._call_ids.open(named, review.name, review.args, taken)
                    if named
                    else _matching(calls, review)
                )
                taken.add(call_id)
                if graph_id not in given:
                    asked[graph_id] = await self._approval(review, call_id)
        return asked

    async def resumed(self, items: Sequence[GraphInterrupt]) -> dict[str, Any]:
        """The values with which the graph goes on, for those of the items that are decided. The calls that
        are to be made begin."""
        resumed: dict[str, Any] = {}
        for item in items:
            found = reviews.of(item)
            given = await self._given(found)
            if found and len(given) == len(found):
                resumed[item.id] = reviews.decided(item, found, given)
                self._begin(given)
            elif (answer := await self._answer(item.id, item.value)) is not None:
                resumed[item.id] = _value(answer)
        self._resumed |= resumed.keys()
        return {item.id: asking.answered(item, resumed[item.id]) for item in items if item.id in resumed}

    async def _answer(self, graph_id: str, value: Any, name: str | None = None) -> Answer | None:
        """The answer to this question. An earlier one may have been asked at its place."""
        if (item := self._answered.get(graph_id)) is None or isinstance(item.interrupt, Confirmation):
            return None
        asked, shown = item.interrupt, await self._aside(value, json_data.clean, value)
        if isinstance(asked, GraphRequest):
            return item.answer if asked.value == shown else None
        same = asked.args == shown and asked.name == (name and json_data.text(name))
        return item.answer if same else None

    async def _given(self, found: Mapping[str, Review]) -> dict[str, Answer]:
        """The decisions about these reviews, as far as there are any."""
        given: dict[str, Answer] = {}
        for graph_id, review in found.items():
            if (answer := await self._answer(graph_id, review.args, review.name)) is not None:
                given[graph_id] = answer
            elif await self._is_granted(review):
                given[graph_id] = Answer("approve")
        return given

    async def _is_granted(self, review: Review) -> bool:
        permit = self._permit(review)
        unasked = permit in self._run.grants and "approve" in review.decisions
        if not unasked or review.questions:
            return False
        return await self._run.database.read(grants.stands, self._run.turn.num, permit)

    def _permit(self, review: Review) -> str:
        """What always allowing this tool permits, if it can be. A graph may tell its own agents apart."""
        if not ids.is_tool_name(review.name):
            return ""
        agent = self._scope.agent
        within = " ".join(["graph", str(agent.spec.graph), *review.agent[:100].split()])
        return json_data.text(str(Permit(agent.name, within, review.name)))

    def _begin(self, given: Mapping[str, Answer]) -> None:
        """An approval has stopped its call, so the log has to say that the call begins now."""
        run = self._run
        running, ended = run.transcript.running, _ended(run)
        for stored in run.interrupts:
            asked, answer = stored.interrupt, given.get(stored.graph_id)
            if (
                not isinstance(asked, Approval)
                or answer is None
                or answer.decision not in ("approve", "edit")
            ):
                continue
            if asked.tool_call_id and asked.tool_call_id not in running and asked.tool_call_id not in ended:
                args = asked.args if answer.args is None else answer.args
                agent, parent = self._scope.agent.name, self._scope.parent
                run.say(ev.ToolStarted(asked.tool_call_id, asked.name, args, agent, parent))

    async def _request(self, value: Any) -> GraphRequest | Form:
        run = self._run
        shown = await self._aside(value, json_data.clean, value)
        if questions := ask_user.asked(shown):
            return self._form(questions, shown)
        label, description = await self._aside(value, texts.graph_question, shown, run.language)
        return GraphRequest(
            ids.interrupt(),
            value=shown,
            label=label,
            description=description,
            agent=self._scope.agent.name,
            parent=self._scope.parent,
        )

    def _form(self, questions: tuple[Question, ...], args: dict[str, Any], name: str | None = None) -> Form:
        label, description, _ = ask_user.describe({"questions": [*questions]}, self._run.language)
        return Form(
            ids.interrupt(),
            name=name,
            args=args,
            questions=questions,
            label=label,
            description=description,
            agent=self._scope.agent.name,
            parent=self._scope.parent,
        )

    async def _approval(self, review: Review, call_id: str | None) -> Approval | Form:
        run = self._run
        if questions := review.questions:
            args = await self._aside(review.args, json_data.clean, review.args)
            allowed: tuple[Decision, ...] = ("answers", "reject")
            decisions = allowed if "reject" in review.decisions else allowed[:1]
            form = self._form(questions, args, review.name)
            return replace(form, tool_call_id=call_id, decisions=decisions)
        label, description, note = await self._aside(review.args, _described, review, run)
        return Approval(
            ids.interrupt(),
            tool_call_id=call_id,
            name=json_data.text(review.name[:128]),
            note=note,
            args=await self._aside(review.args, json_data.clean, review.args),
            label=label,
            description=description,
            agent=json_data.text(review.agent[:100] if self._scope.parent is None else "")
            or self._scope.agent.name,
            parent=self._scope.parent,
            decisions=review.decisions,
            args_schema=review.args_schema,
            permit=self._permit(review),
        )

    async def _aside(self, value: Any, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do this work elsewhere if the value is large."""
        if len(json_data.dumps(value)) > LARGE:
            return await self._run.aside.run(work, *args, **kwargs)
        return work(*args, **kwargs)


def _described(review: Review, run: Run) -> Description:
    """The operator's words, if there are any, and then exactly what would be done."""
    label, exact, _ = _as_ours(review.name, json_data.clean(review.args), run.language)
    note = described.words(review.description, run.language, described.NOTE)
    return Description(label, f"{note} — {exact}" if note else exact, note)


def _as_ours(name: str, args: Mapping[str, Any], language: Language) -> Description:
    """In the words of our own tool of this name. If there are other arguments than it has, all are shown."""
    exact = describe_any(name)(args, language)
    main = {"execute": "command", "write_file": "path" if "path" in args else "file_path"}.get(name, "")
    if not isinstance(value := args.get(main), str):
        return exact
    if name == "execute":
        ours, known = execute.describe(args, language), {main}
    else:
        ours, known = files.describe_write({**args, "path": value}, language), {main, "content"}
    return ours if args.keys() <= known else exact._replace(label=ours.label)


def _open_calls(scope: Scope) -> dict[str, list[dict[str, Any]]]:
    """The tool calls of the graph's last message that has some, without those that have ended: by the name of
    the tool, the first one last."""
    ended, found = _ended(scope.run), defaultdict(list)
    for message in reversed(scope.run.transcript.finished):
        if message.tool_calls and message.parent == scope.parent:
            for call in reversed(message.tool_calls):
                if call["id"] not in ended:
                    found[call["name"]].append(call)
            break
    return found


def _ended(run: Run) -> set[str | None]:
    return {message.tool_call_id for message in run.transcript.finished if message.role == "tool"}


def _matching(calls: Mapping[str, list[dict[str, Any]]], review: Review) -> str | None:
    """The id of the call that is reviewed. A call is taken once. Calls are reviewed in their order, so the
    next one of the tool fits at once."""
    args, left = json_data.clean(review.args), calls.get(review.name, [])
    for place in reversed(range(len(left))):
        if left[place]["args"] == args:
            found: str = left.pop(place)["id"]
            return found
    return None


def _value(answer: Answer) -> Any:
    """The value that `interrupt(…)` returns in the graph. It is `False` for a refusal, so that `if
    interrupt(…)` treats it as one."""
    match answer.decision:
        case "value":
            return answer.value
        case "answers":
            return list(answer.answers)
        case "reject":
            return False
        case "approve" | "edit" | "respond" | "fields":
            raise ValueError(f"{answer.decision} is no decision about the request of a graph")
        case unreachable:
            assert_never(unreachable)


def waiting(tasks: Sequence[Any]) -> list[GraphInterrupt]:
    """What the tasks of a graph's state wait for."""
    return list({item.id: item for task in tasks for item in task.interrupts}.values())
