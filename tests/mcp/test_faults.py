"""MCP servers that are away, slow, dead, or send what they should not: the agent is told."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import Any, cast

import pytest

from caesura.agents.mcp import server as mcp_server
from caesura.engine import runner
from tests.engine.world import World
from tests.mcp.conftest import DEMO, KEY, HttpServer, Outside
from tests.mcp.test_tools import AUTO, call, result, until_traced, wide
from tests.mcp_server.raw import tool
from tests.mcp_server.raw_http import RawHttp
from tests.openai_server import Say

MIB = 1024 * 1024
LEFT_OUT = "MCP server shop of agent tester lists what is left out: "


async def test_the_death_of_a_server_is_told_and_a_later_call_opens_it_again(
    world: World, outside: Outside
) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    said = await call(world, "shop__die")
    [(_, output, status)] = said.results()
    assert status == "error"
    assert (
        output
        == "The MCP server shop is away: its process ended with status 1. The call may have had an effect."
    )
    assert (await result(world, "shop__say"))[1] == "ok"
    assert outside.traces.count("start") == 2


async def test_an_http_server_that_was_killed_is_told_and_used_again_when_it_is_back(
    world: World, http_server: HttpServer
) -> None:
    world.agent(f"{DEMO}\n{http_server.entry(wide('charge', 'echo'))}")
    turn = await world.send("call shop__charge {}")
    await until_traced(http_server.outside, "charge")
    http_server.kill()
    [(_, output, status)] = (await world.segment(turn)).results()
    assert status == "error"
    assert output.startswith("The MCP server shop is away: ")
    output, status = await result(world, "shop__echo", text="hi")
    assert status == "error"
    assert "The MCP server shop is away: it cannot be reached." in output
    http_server.start()
    async with asyncio.timeout(60):
        while (await result(world, "shop__echo", text="hi")) != ("hi", "ok"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def test_answers_over_http_are_bounded_before_they_are_read(
    world: World, raw_http: RawHttp, caplog: pytest.LogCaptureFixture
) -> None:
    crowded = b'{"jsonrpc": "2.0", "id": 3, "result": {"content": [], "a": [' + b"[]," * 200_000 + b"1]}}"
    raw_http.bodies = {
        "large": (b'"' + b"x" * 33 * MIB + b'"', "application/json"),
        "crowded": (crowded, "application/json"),
        "events": (b"data: " + crowded + b"\n\n", "text/event-stream"),
        "lines": (b"data: " + crowded.replace(b",", b",\ndata:") + b"\n\n", "text/event-stream"),
        "endless": (b"data: " + b"x" * 33 * MIB, "text/event-stream"),
        "page": (b"<html>", "text/html"),
    }
    world.agent(
        f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {wide('say', *raw_http.bodies)}}}"
    )
    for name, reason in {
        "large": "more than 32 MiB",
        "crowded": "too many values",
        "events": "too many values",
        "lines": "too many lines",
        "endless": "more than 32 MiB",
        "page": "content type",
    }.items():
        output, status = await result(world, f"shop__{name}")
        assert status == "error"
        assert reason in output
        assert (await result(world, "shop__say")) == ("say", "ok")
    raw_http.gzipped = True
    assert (await result(world, "shop__say"))[1] == "error"
    assert "sk-in-the-address" not in caplog.text


async def test_a_server_that_is_away_is_told_in_the_system_message_and_the_turn_goes_on(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    outside.mode("complain")
    world.agent(f"system_prompt: Be kind.\n{outside.entry(f'env: {{KEY: {KEY}}}')}")
    world.desk.script(Say("sorry"))
    said = await world.say("hi")
    assert said.text == "sorry"
    told = (
        "The tools of the MCP server shop are not available at the moment: its process ended with status 1."
    )
    assert world.desk.sent()[0] == ("system", f"Be kind.\n\n{told}")
    assert "the key is [hidden]" in caplog.text
    assert KEY not in caplog.text


async def test_nobody_is_asked_to_approve_a_call_of_a_server_that_is_away(
    world: World, outside: Outside
) -> None:
    outside.mode("dead")
    world.agent(f"{DEMO}\n{outside.entry()}")
    output, status = await result(world, "shop__say")
    told = "Nothing was done. The MCP server shop is away: its process ended with status 1."
    assert (output, status) == (told, "error")


async def test_a_command_that_does_not_exist_and_an_address_where_nobody_listens(world: World) -> None:
    servers = [
        "- {name: one, command: /no/such/program}",
        "- {name: two, url: 'http://127.0.0.1:9/mcp?key=x'}",
    ]
    world.agent("\n  ".join(["mcp_servers:", *servers]))
    world.desk.script(Say("sorry"))
    assert (await world.say("hi")).text == "sorry"
    told = world.desk.sent()[0][1]
    assert "server one are not available at the moment: its command was not found." in told
    assert "server two are not available at the moment: it cannot be reached." in told


async def test_a_server_that_does_not_answer_delays_a_turn_once_and_is_used_when_it_does(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SERVERS", 0.5)
    outside.mode("mute")
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "list_files"))[1] == "ok"
    outside.go()
    assert (await result(world, "shop__say"))[1] == "ok"
    assert outside.traces.count("start") == 1, "the attempt to open it went on"


async def test_the_log_names_a_server_that_ends_without_a_word(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    outside.mode("quiet")
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    output, _ = await result(world, "shop__say")
    assert "The MCP server shop is away: its process ended with status 3." in output
    assert "MCP server shop of agent tester: its process ended with status 3" in caplog.text
    assert "Traceback" not in caplog.text


async def test_a_server_that_is_frozen_is_ended_and_opened_again(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "shop__say"))[1] == "ok"
    for name, seconds in {"_FRESH": 0.0, "_RELIST": 0.3, "_PING": 0.3}.items():
        monkeypatch.setattr(mcp_server, name, seconds)
    frozen = int((outside.folder / "pid").read_text())
    os.kill(frozen, signal.SIGSTOP)
    async with asyncio.timeout(60):
        while (await result(world, "shop__say"))[1] != "ok":
            pass
    assert outside.traces.count("start") == 2
    async with asyncio.timeout(60):
        while os.path.exists(f"/proc/{frozen}"):  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.05)


async def test_a_call_that_was_cut_off_makes_a_later_one_look_whether_the_server_lives(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "_PING", 60.0)
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    turn = await world.send("call shop__wait")
    await until_traced(outside, "wait")
    await world.engine.stop(await world.row(turn), "user")
    await world.segment(turn)
    assert (await result(world, "shop__say"))[1] == "ok"
    assert outside.traces.count("start") == 1, "it answers, so its session goes on"


async def test_an_http_server_that_is_frozen_is_told_and_used_again_when_it_is_not(
    world: World, http_server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent(f"{DEMO}\n{http_server.entry(wide('echo'))}")
    assert (await result(world, "shop__echo", text="hi")) == ("hi", "ok")
    with monkeypatch.context() as patch:
        limits = {"_FRESH": 0.0, "_RELIST": 0.3, "_PING": 0.3, "_AGAIN": 1.0, "OPENING": 1.0}
        for name, seconds in limits.items():
            patch.setattr(mcp_server, name, seconds)
        http_server.freeze()
        try:
            output, status = await result(world, "shop__echo", text="hi")
        finally:
            http_server.thaw()
    assert status == "error"
    assert output == "Nothing was done. The MCP server shop is away: it did not answer in time."
    async with asyncio.timeout(60):
        while (await result(world, "shop__echo", text="hi")) != ("hi", "ok"):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("mode", ["mute", "listless"])
async def test_turns_do_not_wait_again_for_a_server_that_was_silent(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(runner, "SERVERS", 2.0 if mode == "listless" else 0.2)
    outside.mode(mode)
    world.agent(outside.entry(AUTO))
    world.desk.script(Say("one"), Say("two"))
    assert (await world.say("hi")).text == "one"
    monkeypatch.setattr(runner, "SERVERS", 3600.0)
    monkeypatch.setattr(mcp_server, "OPENING", 3600.0)
    async with asyncio.timeout(60):
        assert (await world.say("hi")).text == "two"
    assert "not available at the moment: it did not answer in time" in world.desk.sent(1)[0][1]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_wrong_key_of_an_http_server_is_told(
    world: World, raw_http: RawHttp, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    world.environ = {**world.environ, "SHOP_KEY": f"Bearer {KEY}"}
    await world.engine.drain(0.5)
    world.engine = world.new_engine()
    world.engine.start()
    raw_http.denies = status
    entry = f"{{name: shop, url: '{raw_http.url}', headers_env: {{Authorization: SHOP_KEY}}, {wide('say')}}}"
    world.agent(f"{DEMO}\nmcp_servers:\n  - {entry}")
    told = f"it refuses access with status {status} (check the value of SHOP_KEY, which headers_env names)"
    assert told in (await result(world, "shop__say"))[0]
    assert f"MCP server shop of agent tester: {told}" in caplog.text
    assert KEY not in caplog.text


async def test_a_key_that_is_no_longer_accepted_is_told(world: World, raw_http: RawHttp) -> None:
    world.agent(f"{DEMO}\nmcp_servers:\n  - {{name: shop, url: '{raw_http.url}', {wide('say')}}}")
    assert (await result(world, "shop__say")) == ("say", "ok")
    raw_http.denies = 401
    output, status = await result(world, "shop__say")
    assert status == "error"
    assert "it refuses access with status 401 (name a header with a key in headers_env)" in output


async def test_names_that_the_server_does_not_have_are_told_once_for_each_list(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    world.agent(f"{DEMO}\n{outside.entry('tools: [say, sya]', 'permissions: {say: auto, dleete: deny}')}")
    for _ in range(2):
        assert (await result(world, "shop__say"))[1] == "ok"
    told = "MCP server shop of agent tester: %s names what the server does not have: %s"
    assert caplog.text.count(told % ("tools", "sya")) == 1
    assert caplog.text.count(told % ("permissions", "dleete")) == 1


async def test_attempts_to_open_a_server_become_rare(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "_PAUSE", 60.0)
    monkeypatch.setattr(mcp_server, "_LONGEST_PAUSE", 60.0)
    outside.mode("dead")
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    for _ in range(3):
        output, status = await result(world, "shop__say")
        assert status == "error"
        assert "Nothing was done. The MCP server shop is away: its process ended with status 1." in output
    assert outside.traces.count("start") == 1


@pytest.mark.parametrize(("name", "reason"), [("endless", "more than 32 MiB"), ("values", "too many values")])
async def test_a_message_that_is_too_large_ends_the_session(
    world: World, outside: Outside, name: str, reason: str
) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    output, status = await result(world, f"shop__{name}")
    assert status == "error"
    assert reason in output
    assert (await result(world, "shop__say"))[1] == "ok"


async def test_lines_that_are_no_messages_are_passed_over(world: World, outside: Outside) -> None:
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "shop__garbage"))[1] == "ok"
    assert outside.traces.count("start") == 1


async def test_hostile_lists_of_tools_are_bounded(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    deep: dict[str, object] = {"type": "object"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"a": deep}}
    outside.tools(
        tool("good", description="Fine.\x1b[31m\u202e" + "x" * 100_000),
        tool("good"),
        tool("a b"),
        tool(""),
        tool("n" * 64),
        tool("deep", inputSchema=deep),
        tool("wide", inputSchema={"type": "object", "properties": {str(n): {} for n in range(5000)}}),
        tool("none", inputSchema={"type": "object", "properties": {"a": {"type": "nonsense"}}}),
        tool("long", inputSchema={"type": "object", "description": "x" * 100_000}),
        *(tool(f"tool{number}") for number in range(200)),
    )
    world.agent(f"tools: []\n{outside.entry()}")
    world.desk.script(Say("done"))
    assert (await world.say("hi")).finished
    offered = {item["function"]["name"]: item["function"] for item in world.desk.requests[0]["tools"]}
    assert len(offered) == 128
    assert not {"shop__deep", "shop__wide", "shop__none", "shop__long", "shop__a b"} & offered.keys()
    described = offered["shop__good"]["description"]
    assert described.startswith("Fine.\\x1b[31m\\u202e")
    assert len(described) < 10_000
    [told] = [line for line in caplog.messages if "left out" in line]
    assert told.startswith(f"{LEFT_OUT}good (the server lists it twice); a b,")
    assert "; (its name is empty)" in told.replace("  ", " ")
    assert "tool128, tool129" in told
    assert "and 63 more (a server may offer 128 tools)" in told


async def test_a_malformed_tool_is_left_out_and_the_others_are_offered(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    outside.tools(
        tool("say"),
        {"name": "none"},
        tool("null", inputSchema=None),
        tool("text", inputSchema="nope"),
        tool("array", inputSchema={"type": "array"}),
        tool("number", description=5),
        tool("maybe", annotations={"readOnlyHint": "maybe"}),
        {"inputSchema": {"type": "object"}},
        cast("dict[str, Any]", "no tool"),
        cast("dict[str, Any]", None),
        tool("wait"),
    )
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    for _ in range(2):
        assert (await result(world, "shop__say"))[1] == "ok"
    output, status = await result(world, "shop__none")
    assert status == "error"
    assert "shop__none" in output
    names = "none, null, text, array, number, maybe, one without a name"
    told = f"{LEFT_OUT}{names} (not described as the protocol demands)"
    assert [line for line in caplog.messages if "left out" in line] == [told]


async def test_a_list_that_repeats_itself_is_read_once(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    outside.mode("again")
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "shop__say"))[1] == "ok"
    assert sum("left out" in line for line in caplog.messages) == 1


async def test_a_server_whose_list_breaks_the_protocol_is_told(world: World, outside: Outside) -> None:
    (outside.folder / "tools.json").write_text('"none"')
    world.agent(outside.entry())
    world.desk.script(Say("sorry"))
    assert (await world.say("hi")).finished
    assert "not available at the moment: it does not speak the protocol." in world.desk.sent()[0][1]


async def test_the_processes_of_servers_end_with_the_engine_and_their_log_is_quiet(
    world: World, outside: Outside, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    world.agent(f"{DEMO}\n{outside.entry(AUTO, f'env: {{KEY: {KEY}}}')}")
    assert (await result(world, "shop__say"))[1] == "ok"
    await world.engine.drain(0.5)
    assert KEY not in caplog.text
    assert not [line for line in _commands() if str(outside.folder) in line]


async def test_a_server_that_never_answered_ends_with_the_engine(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SERVERS", 0.1)
    outside.mode("mute")
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "list_files"))[1] == "ok"
    await until_traced(outside, "start")
    await world.engine.drain(0.5)
    assert not [line for line in _commands() if str(outside.folder) in line]


async def test_the_session_of_an_entry_that_no_file_has_any_more_is_closed(
    world: World, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "_UNUSED", 0.1)
    monkeypatch.setattr("caesura.agents.mcp.session._LOOK", 0.1)
    world.agent(f"{DEMO}\n{outside.entry(AUTO)}")
    assert (await result(world, "shop__say"))[1] == "ok"
    await asyncio.sleep(0.5)
    assert [line for line in _commands() if str(outside.folder) in line], "the file still has it"
    world.agent(DEMO)
    async with asyncio.timeout(60):
        while [line for line in _commands() if str(outside.folder) in line]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def _commands() -> list[str]:
    """The command lines of all processes."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    found.append(file.read().decode(errors="replace"))
            except OSError:
                continue
    return found
