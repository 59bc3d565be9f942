"""Grants can be revoked, also while a run is about to use them."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from caesura.engine import tool_calls
from caesura.store import grants
from tests.engine.world import NO, YES, Said, World
from tests.openai_server import Call, Say

ALWAYS = Answer("approve", always_allow=True)


async def granted(world: World) -> Said:
    world.agent("tools: [seal, look]\npermissions: {look: confirm}")
    calls = [Call("seal", {"text": "a"}, "seal-1"), Call("look", {"text": "a"}, "look-1")]
    world.desk.script(Say("", calls), Say("done"))
    said = await world.resume(await world.say("go"), ALWAYS)
    assert said.finished
    return said


async def revoke(world: World, tool: str) -> bool:
    return await world.database.write(grants.revoke, world.conversation, world.user, tool)


@pytest.mark.parametrize("tool", ["seal", "look"])
async def test_a_grant_that_is_revoked_while_the_turn_runs_is_not_used(
    world: World, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await granted(world)
    make = tool_calls.call

    async def late(*given: Any) -> Any:
        assert await revoke(world, tool)
        return await make(*given)

    monkeypatch.setattr(tool_calls, "call", late)
    world.desk.script(Say("", [Call(tool, {"text": "b"}, "b")]), Say("then not"))
    said = await world.say("again")
    assert [(item.kind, item.name) for item in said.waiting(Approval)] == [("approval", tool)]
    assert f"{tool} b" not in world.traces()
    monkeypatch.setattr(tool_calls, "call", make)
    assert (await world.resume(said, NO)).finished
    await world.checked(said.turn)


async def test_a_valid_grant_is_used_and_the_log_is_complete(world: World) -> None:
    await granted(world)
    calls = [Call(tool, {"text": "b"}, f"{tool}-b") for tool in ("seal", "look")]
    world.desk.script(Say("", calls), Say("done"))
    said = await world.say("again")
    assert said.finished
    assert sorted(world.traces()) == ["look a", "look b", "seal a", "seal b"]
    await world.checked(said.turn)


async def test_a_sub_agent_whose_grant_was_revoked_needs_approval_to_continue(
    world: World,
) -> None:
    world.agent("tools: [seal]", name="helper", model="openai:helper")
    world.agent("tools: []\nsub_agents: [{ref: helper}]\npermissions: {helper: confirm}")
    world.desk.script(Say("", [Call("helper", {"task": "one"}, "one")]), Say("ok"))
    world.desk.script(Say("done"), model="helper")
    assert (await world.resume(await world.say("go"), ALWAYS)).finished
    world.desk.script(Say("", [Call("helper", {"task": "two"}, "two")]), Say("ok"))
    world.desk.script(Say("", [Call("seal", {"text": "b"}, "seal-1")]), Say("done"), model="helper")
    said = await world.say("again")
    assert [item.name for item in said.waiting(Approval)] == ["seal"]
    assert await revoke(world, "helper")
    said = await world.resume(said, YES)
    assert [item.name for item in said.waiting(Approval)] == ["helper"]
    assert world.traces() == []
    assert (await world.resume(said, YES)).finished
    assert world.traces() == ["seal b"]
    await world.checked(said.turn)


async def test_a_revoked_grant_is_not_restored_by_the_old_answer(world: World) -> None:
    """The answer that granted the tool is read again each time the turn continues."""
    world.agent("tools: [seal]", name="helper", model="openai:helper")
    world.agent("tools: []\nsub_agents: [{ref: helper}]\npermissions: {helper: confirm}")
    world.desk.script(Say("", [Call("helper", {"task": "one"}, "one")]), Say("ok"))
    world.desk.script(Say("", [Call("seal", {"text": "b"}, "seal-1")]), Say("done"), model="helper")
    said = await world.resume(await world.say("go"), ALWAYS)
    assert [item.name for item in said.waiting(Approval)] == ["seal"]
    assert await revoke(world, "helper")
    said = await world.resume(said, YES)
    assert said.finished
    assert (await world.row(said.turn)).grants == ()


PAY = """
import caesura
from pathlib import Path

@caesura.tool
def pay(sum: str) -> str:
    with Path("{trace}").open("a") as file:
        file.write("{whose} " + sum + "\\n")
    return "paid"
"""


def put_function(world: World, module: str) -> None:
    world.agents.mkdir(exist_ok=True)
    (world.agents / f"{module}.py").write_text(PAY.format(trace=world.trace, whose=module))


async def test_a_grant_is_none_for_a_sub_agents_function_of_the_same_name(world: World) -> None:
    put_function(world, "mine")
    put_function(world, "theirs")
    world.agent("tools: ['theirs:pay']", name="helper", model="openai:helper")
    world.agent("tools: ['mine:pay']\nsub_agents: [{ref: helper}]")
    world.desk.script(Say("", [Call("pay", {"sum": "1"}, "one")]), Say("done"))
    assert (await world.resume(await world.say("go"), ALWAYS)).finished
    world.desk.script(
        Say("", [Call("pay", {"sum": "2"}, "two"), Call("helper", {"task": "x"}, "h")]), Say("ok")
    )
    world.desk.script(Say("", [Call("pay", {"sum": "3"}, "three")]), Say("done"), model="helper")
    said = await world.say("again")
    assert [(item.agent, item.name) for item in said.waiting(Approval)] == [("helper", "pay")]
    assert world.traces() == ["mine 1", "mine 2"]
    assert (await world.resume(said, ALWAYS)).finished
    found = await world.database.read(grants.listing, world.conversation, world.user)
    assert [(grant.tool, grant.agent) for grant in found] == [("pay", "helper"), ("pay", "tester")]
    assert await revoke(world, "pay")
    world.desk.script(Say("", [Call("pay", {"sum": "4"}, "four")]), Say("done"))
    assert (await world.say("more")).waiting(Approval)


async def test_a_grant_is_none_for_a_function_of_another_module(world: World) -> None:
    put_function(world, "mine")
    put_function(world, "theirs")
    world.agent("tools: ['mine:pay']")
    world.desk.script(Say("", [Call("pay", {"sum": "1"}, "one")]), Say("done"))
    assert (await world.resume(await world.say("go"), ALWAYS)).finished
    world.agent("tools: ['theirs:pay']")
    world.desk.script(Say("", [Call("pay", {"sum": "2"}, "two")]), Say("done"))
    said = await world.say("again")
    assert [item.name for item in said.waiting(Approval)] == ["pay"]
    assert world.traces() == ["mine 1"]


async def test_a_grant_of_an_older_version_asks_once_more(world: World) -> None:
    world.agent("tools: [seal]")
    world.desk.script(Say("done"))
    said = await world.say("hello")
    await world.database.write(grants.add, said.turn.num, "seal")
    world.desk.script(Say("", [Call("seal", {"text": "a"}, "a")]), Say("done"))
    said = await world.say("go")
    assert said.waiting(Approval)
    assert (await world.resume(said, ALWAYS)).finished
    world.desk.script(Say("", [Call("seal", {"text": "b"}, "b")]), Say("done"))
    assert (await world.say("go on")).finished
