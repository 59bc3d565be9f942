"""An operator's own Python functions as tools: what they get, what they return, how they ask and fail."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from textwrap import dedent
from typing import Any

import pytest

from caesura.core import events as ev
from caesura.core import json_data
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import Approval, Questions, question_dict
from tests.engine.crash import lose
from tests.engine.world import NO, YES, Said, World

ORDERS = '''
    import asyncio, enum, threading, time
    from dataclasses import dataclass
    from pathlib import Path
    from typing import Annotated, Literal, Optional

    import caesura
    from pydantic import BaseModel, field_validator

    FOLDER = Path(__file__).parent.parent


    def left(text):
        with (FOLDER / "trace.txt").open("a") as file:
            file.write(text + "\\n")


    class Size(enum.Enum):
        SMALL = "small"
        LARGE = "large"


    class Item(BaseModel):
        name: str
        count: int = 1


    @dataclass
    class Place:
        street: str
        number: int


    @caesura.tool(permission="auto")
    async def find_order(order: Annotated[str, "Its number"], ctx: caesura.Context) -> dict:
        """Find an order."""
        return {
            "order": order, "user": ctx.user_id, "turn": ctx.turn_id, "agent": ctx.agent,
            "conversation": ctx.conversation_id, "language": ctx.language,
            "workspace": ctx.workspace.is_dir(), "key": ctx.idempotency_key,
        }


    @caesura.tool(permission="auto")
    def place(items: list[Item], size: Size, to: Place, how: Literal["air", "sea"] = "sea",
              note: Optional[str] = None) -> list:
        """Place an order."""
        assert threading.current_thread() is not threading.main_thread()
        return [items, size, to, how, note]


    def ship(order: str) -> None:
        """Ship it."""
        left(f"ship {order}")


    @caesura.tool(permission="auto")
    def refund(order: str, ctx: caesura.Context) -> str:
        """Refund it."""
        left(f"before {ctx.idempotency_key}")
        amount = ctx.ask("How much?")
        sure = ctx.ask("Sure?", [("Yes, do", "yes"), "no", {"label": "Later", "value": "later"}])
        left(f"refund {order} {amount} {sure}")
        return f"refunded {amount} {sure}"


    @caesura.tool(permission="auto")
    async def gift(to: str, ctx: caesura.Context) -> str:
        """Give."""
        try:
            what = await ctx.ask("What?", ["cup", "pen"], allow_custom=True)
        except Exception:
            left("caught")
            raise
        return f"{to} gets {what}"


    @caesura.tool(permission="auto")
    async def paint(ctx: caesura.Context) -> list:
        """Paint."""
        own = {"label": "Another", "value": "__custom__", "allow_custom": True}
        colour = {"question": "Which colour?", "options": [("Red", "red"), "blue", own]}
        return await ctx.ask([colour, {"question": "How?"}])


    @caesura.tool(permission="auto")
    def slow(ctx: caesura.Context) -> str:
        """Slow."""
        left(f"slow {ctx.idempotency_key}")
        ctx.progress("half\\nway")
        time.sleep(3 if ctx.workspace.joinpath("go").exists() else 600)
        return "slow"


    @caesura.tool(permission="auto", timeout=0.2)
    def tardy() -> str:
        """Tardy."""
        time.sleep(600)


    @caesura.tool(permission="auto")
    def broken(kind: str) -> object:
        """Broken."""
        if kind == "told":
            raise caesura.ToolError("there is no such order")
        if kind == "secret":
            raise RuntimeError("the password is hunter2")
        if kind == "exit":
            raise SystemExit(3)
        if kind == "stop":
            raise StopIteration
        if kind == "long":
            return "x" * 1_000_000
        if kind == "huge":
            return "é" * 3_000_000
        if kind == "huge error":
            raise caesura.ToolError("é" * 3_000_000)
        return {"none": None, "bytes": b"x", "object": [object()], "number": 1.5}[kind]


    @caesura.tool(permission="auto")
    def chatty(ctx: caesura.Context) -> str:
        """Chatty."""
        for number in range(20_000):
            ctx.progress(f"step {number} " + "x" * 10_000)
        return "done"


    @caesura.tool(permission="auto", repeatable=True)
    def again(ctx: caesura.Context) -> str:
        """Again."""
        left(f"again {ctx.idempotency_key}")
        time.sleep(0 if (FOLDER / "go").exists() else 600)
        return "again"


    class Odd(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def check(cls, number):
            if number == 1:
                raise RuntimeError("the password is hunter2")
            if number > 1:
                raise {2: SystemExit, 3: KeyboardInterrupt, 4: asyncio.CancelledError}[number]
            return number


    @caesura.tool(describe=lambda args: exit(3))
    def odd(value: Odd) -> str:
        """Odd."""
        return "odd"


    @caesura.tool(permission="auto")
    async def cancels() -> str:
        """Cancels."""
        asyncio.current_task().cancel()
        await asyncio.sleep(60)


    @caesura.tool(permission="auto")
    async def exits() -> str:
        """Exits."""
        await asyncio.sleep(0)
        raise SystemExit(3)


    @caesura.tool(describe="Repay {amount} for {order}")
    def repay(order: str, amount: int = 5) -> str:
        """Repay."""
        left(f"repay {order} {amount}")
        return "repaid"


    @caesura.tool(label="Send money", describe="Send {amount} to {to}")
    def send(to: str, amount: int) -> str:
        """Send."""
        left(f"send {to} {amount}")
        return "sent"
'''
#: What the tools do is the same on each backend; tests/conformance has the journal on both.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

_AUTO = [
    "find_order",
    "place",
    "refund",
    "gift",
    "paint",
    "slow",
    "tardy",
    "broken",
    "chatty",
    "again",
    "cancels",
    "exits",
]
NAMES = [*_AUTO, "ship", "send", "repay", "odd"]


def offer(world: World, *more: str) -> None:
    world.agents.joinpath("orders.py").write_text(dedent(ORDERS))
    tools = ", ".join([*(f"orders:{name}" for name in NAMES), "read_file"])
    lines = [f"tools: [{tools}]", "model: {primary: demo, options: {delay: 0, think: false}}", *more]
    world.agent("\n".join(lines))
    assert not world.catalog.faults


async def call(world: World, name: str, **args: Any) -> Said:
    return await world.say(f"call {name} {json.dumps(args)}")


async def result(world: World, name: str, **args: Any) -> tuple[str, str]:
    said = await call(world, name, **args)
    [(_, output, status)] = said.results()
    return output, status


async def until_traced(world: World, number: int = 1) -> None:
    """Wait until the tools have left so many traces."""
    async with asyncio.timeout(60):
        while len(world.traces()) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_function_gets_its_arguments_and_its_context(world: World) -> None:
    offer(world)
    said = await call(world, "find_order", order="A1")
    [(_, output, status)] = said.results()
    found = json.loads(output)
    assert status == "ok"
    assert found.pop("key")
    assert found == {
        "order": "A1",
        "user": "alice",
        "turn": said.turn.id,
        "agent": "tester",
        "conversation": world.conversation,
        "language": "en",
        "workspace": True,
    }


async def test_models_enums_dataclasses_and_defaults_are_built_for_the_function(world: World) -> None:
    offer(world)
    args = {"items": [{"name": "cup"}], "size": "large", "to": {"street": "High", "number": 1}}
    output, status = await result(world, "place", **args)
    assert status == "ok"
    assert json.loads(output) == [
        [{"name": "cup", "count": 1}],
        "large",
        {"street": "High", "number": 1},
        "sea",
        None,
    ]


async def test_wrong_arguments_are_told_to_the_model_and_nothing_runs(world: World) -> None:
    offer(world)
    output, status = await result(world, "place", items=[], size="huge", to={"street": "x"}, colour="red")
    assert status == "error"
    assert all(part in output for part in ("size", "to.number", "colour"))
    # A call that can only be refused is not put before a person either.
    output, status = await result(world, "ship", number=1)
    assert status == "error"
    assert world.traces() == []


async def test_a_function_without_the_decorator_needs_an_approval(world: World) -> None:
    offer(world)
    said = await call(world, "ship", order="A1")
    [asked] = said.waiting(Approval)
    assert (asked.name, asked.args) == ("ship", {"order": "A1"})
    assert world.traces() == []
    done = await world.resume(said, YES)
    assert done.results() == [("ship", "Done. The tool returned nothing.", "ok")]
    assert world.traces() == ["ship A1"]


async def test_the_file_of_the_agent_says_the_last_word_about_permissions(world: World) -> None:
    offer(world, "permissions: {ship: auto, 'orders:find_order': confirm, place: deny}")
    assert (await result(world, "ship", order="A1"))[1] == "ok"
    said = await call(world, "find_order", order="A1")
    assert said.waiting(Approval)
    await world.resume(said, NO)
    assert "There is no tool" in (await result(world, "place", items=[]))[0]


async def test_an_approval_is_described_as_the_operator_says(world: World) -> None:
    offer(world)
    said = await call(world, "send", to="bob\u202e", amount=5)
    [asked] = said.waiting(Approval)
    assert (asked.label, asked.description) == ("Send money", "Send 5 to bob\\u202e")
    assert asked.note == asked.description
    edit = {asked.id: Answer("edit", args={"to": "eve", "amount": "many"})}
    with pytest.raises(BadAnswer, match="amount"):
        await world.answer(said.turn, edit)
    await world.resume(said, Answer("edit", args={"to": "eve", "amount": 6}))
    assert world.traces() == ["send eve 6"]


async def test_who_approves_a_call_sees_the_defaults_and_they_are_used(world: World) -> None:
    offer(world)
    said = await call(world, "repay", order="A1")
    [asked] = said.waiting(Approval)
    assert asked.description == "Repay 5 for A1"
    assert asked.args == {"order": "A1", "amount": 5}
    done = await world.resume(said, YES)
    [started] = [event for event in done.events if isinstance(event, ev.ToolStarted)]
    assert started.args == asked.args, "the call is made with what was shown"
    assert world.traces() == ["repay A1 5"]


async def test_questions_are_answered_in_order_and_the_function_runs_from_its_top(world: World) -> None:
    offer(world)
    said = await call(world, "refund", order="A1")
    [asked] = said.waiting(Questions)
    assert asked.questions[0].question == "How much?"
    said = await world.resume(said, Answer("answers", answers=("12",)))
    [asked] = said.waiting(Questions)
    assert [option.value for option in asked.questions[0].options] == ["yes", "no", "later"]
    done = await world.resume(said, Answer("answers", answers=("yes",)))
    assert done.results() == [("refund", "refunded 12 yes", "ok")]
    *before, last = world.traces()
    assert last == "refund A1 12 yes"
    assert len(before) == 3
    assert len(set(before)) == 1, "the key is the same in every run of the function"
    events = await world.events(said.turn)
    assert [type(event) for event in events].count(ev.ToolStarted) == 1
    await world.checked(said.turn)


async def test_a_question_can_be_awaited_and_no_except_clause_catches_it(world: World) -> None:
    offer(world)
    said = await call(world, "gift", to="bob")
    assert said.waiting(Questions)
    done = await world.resume(said, Answer("answers", answers=("a boat",)))
    assert done.results() == [("gift", "bob gets a boat", "ok")]
    assert world.traces() == []


async def test_several_questions_are_one_form_and_get_a_list_of_answers(world: World) -> None:
    offer(world)
    said = await call(world, "paint")
    [asked] = said.waiting(Questions)
    assert (asked.label, asked.description) == ("Questions", "The agent asks 2 questions")
    colour, how = (question_dict(question) for question in asked.questions)
    assert colour["options"] == [
        {"label": "Red", "value": "red"},
        {"label": "blue", "value": "blue"},
        {"label": "Another", "value": "__custom__", "allow_custom": True},
    ]
    assert how == {"question": "How?", "options": []}
    done = await world.resume(said, Answer("answers", answers=("mauve", "twice")))
    assert done.results() == [("paint", '["mauve","twice"]', "ok")]


async def test_a_person_may_decline_to_answer(world: World) -> None:
    offer(world)
    said = await call(world, "gift", to="bob")
    done = await world.resume(said, Answer("reject", message="not today"))
    assert done.results() == [("gift", "The person declined to answer: not today", "error")]
    assert world.traces() == ["caught"]


async def test_a_crash_while_a_question_waits_leaves_no_unknown_outcome(hasty: World) -> None:
    offer(hasty)
    said = await call(hasty, "refund", order="A1")
    await lose(hasty)
    said = await hasty.resume(said, Answer("answers", answers=("12",)))
    assert said.waiting(Questions)
    await lose(hasty)
    done = await hasty.resume(said, Answer("answers", answers=("no",)))
    assert done.results() == [("refund", "refunded 12 no", "ok")]


async def test_a_crash_in_the_middle_of_a_function_is_put_before_the_person_each_time(hasty: World) -> None:
    offer(hasty)
    await hasty.begin()
    turn = await hasty.send("call slow {}")
    for number in (1, 2):
        await until_traced(hasty, number)
        await lose(hasty)
        said = await hasty.segment(turn)
        [asked] = said.waiting(Approval)
        assert asked.unknown
        if number == 1:
            assert await hasty.answer(turn, {asked.id: YES})
    done = await hasty.resume(said, NO)
    assert [(name, status) for name, _, status in done.results()] == [("slow", "unknown")]
    assert len(set(hasty.traces())) == 1


async def test_a_repeatable_function_simply_runs_again_after_a_crash(hasty: World) -> None:
    offer(hasty)
    await hasty.begin()
    turn = await hasty.send("call again {}")
    await until_traced(hasty)
    hasty.folder.joinpath("go").touch()
    await lose(hasty)
    said = await hasty.segment(turn)
    assert said.results() == [("again", "again", "ok")]
    first, second = hasty.traces()
    assert first == second


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("told", "there is no such order"),
        ("secret", "The tool failed (err-"),
        ("exit", "The tool failed (err-"),
        ("stop", "The tool failed (err-"),
        ("bytes", "the tool returned bytes, which is neither a text nor JSON"),
        ("object", "the tool returned list, which cannot be written as JSON"),
    ],
)
async def test_a_failure_is_told_to_the_model_without_its_secrets(
    world: World, caplog: pytest.LogCaptureFixture, kind: str, told: str
) -> None:
    offer(world)
    with caplog.at_level(logging.WARNING):
        output, status = await result(world, "broken", kind=kind)
    assert status == "error"
    assert told in output
    assert "hunter2" not in output
    assert kind != "secret" or "hunter2" in caplog.text


async def test_what_a_function_returns_is_bounded(world: World) -> None:
    offer(world)
    assert await result(world, "broken", kind="number") == ("1.5", "ok")
    output, status = await result(world, "broken", kind="long")
    assert status == "ok"
    assert len(output) < 300_000
    assert "characters are left out here" in output


@pytest.mark.parametrize(("kind", "ends"), [("huge", "ok"), ("huge error", "error")])
async def test_a_huge_result_is_cut_before_anything_else_is_done_with_it(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: str, ends: str
) -> None:
    offer(world)
    clean, longest = json_data.text, 0

    def counted(text: str) -> str:
        nonlocal longest
        longest = max(longest, len(text))
        return clean(text)

    monkeypatch.setattr(json_data, "text", counted)
    output, status = await result(world, "broken", kind=kind)
    assert status == ends
    assert "characters are left out here" in output
    assert len(output) <= longest < 300_000


async def test_a_plain_function_is_left_alone_when_its_time_is_up(world: World) -> None:
    offer(world)
    output, status = await result(world, "tardy")
    assert status == "error"
    assert "did not end within 0.2 seconds" in output


async def test_a_stop_does_not_wait_for_a_thread(world: World) -> None:
    offer(world)
    await world.begin()
    turn = await world.send("call slow {}")
    await until_traced(world)
    assert await world.turns().stop(world.user, turn.id)
    said = await world.segment(turn)
    assert isinstance(said.outcome, ev.Stopped)
    left = [thread for thread in threading.enumerate() if thread.name == "caesura-own-tool"]
    assert left
    assert all(thread.daemon for thread in left), "they do not keep the server from ending"


async def test_progress_is_one_line_and_the_newest_text_of_a_running_call(world: World) -> None:
    offer(world)
    await world.begin()
    turn = await world.send("call slow {}")
    told = await world.until(turn, ev.ToolProgress)
    assert told.text == "half way"
    transcript = await world.transcript(turn)
    assert transcript.progress == {told.id: "half way"}
    assert await world.turns().stop(world.user, turn.id)
    await world.segment(turn)


async def test_a_flood_of_progress_becomes_a_few_short_events(world: World) -> None:
    offer(world)
    said = await call(world, "chatty")
    assert said.results() == [("chatty", "done", "ok")]
    told = said.of(ev.ToolProgress)
    assert len(told) < 200
    assert all(len(event.text) <= 500 for event in told)
    assert (await world.transcript(said.turn)).progress == {}


async def test_a_waiting_turn_goes_on_with_the_code_of_the_server_that_goes_on(world: World) -> None:
    offer(world)
    said = await call(world, "gift", to="bob")
    file = world.agents / "orders.py"
    file.write_text(file.read_text().replace("gets {what}", "receives {what}"))
    done = await world.resume(said, Answer("answers", answers=("cup",)))
    assert done.results() == [("gift", "bob gets cup", "ok")]
    said = await call(world, "gift", to="bob")
    world.load_anew()
    await lose(world)
    done = await world.resume(said, Answer("answers", answers=("cup",)))
    assert done.results() == [("gift", "bob receives cup", "ok")]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
async def test_a_check_that_fails_is_a_failure_of_the_tool_alone(world: World, number: int) -> None:
    offer(world)
    output, status = await result(world, "odd", value={"number": number})
    assert status == "error"
    assert output.startswith("The tool failed (err-")
    said = await call(world, "odd", value={"number": 0})
    [asked] = said.waiting(Approval)
    assert asked.description.startswith("Using tool: odd")
    with pytest.raises(BadAnswer, match=r"failed to check these arguments \(err-"):
        await world.answer(said.turn, {asked.id: Answer("edit", args={"value": {"number": number}})})
    done = await world.resume(said, YES)
    assert done.results() == [("odd", "odd", "ok")]


@pytest.mark.parametrize("name", ["cancels", "exits"])
async def test_a_function_that_ends_its_own_task_is_a_failure_of_the_tool_alone(
    world: World, name: str
) -> None:
    offer(world)
    output, status = await result(world, name)
    assert status == "error"
    assert output.startswith("The tool failed (err-")
