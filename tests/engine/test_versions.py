"""An agent whose file changes: a turn goes on with the version that it began with, or says that it cannot."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, delete, update

from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.errors import AgentChanged
from caesura.core.interrupts import Approval, Confirmation
from caesura.engine import texts
from caesura.store import interrupts, schema
from tests.engine.crash import lose
from tests.engine.test_agents import OWN
from tests.engine.test_graphs import ASK, graph
from tests.engine.test_reviewed_graphs import DROP, put
from tests.engine.world import NO, YES, Said, World
from tests.graph_files import chain, reviewed, wants
from tests.openai_server import Call, Hang, Held, Say
from tests.waiting import until

SEAL = Call("seal", {"text": "b"}, "seal-1")
NOTE = Call("note", {"text": "a"}, "note-1")
CONFIRMED = Answer("fields", fields={"confirm": True})
RESTART = pytest.mark.parametrize("restart", [False, True], ids=["same process", "after a restart"])


async def restarted(world: World, restart: bool = True) -> None:
    """Another engine, which has nothing in memory, goes on."""
    if restart:
        await world.engine.drain()
        world.engine = world.new_engine()
        world.engine.start()


def prompt(world: World, place: int = -1) -> str:
    role, text = world.desk.sent(place)[0]
    assert role == "system"
    return text


async def asked(world: World, spec: str, *calls: Call) -> Said:
    world.agent(spec)
    world.desk.script(Say("May I.", list(calls)), Say("done"))
    return await world.say("go")


@RESTART
async def test_a_turn_that_waits_keeps_the_prompt_and_the_tools_that_it_began_with(
    world: World, restart: bool
) -> None:
    said = await asked(world, "tools: [note, seal]\nsystem_prompt: Be brief.", SEAL)
    world.agent("tools: [note, seal, look]\nsystem_prompt: Be kind.")
    await restarted(world, restart)
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == ["seal b"]
    assert prompt(world) == "Be brief."
    assert {tool["function"]["name"] for tool in world.desk.requests[-1]["tools"]} == {"note", "seal"}
    versions = {event.version for event in await world.events(said.turn) if isinstance(event, ev.RunStarted)}
    assert len(versions) == 1
    world.desk.script(Say("hello"))
    assert (await world.say("and now?")).finished
    assert prompt(world) == "Be kind."


async def test_a_turn_that_runs_keeps_its_version_to_the_end(world: World) -> None:
    world.agent("tools: [note]\nsystem_prompt: Be brief.")
    held = Held("I note", Say(" it.", [NOTE]))
    world.desk.script(held, Say("noted"))
    turn = await world.send("go")
    await world.until(turn, ev.TextDelta)
    world.agent("tools: []\nsystem_prompt: Be kind.")
    held.go_on.set()
    assert (await world.segment(turn)).finished
    assert world.traces() == ["note a"]
    assert prompt(world) == "Be brief."


async def test_a_turn_that_a_crash_cut_off_goes_on_with_its_version(hasty: World) -> None:
    hasty.agent("tools: []\nsystem_prompt: Be brief.")
    hasty.desk.script(Hang(["half "]), Say("whole"))
    turn = await hasty.send("go")
    await hasty.until(turn, ev.TextDelta)
    hasty.agent("tools: []\nsystem_prompt: Be kind.")
    await lose(hasty)
    assert (await hasty.segment(turn)).finished
    assert prompt(hasty) == "Be brief."


@RESTART
@pytest.mark.parametrize(
    "now", ["tools: [note]", "tools: [note, seal]\npermissions: {seal: deny}"], ids=["removed", "denied"]
)
async def test_a_tool_that_was_taken_away_is_not_called_and_the_agent_is_told(
    world: World, now: str, restart: bool
) -> None:
    said = await asked(world, "tools: [note, seal]", SEAL)
    world.agent(now)
    await restarted(world, restart)
    said = await world.resume(said, YES)
    assert said.finished
    assert world.traces() == []
    ((name, told, status),) = said.results()
    assert (name, status) == ("seal", "error")
    assert "There is no tool named 'seal'" in told


@RESTART
async def test_the_stricter_permission_holds(world: World, restart: bool) -> None:
    spec = "tools: [note, seal]\ninterrupt: {enabled: true}"
    world.agent(spec)
    world.desk.script(Say("Please confirm.", []), Say("Now.", [NOTE, SEAL]), Say("done"))
    said = await world.say("go")
    world.agent(f"{spec}\npermissions: {{note: confirm, seal: auto}}")
    await restarted(world, restart)
    said = await world.resume(said, CONFIRMED)
    assert sorted(item.name for item in said.waiting(Approval)) == ["note", "seal"]
    assert world.traces() == []
    assert (await world.resume(said, YES)).finished


@RESTART
async def test_a_sub_agent_keeps_its_version_and_the_stricter_permission(world: World, restart: bool) -> None:
    world.agent("tools: [note]\nsystem_prompt: Help briefly.", name="helper", model="openai:helper")
    world.agent("tools: [seal]\nsub_agents: [{ref: helper}]")
    world.desk.script(Say("", [SEAL]), Say("", [Call("helper", {"task": "go"}, "help-1")]), Say("done"))
    world.desk.script(Say("", [NOTE]), Say("noted"), model="helper")
    said = await world.say("go")
    kinder = "tools: [note]\nsystem_prompt: Help kindly.\npermissions: {note: confirm}"
    world.agent(kinder, name="helper", model="openai:helper")
    await restarted(world, restart)
    said = await world.resume(said, YES)
    assert [(item.name, item.agent) for item in said.waiting(Approval)] == [("note", "helper")]
    assert prompt(world) == "Help briefly."
    assert (await world.resume(said, YES)).finished
    assert world.traces() == ["seal b", "note a"]


@RESTART
async def test_a_sub_agent_that_was_taken_away_is_not_used(world: World, restart: bool) -> None:
    world.agent("tools: []", name="helper", model="openai:helper")
    world.agent("tools: [seal]\nsub_agents: [{ref: helper}]")
    world.desk.script(Say("", [SEAL]), Say("", [Call("helper", {"task": "go"}, "help-1")]), Say("done"))
    said = await world.say("go")
    world.agent("tools: [seal]")
    await restarted(world, restart)
    said = await world.resume(said, YES)
    assert said.finished
    assert [(name, status) for name, _, status in said.results()] == [("seal", "ok"), ("helper", "error")]


FORM = Call("ask_user", {"questions": [{"question": "Which cup?"}]}, "form-1")


@pytest.mark.parametrize(
    ("call", "answer", "result"),
    [
        (FORM, Answer("answers", answers=("the red one",)), ("Which cup? → the red one", "ok")),
        (FORM, Answer("reject", message="later"), ("The person declined to answer: later", "ok")),
        (SEAL, Answer("respond", message="I did it"), ("I did it", "answered")),
        (SEAL, Answer("reject", message="too dear"), (texts.refused("too dear"), "refused")),
        (Call("quiz", {"text": "cup"}, "quiz-1"), Answer("answers", answers=("x",)), ("cup → x", "error")),
    ],
)
async def test_what_a_person_answered_reaches_the_agent_without_the_tool_that_asked(
    world: World, call: Call, answer: Answer, result: tuple[str, str]
) -> None:
    said = await asked(world, f"tools: [note, {call.name}]", call)
    world.agent("tools: [note]")
    await restarted(world)
    said = await world.resume(said, answer)
    ((_, told, status),) = said.results()
    assert (result[0] in told, status) == (True, result[1])
    assert world.traces() == []


@pytest.mark.parametrize("answer", [YES, Answer("respond", message="I did it")])
async def test_a_sub_agent_that_was_taken_away_while_it_asked_had_not_begun_what_it_asked_for(
    world: World, answer: Answer
) -> None:
    world.agent("tools: [seal]", name="helper")
    world.agent("tools: []\nsub_agents: [{ref: helper}]")
    world.desk.script(Say("", [Call("helper", {"task": "go"}, "help-1")]), Say("", [SEAL]), Say("done"))
    said = await world.say("go")
    world.agent("tools: []")
    await restarted(world)
    said = await world.resume(said, answer)
    ((name, told, status),) = said.results()
    assert (name, status) == ("helper", "error")
    assert "There is no tool named 'helper'" in told
    assert answer.message in told
    assert world.traces() == []


def class_agent(world: World) -> None:
    (world.agents / "own.py").write_text(OWN)
    world.agent("tools: []\ninterrupt: {enabled: true}\nmodel: {class: 'own:Echo', options: {times: 1}}")


async def test_a_graph_that_waits_goes_on_with_the_code_of_the_server_that_goes_on(world: World) -> None:
    graph(world, ASK)
    world.desk.script(Say("Hm. "), Say("Hm. "))
    said = await world.say("go")
    (world.agents / "own_graph.py").write_text(
        (world.agents / "own_graph.py").read_text().replace("you said", "then you said")
    )
    world.load_anew()
    await restarted(world)
    said = await world.resume(said, Answer("value", value=1))
    assert said.text == "then you said 1"
    assert not any(event.changed for event in said.of(ev.RunStarted))


async def test_a_turn_that_waits_goes_on_with_the_changed_class_of_its_model(world: World) -> None:
    class_agent(world)
    said = await world.say("Please confirm.")
    (world.agents / "own.py").write_text(OWN.replace('" ".join', '"+".join'))
    world.load_anew()
    await restarted(world)
    assert (await world.resume(said, CONFIRMED)).finished


@pytest.mark.parametrize("known", ["unreadable", "forgotten"])
async def test_without_the_version_that_it_began_with_a_turn_goes_on_with_the_agent_as_it_is(
    world: World, known: str
) -> None:
    said = await asked(world, "tools: [seal]", SEAL)
    [begun] = said.of(ev.RunStarted)
    world.agent("tools: [seal]\nsystem_prompt: Other.")
    await restarted(world)

    def spoil(connection: Connection) -> None:
        here = schema.agent_versions.c.version == begun.version
        table = schema.agent_versions
        change = update(table).values(body=b"?") if known == "unreadable" else delete(table)
        connection.execute(change.where(here))

    await world.database.write(spoil)
    said = await world.resume(said, YES)
    assert said.finished
    assert prompt(world) == "Other."
    assert world.traces() == ["seal b"]
    [resumed] = said.of(ev.RunStarted)
    assert (begun.changed, resumed.changed, resumed.version != begun.version) == (False, True, True)


async def test_a_turn_of_an_older_server_goes_on_with_the_agent_as_it_is(world: World) -> None:
    said = await asked(world, "tools: [seal]", SEAL)
    versions = {item.version for item in said.of(ev.RunStarted)}
    assert "" not in versions
    transcript = await world.transcript(said.turn)
    transcript.version = ""
    agent = await world.engine.runner._versions.of(said.turn, transcript)
    assert agent.fault is None


async def test_a_file_that_only_got_a_new_comment_changes_nothing(world: World) -> None:
    said = await asked(world, "tools: [seal]", SEAL)
    path = world.agents / "tester.yaml"
    path.write_text(path.read_text() + "\n# a comment\n")
    await restarted(world)
    assert (await world.resume(said, YES)).finished
    assert world.traces() == ["seal b"]


async def test_a_confirmation_is_asked_with_the_phrases_that_the_turn_began_with(world: World) -> None:
    world.agent("tools: [seal]\ninterrupt: {enabled: true, phrases: [say aye]}")
    world.desk.script(Say("", [SEAL]), Say("Now say aye."), Say("done"))
    said = await world.say("go")
    world.agent("tools: [seal]")
    await restarted(world)
    said = await world.resume(said, YES)
    assert said.waiting(Confirmation)[0].reason == "Now say aye."
    assert (await world.resume(said, CONFIRMED)).finished


TWO = """
def ask(state):
    return {"messages": [AIMessage(f"you said {interrupt(1)}")]}

