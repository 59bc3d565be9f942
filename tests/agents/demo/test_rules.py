"""The rules against their documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from caesura.agents.demo import plan, rules
from caesura.agents.demo.rules import FLOWS, TOOLS, WORDS, Rule
from caesura.agents.demo.scene import Scene, scene_of
from caesura.agents.tools import registry
from caesura.core.messages import Message
from tests.spoken import user

PAGE = Path(__file__).parents[3] / "docs" / "demo-model.md"
ALL = (*WORDS, *FLOWS, *TOOLS)
TEXT = {"type": "string"}


def _schemas() -> dict[str, dict[str, Any]]:
    standard = registry.standard()
    found: dict[str, dict[str, Any]] = {
        name: standard.get(name).action.parameters["properties"] for name in standard.names
    }
    others = {
        "create_artifact": ("id", "title", "content_type", "content"),
        "update_artifact": ("id", "old", "new"),
        "rewrite_artifact": ("id", "content"),
        "read_artifact": ("id",),
        "web_search": ("query",),
        "web_fetch": ("url",),
        "search_agent": ("task",),
        "crawl_agent": ("task",),
    }
    found |= {name: dict.fromkeys(args, TEXT) for name, args in others.items()}
    return {name: {"properties": args, "required": list(args)} for name, args in found.items()}


SCHEMAS = _schemas()


def scene(said: str) -> Scene:
    return scene_of([user(said)], SCHEMAS)


def listed() -> dict[str, tuple[str, ...]]:
    """The tables of the page: the name of each rule, and the texts between backticks in its row."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    rows = [line.strip("| ").split(" | ") for line in lines]
    return {row[0]: tuple(cell.strip("`") for cell in row[1:3]) for row in rows if row[1].startswith("`")}


def test_the_page_lists_every_rule_with_its_examples_and_no_other() -> None:
    assert listed() == {rule.name: rule.examples for rule in ALL}


def test_the_page_names_the_settings() -> None:
    page = PAGE.read_text("utf-8")
    assert "`delay=0`" in page
    assert "`think=no`" in page


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_each_example_fits_its_own_rule_first(rule: Rule) -> None:
    for example in rule.examples:
        assert next(other.name for other in ALL if other.match(example)) == rule.name


@pytest.mark.parametrize("rule", [*FLOWS, *TOOLS], ids=lambda rule: rule.name)
def test_each_tool_rule_calls_tools(rule: Rule) -> None:
    for example in rule.examples:
        assert plan.reply(scene(example)).calls, example


def test_every_tool_of_the_server_can_be_called_by_its_name() -> None:
    for name in SCHEMAS:
        (call,) = plan.reply(scene(f"call {name}")).calls
        assert call.name == name
        assert set(call.args) <= set(SCHEMAS[name]["properties"])


def test_all_tools_are_called_at_once() -> None:
    assert {call.name for call in plan.reply(scene("use every tool")).calls} == set(SCHEMAS)


def test_a_command_may_begin_with_a_polite_word() -> None:
    assert plan.reply(scene("please write hello.py")).calls[0].name == "write_file"
    assert plan.reply(scene("请帮我执行 npm install")).calls[0].args == {"command": "npm install"}


@pytest.mark.parametrize(
    "said",
    [
        "创建一个 hello.py 文件",
        "创建一个hello.py文件",
        "请帮我创建文件 hello.py",
        "写入 hello.py",
        "create a hello.py file",
        "please create the file hello.py",
        "write a new file hello.py",
        "create hello.py",
    ],
)
def test_many_phrasings_write_a_file(said: str) -> None:
    (call,) = plan.reply(scene(said)).calls
    assert (call.name, call.args["path"]) == ("write_file", "hello.py")


@pytest.mark.parametrize("said", ["create a poem", "创建一个网站", "create"])
def test_not_everything_that_is_created_is_a_file(said: str) -> None:
    assert not plan.reply(scene(said)).calls


@pytest.mark.parametrize("said", ["hello", "你好"])
def test_the_hints_only_offer_what_the_tools_allow(said: str) -> None:
    every = plan.reply(scene(said)).text
    files = {name: SCHEMAS[name] for name in ("write_file", "read_file", "list_files")}
    some = plan.reply(scene_of([user(said)], files)).text
    none = plan.reply(scene_of([user(said)], {})).text
    for offered in ("hello.py", "https://example.com/", "ls -la"):
        assert offered in every
        assert offered not in none
    assert "hello.py" in some
    assert "https://example.com/" not in some
    assert "python3" not in some


def test_a_message_is_only_split_into_steps_if_each_is_a_command() -> None:
    (call,) = plan.reply(scene("run echo 1 + 1 then done")).calls
    assert call.args == {"command": "echo 1 + 1 then done"}


def test_arguments_given_in_json_are_taken_as_they_are() -> None:
    calls = plan.reply(scene('call read_file {"path": "a b"} list_files')).calls
    assert [(call.name, call.args.get("path")) for call in calls] == [
        ("read_file", "a b"),
        ("list_files", "demo.txt"),
    ]


def test_a_sub_agent_is_given_its_task() -> None:
    (call,) = plan.reply(scene("ask search-agent to search for trees")).calls
    assert (call.name, call.args) == ("search_agent", {"task": "search for trees"})


def test_numbers_are_bounded() -> None:
    assert rules.WORDS[2].name == "count"
    assert len(plan.reply(scene("count to 99999999999999999999")).text) < 1_000_000


@pytest.mark.parametrize(
    "said",
    [
        "update artifact:" + " " * 100_000 + "x",
        "write a" + " " * 100_000 + "x",
        "run a" + " " * 100_000 + "," + " " * 100_000 + "then b",
        "call " + "a " * 100_000,
        "call a " + '{"a":' * 50_000,
        "ask " * 50_000,
        "然后" * 50_000,
        " + " * 50_000,
        "." * 200_000,
        "create a" + " " * 100_000 + "x.y",
        "创建一个" + " " * 100_000 + "x.y" + " " * 100_000 + "z",
        "创建" + "a" * 200_000 + ".py",
        "research " + "https://" * 50_000,
        "research a" + " " * 200_000 + "b",
        "research " + "a and " * 50_000,
        "研究" + "、" * 200_000,
        "research " + "https://a.example/ with " * 20_000,
    ],
    ids=lambda said: said[:8],
)
def test_long_messages_are_answered_quickly(said: str) -> None:
    plan.reply(scene(said))


@pytest.mark.parametrize("content", [None, "One line", "same\nsame", "# Trees\n\nStatus: reviewed"])
def test_an_update_replaces_what_the_artifact_has_now(content: str | None) -> None:
    said = "create artifact about trees"
    text = ""
    messages = [user(said)]
    more = ["rewrite artifact" if content is None else f"rewrite artifact: {content}", "update artifact"]
    for said in [*more, "update artifact", ""]:
        reply = plan.reply(scene_of(messages, SCHEMAS))
        (call,) = reply.calls
        if call.name == "update_artifact":
            assert text.count(call.args["old"]) == 1
            text = text.replace(call.args["old"], call.args["new"])
        else:
            text = call.args["content"]
        number = str(len(messages))
        messages += [
            Message("assistant", "", tool_calls=({"id": number, "name": call.name, "args": call.args},)),
            Message("tool", "done", tool_call_id=number, name=call.name),
            user(said),
        ]
