"""The tools of MCP servers in an agent's turns: names, permissions, results, what a server gets to see."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from caesura import __version__
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval
from tests.engine.crash import lose
from tests.engine.world import NO, YES, Said, World
from tests.mcp.conftest import DEMO, KEY, PACKAGE, HttpServer, Outside
from tests.mcp_server.raw import tool
from tests.openai_server import Call, Say


async def call(world: World, name: str, **args: Any) -> Said:
    return await world.say(f"call {name} {json.dumps(args)}")


async def result(world: World, name: str, **args: Any) -> tuple[str, str]:
    said = await call(world, name, **args)
    [(_, output, status)] = said.results()
    return output, status


async def until_traced(outside: Outside, text: str, count: int = 1) -> None:
    async with asyncio.timeout(60):
        while sum(text in line for line in outside.traces) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def wide(*names: str) -> str:
    return f"permissions: {{{', '.join(f'{name}: auto' for name in names)}}}"


AUTO = wide("say", "wait", "die", "garbage", "endless", "values", "change")


async def test_a_server_of_the_official_package_works_over_stdio(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    names = ("environment", "total", "picture", "fail", "long", "echo")
    world.agent(f"{DEMO}\n{outside.entry(wide(*names), 'env: {SHOP: open}', program=PACKAGE)}")
    output, status = await result(world, "shop__echo", text="Grüße")
    assert (output, status) == ("Grüße", "ok")
    environment = json.loads((await result(world, "shop__environment"))[0])
    assert environment["SHOP"] == "open"
    assert "PATH" in environment
    assert KEY not in environment.values()
    assert environment.keys() <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "SHOP", "LC_CTYPE"}
    assert json.loads((await result(world, "shop__total", numbers=[1, 2]))[0]) == {"total": 3}
    assert "[image: image/png" in (await result(world, "shop__picture"))[0]
    assert (await result(world, "shop__fail"))[1] == "error"
    assert (await result(world, "shop__echo", wrong=1))[1] == "error"
    output, status = await result(world, "shop__long", size=3_000_000)
    assert status == "ok"
    assert len(output.encode()) < 257 * 1024
    assert output.endswith("[cut: the result had 3000000 bytes, and the first 256 KiB are shown]")


async def test_a_server_of_the_official_package_works_over_http(
    world: World, http_server: HttpServer
) -> None:
    world.environ = {**world.environ, "SHOP_KEY": f"Bearer {KEY}"}
    await world.engine.drain(0.5)
    world.engine = world.new_engine()
    world.engine.start()
    headers = "headers_env: {Authorization: SHOP_KEY}"
    world.agent(f"{DEMO}\n{http_server.entry(wide('headers', 'echo', 'long'), headers)}")
    assert (await result(world, "shop__echo", text="hi")) == ("hi", "ok")
    sent = json.loads((await result(world, "shop__headers"))[0])
    assert sent["authorization"] == f"Bearer {KEY}"
    output, status = await result(world, "shop__long", size=3_000_000)
    assert status == "ok"
    assert output.endswith("and the first 256 KiB are shown]")


async def test_calls_of_one_reply_run_side_by_side_on_one_session(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    turn = await world.send("call shop__wait {} shop__wait {}")
    await until_traced(outside, "wait", 2)
    outside.go()
    said = await world.segment(turn)
    assert [status for _, _, status in said.results()] == ["ok", "ok"]
    assert outside.traces.count("start") == 1


async def test_a_tool_needs_approval_and_the_approved_arguments_are_sent(
    world: World, outside: Outside
) -> None:
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text="one")
    [asked] = said.waiting(Approval)
    assert (asked.name, asked.args) == ("shop__say", {"text": "one"})
    done = await world.resume(said, Answer("edit", args={"text": "two"}))
    assert done.results() == [("shop__say", 'say {"text": "two"}', "ok")]
    said = await call(world, "shop__say", text="three")
    done = await world.resume(said, NO)
    assert done.results()[0][2] == "refused"


async def test_nobody_is_asked_about_arguments_that_do_not_fit_the_schema(
    world: World, outside: Outside
) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    outside.tools(tool("say", inputSchema=schema))
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text=5)
    assert said.results() == [
        ("shop__say", "the arguments do not fit: text: must be string, not integer", "error")
    ]
    assert (await call(world, "shop__say", text="five")).waiting(Approval)


async def test_a_tool_that_is_always_allowed_is_not_asked_about_again(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text="one")
    await world.resume(said, Answer("approve", always_allow=True))
    assert (await result(world, "shop__say", text="two"))[1] == "ok"
    assert (await call(world, "shop__wait")).waiting(Approval)


async def test_an_approval_that_is_given_after_a_crash_finds_its_tool(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text="one")
    first = world.engine
    await lose(world)
    done = await world.resume(said, YES)
    assert done.results() == [("shop__say", 'say {"text": "one"}', "ok")]
    assert outside.traces.count("start") == 2
    await first.drain(0.1)


async def test_an_approved_call_whose_server_is_away_is_told_to_the_agent(
    world: World, outside: Outside
) -> None:
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text="one")
    first = world.engine
    outside.mode("dead")
    await lose(world)
    done = await world.resume(said, YES)
    [(name, output, status)] = done.results()
    assert (name, status) == ("shop__say", "error")
    assert output == "Nothing was done. The MCP server shop is away: its process ended with status 1."
    await first.drain(0.1)


async def test_permissions_by_the_servers_names_and_by_the_full_name(world: World, outside: Outside) -> None:
    entry = outside.entry("permissions: {say: deny, wait: auto, die: auto}", "tools: [say, die, garbage]")
    world.agent(f"{DEMO}\npermissions: {{shop__die: confirm, shop__garbage: auto}}\n{entry}")
    assert not world.catalog.faults
    assert "There is no tool" in (await result(world, "shop__say"))[0]
    assert "There is no tool" in (await result(world, "shop__wait"))[0], "it is not in the list"
    assert "There is no tool" in (await result(world, "shop__invented"))[0]
    assert (await result(world, "shop__garbage"))[1] == "ok"
    said = await call(world, "shop__die")
    assert said.waiting(Approval)
    await world.resume(said, NO)


@pytest.mark.parametrize("trusted", [False, True])
async def test_hints_count_only_if_the_operator_trusts_them(
    world: World, outside: Outside, trusted: bool
) -> None:
    outside.tools(
        tool("say", annotations={"readOnlyHint": True}), tool("wait", annotations={"idempotentHint": True})
    )
    world.agent(f"{DEMO}\n{outside.entry(f'trust_annotations: {str(trusted).lower()}')}")
    said = await call(world, "shop__say")
    assert said.finished == trusted
    if not trusted:
        await world.resume(said, YES)
    said = await call(world, "shop__wait")
    assert said.waiting(Approval), "it may be repeated, but it still needs approval"
    await world.close(said.turn)


@pytest.mark.parametrize("repeatable", [False, True])
async def test_a_call_that_was_cut_off_is_repeated_only_if_that_is_safe(
    world: World, outside: Outside, repeatable: bool
) -> None:
    outside.tools(tool("wait", annotations={"idempotentHint": repeatable}))
    world.agent(f"{DEMO}\n{outside.entry(AUTO, 'trust_annotations: true')}")
    turn = await world.send("call shop__wait")
    await until_traced(outside, "wait")
    first = world.engine
    await lose(world)
    if repeatable:
        await until_traced(outside, "wait", 2)
        outside.go()
        said = await world.segment(turn)
    else:
        said = await world.segment(turn)
        [asked] = said.waiting(Approval)
        assert asked.unknown
        outside.go()
        said = await world.resume(said, YES)
    assert said.results()[-1][2] == "ok"
    waits = [line for line in outside.traces if line.startswith("wait")]
    assert len(waits) == 2
    assert len(set(waits)) == 1, "the key of the call is the same"
    await first.drain(0.1)


async def test_a_stop_does_not_wait_for_the_call_and_tells_the_server(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    turn = await world.send("call shop__wait")
    await until_traced(outside, "wait")
    assert await world.engine.stop(await world.row(turn), "user")
    said = await world.segment(turn)
    assert isinstance(said.outcome, ev.Stopped)
    await until_traced(outside, "notifications/cancelled")
    outside.go()
    assert (await result(world, "shop__say"))[1] == "ok", "the session goes on"
    assert outside.traces.count("start") == 1


async def test_a_stop_tells_a_server_over_http(world: World, http_server: HttpServer) -> None:
    world.agent(f"{DEMO}\n{http_server.entry(wide('charge'))}")
    turn = await world.send('call shop__charge {"amount": 77}')
    await until_traced(http_server.outside, "charge 77")
    assert await world.engine.stop(await world.row(turn), "user")
    assert isinstance((await world.segment(turn)).outcome, ev.Stopped)
    await until_traced(http_server.outside, "cancelled")


async def test_progress_is_shown_while_the_call_runs(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry(wide('march'), program=PACKAGE)}")
    turn = await world.send("call shop__march {}")
    assert (await world.until(turn, ev.ToolProgress)).text == "on the way (3 / 10)"
    outside.go()
    assert (await world.segment(turn)).results() == [("shop__march", "there", "ok")]


async def test_tools_that_change_are_offered_at_the_next_step(world: World, outside: Outside) -> None:
    world.agent(outside.entry(AUTO))
    change = Call("shop__change", {"tools": [tool("fresh")]})
    world.desk.script(Say(calls=[change]), Say("done"))
    said = await world.say("hi")
    assert said.finished
    first, second = ([item["function"]["name"] for item in asked["tools"]] for asked in world.desk.requests)
    assert {"shop__say", "shop__change"} <= set(first)
    assert [name for name in second if name.startswith("shop__")] == ["shop__fresh"]


async def test_a_tool_that_a_call_has_added_is_there_at_the_next_step(world: World, outside: Outside) -> None:
    world.agent(outside.entry(wide("grow", "grown"), program=PACKAGE))
    world.desk.script(Say(calls=[Call("shop__grow", {})]), Say(calls=[Call("shop__grown", {})]), Say("done"))
    said = await world.say("hi")
    assert said.results() == [("shop__grow", "ok", "ok"), ("shop__grown", "grown", "ok")]
    assert "shop__grown" in [item["function"]["name"] for item in world.desk.requests[1]["tools"]]


async def test_a_call_of_a_tool_that_was_not_listed_asks_for_the_list_again(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.agents.mcp.server._FRESH", 3600.0)
    world.agent(f"{DEMO}\n{outside.entry(wide('fresh'))}")
    assert (await result(world, "list_files"))[1] == "ok"
    assert "There is no tool named" in (await result(world, "shop__fresh"))[0]
    assert (await result(world, "list_files"))[1] == "ok"
    outside.tools(tool("fresh"))
    assert (await result(world, "shop__fresh")) == ("fresh {}", "ok")
    client = json.loads((outside.folder / "client.json").read_text())
    assert (client["name"], client["version"]) == ("caesura", __version__)


async def test_a_sub_agent_has_servers_of_its_own(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\ntools: []\n{outside.entry(AUTO)}", name="buyer")
    world.agent(f"{DEMO}\nsub_agents: [{{ref: buyer}}]")
    said = await call(world, "buyer", task="call shop__say {}")
    assert ("shop__say", "say {}", "ok") in said.results()
    assert "There is no tool" in (await result(world, "shop__say"))[0]


async def test_a_turn_goes_on_with_its_server_after_the_file_has_changed(
    world: World, outside: Outside
) -> None:
    world.agent(f"{DEMO}\n{outside.entry()}")
    said = await call(world, "shop__say", text="one")
    world.agent(f"{DEMO}\ndescription: changed\n{outside.entry()}")
    done = await world.resume(said, YES)
    assert done.results() == [("shop__say", 'say {"text": "one"}', "ok")]
    said = await call(world, "shop__say", text="two")
    world.agent(f"{DEMO}\ndescription: without it")
    done = await world.resume(said, YES)
    assert "There is no tool" in done.results()[0][1], "what the file has lost is not used any more"