def pay(state):
    leave("pay")
    return {"messages": [AIMessage("paid")]}
"""


def with_nodes(world: World, *nodes: str, source: str = TWO) -> None:
    graph(world, chain(source, *nodes))


@RESTART
async def test_an_answer_is_refused_while_the_graph_has_no_such_node_and_counts_when_it_is_back(
    world: World, restart: bool
) -> None:
    with_nodes(world, "ask", "pay")
    said, answer = await world.say("go"), Answer("value", value=1)
    with_nodes(world, "pay")
    await restarted(world, restart)
    for _ in range(2):
        with pytest.raises(
            AgentChanged, match="the agent tester has changed, and cannot go on from this question"
        ):
            await world.resume(said, answer)
    [row] = await world.database.read(interrupts.inbox, "alice")
    assert row.interrupt.id == said.interrupts[0].id
    assert world.traces() == []
    with_nodes(world, "ask", "pay")
    await restarted(world, restart)
    said = await world.resume(said, answer)
    assert said.finished
    assert said.text == "you said 1paid"
    assert world.traces() == ["pay"]


@pytest.mark.parametrize("nodes", [("ask", "look", "pay"), ("look", "ask", "pay"), ("ask",)])
async def test_a_graph_goes_on_if_it_has_the_node_that_asks(world: World, nodes: tuple[str, ...]) -> None:
    with_nodes(world, "ask", "pay")
    said = await world.say("go")
    with_nodes(world, *nodes, source=TWO + "\ndef look(state):\n    leave('look')\n    return {}\n")
    await restarted(world)
    said = await world.resume(said, Answer("value", value=1))
    assert said.finished
    assert world.traces() == (["look"] if nodes[1:2] == ("look",) else []) + (
        ["pay"] if "pay" in nodes else []
    )


async def test_a_graph_that_runs_and_cannot_go_on_fails_and_a_retry_starts_it_anew(hasty: World) -> None:
    waits = "import time\n" + TWO.replace('leave("pay")', 'leave("pay")\n    time.sleep(0.2)')
    with_nodes(hasty, "pay", source=waits)
    turn = await hasty.send("go")
    await until(lambda: bool(hasty.traces()))
    with_nodes(hasty, "other", source=TWO.replace("def pay", "def other").replace('"pay"', '"other"'))
    await lose(hasty)
    said = await hasty.segment(turn)
    assert (said.failure.code, said.failure.retryable) == ("agent_changed", True)
    assert said.failure.message.startswith("The agent's graph has changed")
    assert hasty.traces() == ["pay"]
    said = await hasty.retry(turn)
    assert said.finished
    assert hasty.traces() == ["pay", "other"]


@pytest.mark.parametrize(
    ("now", "answerable"),
    [
        ('{"send_mail": True, "drop_table": True}', True),
        ('{"send_mail": True}', False),
        ('{"send_mail": True, "drop_table": True, "look_up": True}', False),
    ],
    ids=["same", "looser", "stricter"],
)
@pytest.mark.parametrize("mode", ["batched", "per_call"])
async def test_a_refusal_is_taken_only_if_the_graph_heeds_it(
    world: World, mode: str, now: str, answerable: bool
) -> None:
    source = reviewed(world.trace, mode).replace("tools=[send_mail", "tools=[look_up, send_mail")
    source = source.replace(
        "review = Human", '@tool\ndef look_up() -> str:\n    "Look."\n    return "it"\n\n\nreview = Human'
    )
    put(world, mode)
    file = world.agents / "reviewed.py"
    file.write_text(source)
    world.load_anew()
    said = await world.say(wants(DROP, ("look_up", {})))
    begin, end = source.index("interrupt_on={"), source.index("    interrupt_mode")
    file.write_text(f"{source[:begin]}interrupt_on={now},\n{source[end:]}")
    world.load_anew()
    await restarted(world)
    if answerable or (mode, "look_up" in now) == ("per_call", True):
        assert (await world.resume(said, NO)).results()[0][0] == "drop_table"
    else:
        with pytest.raises(AgentChanged):
            await world.resume(said, NO)
        assert len(await world.database.read(interrupts.inbox, "alice")) == 1
    assert world.traces() == []
