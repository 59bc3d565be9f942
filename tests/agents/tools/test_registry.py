"""The registry of tools, their descriptions for people, and which of them need approval."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from caesura.agents.spec import Spec
from caesura.agents.tools import registry
from caesura.agents.tools.execute import report
from caesura.agents.tools.sandbox import Outcome, Sandbox
from caesura.agents.tools.tool import Tool, describe_any, structured
from caesura.core.errors import NotFound
from caesura.core.language import Language

STANDARD = registry.standard()
ROOT = Path(__file__).parents[3]
AGENTS, README = ROOT / "docs/agents.md", ROOT / "README.md"


def test_an_agent_that_names_no_tools_gets_the_standard_ones() -> None:
    assert [tool.name for tool in STANDARD.tools_of(Spec())] == list(registry.DEFAULT)
    assert STANDARD.tools_of(Spec(tools=[])) == []


def test_the_standard_tools_are_those_that_the_documentation_names() -> None:
    (row,) = [line for line in AGENTS.read_text().splitlines() if line.startswith("| `tools` |")]
    assert re.findall("`([a-z_]+)`", row.rpartition(" | ")[2]) == list(registry.DEFAULT)
    (said,) = re.findall(r"usual ones: (.+)", README.read_text())
    kinds = {
        "files": "write_file",
        "commands": "execute",
        "questions": "ask_user",
        "artifacts": "create_artifact",
    }
    assert said.split(", ") == list(kinds)
    assert set(kinds.values()) <= set(registry.DEFAULT)


def test_tools_come_in_the_agents_order_once_and_without_denied_ones() -> None:
    spec = Spec(tools=["execute", "read_file", "execute"], permissions={"read_file": "deny"})
    assert [tool.name for tool in STANDARD.tools_of(spec)] == ["execute"]


@pytest.mark.parametrize(
    ("name", "permission", "repeatable", "asks"),
    [
        ("ask_user", "auto", True, True),
        ("read_file", "auto", True, False),
        ("list_files", "auto", True, False),
        ("write_file", "confirm", True, False),
        ("execute", "confirm", False, False),
        ("web_search", "auto", True, False),
        ("web_fetch", "confirm", True, False),
        ("create_artifact", "auto", True, False),
        ("update_artifact", "auto", True, False),
        ("rewrite_artifact", "auto", True, False),
        ("read_artifact", "auto", True, False),
    ],
)
def test_each_tool_says_whether_it_needs_approval(
    name: str, permission: str, repeatable: bool, asks: bool
) -> None:
    tool = STANDARD.get(name)
    assert (tool.permission, tool.repeatable, tool.asks) == (permission, repeatable, asks)
    assert STANDARD.permission(Spec(), name) == permission


@pytest.mark.parametrize(
    ("name", "args", "chinese", "english"),
    [
        (
            "execute",
            {"command": "npm install"},
            ("执行命令", "正在执行命令: npm install"),
            ("Run a command", "Running command: npm install"),
        ),
        (
            "write_file",
            {"path": "hello.py", "content": "x"},
            ("写入文件", "正在写入文件: hello.py"),
            ("Write a file", "Writing file: hello.py"),
        ),
        (
            "create_artifact",
            {"id": "plan", "content": "x"},
            ("创建文档", "正在创建文档: plan"),
            ("Create an artifact", "Creating artifact: plan"),
        ),
        (
            "update_artifact",
            {"id": "plan", "old": "x", "new": "y"},
            ("更新文档", "正在更新文档: plan"),
            ("Update an artifact", "Updating artifact: plan"),
        ),
        (
            "rewrite_artifact",
            {"id": "plan", "content": "x"},
            ("重写文档", "正在重写文档: plan"),
            ("Rewrite an artifact", "Rewriting artifact: plan"),
        ),
        (
            "read_artifact",
            {"id": "plan"},
            ("读取文档", "正在读取文档: plan"),
            ("Read an artifact", "Reading artifact: plan"),
        ),
        ("read_file", {}, ("读取文件", "正在读取文件: "), ("Read a file", "Reading file: ")),
    ],
)
def test_calls_are_described_for_people(
    name: str, args: dict[str, str], chinese: tuple[str, str], english: tuple[str, str]
) -> None:
    assert STANDARD.get(name).describe(args, "zh")[:2] == chinese
    assert STANDARD.get(name).describe(args, "en")[:2] == english


def told(name: str, args: dict[str, object], language: Language = "en") -> str:
    return STANDARD.get(name).describe(args, language).description


def test_a_command_is_described_in_full_and_with_its_length() -> None:
    long = "echo " + "x" * 300
    assert told("execute", {"command": long}) == f"Running command (305 characters): {long}"
    assert told("execute", {"command": "cd a\nrm -rf ."}, "zh") == (
        r"正在执行命令（13 个字符，2 行）: cd a\nrm -rf ."
    )
    assert told("execute", {"command": r"a\nb"}) == r"Running command (4 characters): a\\nb"
    assert told("execute", {"command": ["rm", "x"]}) == 'Running command: ["rm","x"]'


def test_a_length_forged_by_a_command_appears_after_the_colon() -> None:
    forged = "(5 characters): ls"
    assert told("execute", {"command": forged}) == "Running command: (5 characters): ls"
    assert told("execute", {"command": f"{forged}\n"}) == (
        r"Running command (19 characters): (5 characters): ls\n"
    )


def test_a_file_is_described_with_the_length_of_its_content() -> None:
    content = "a\n" * 1234
    assert told("write_file", {"path": "a.py", "content": content}) == (
        "Writing file (content: 2,468 characters, 1,234 lines): a.py"
    )
    assert told("write_file", {"path": "a ", "content": "x\ry\n"}, "zh") == (
        r"正在写入文件（2 个字符；content：4 个字符，2 行）: a\x20"
    )


def test_a_truncated_description_begins_with_a_note() -> None:
    for command, shown in (("x" * 100_000, 65_536), ("\x1b\x9b" * 50_000, 16_384)):
        description = told("execute", {"command": command})
        assert len(description) < 66_000
        assert description.startswith(
            f"Running command (100,000 characters; only the first {shown:,} are shown here, "
            "all of them are in args): "
        )
    assert "只显示前 65536 个，全文见 args" in told("execute", {"command": "x" * 100_000}, "zh")[:60]


def test_any_tool_can_be_described_with_all_its_arguments() -> None:
    describe = describe_any("web_fetch")
    assert describe({"url": "u", "n": 1}, "en")[:2] == (
        "Use a tool",
        'Using tool: web_fetch {"url":"u","n":1}',
    )
    assert describe_any("now")({}, "zh")[:2] == ("使用工具", "正在使用工具: now")
    assert describe({"url": "u\n\u202e"}, "en").description == (
        r'Using tool (14 characters): web_fetch {"url":"u\n\u202e"}'
    )


def test_an_unknown_tool_is_not_found() -> None:
    with pytest.raises(NotFound, match="tool not found: publish"):
        STANDARD.get("publish")


async def _publish(text: str) -> str:
    return text


def test_more_tools_can_be_added() -> None:
    more = STANDARD.extended([Tool("publish", structured(_publish, "Publish."), describe_any("publish"))])
    assert more.names == STANDARD.names | {"publish"}
    assert "publish" not in STANDARD.names
    assert [tool.name for tool in more.tools_of(Spec(tools=["publish"]))] == ["publish"]


def test_models_see_only_the_arguments_that_they_can_give() -> None:
    shown = {name: set(STANDARD.get(name).schema.parameters["properties"]) for name in registry.DEFAULT}
    assert shown == {
        "ask_user": {"questions"},
        "read_file": {"path"},
        "list_files": {"path"},
        "write_file": {"path", "content"},
        "execute": {"command"},
        "create_artifact": {"id", "title", "content_type", "content"},
        "update_artifact": {"id", "old", "new"},
        "rewrite_artifact": {"id", "content"},
        "read_artifact": {"id", "version"},
    }


def test_the_report_always_says_how_a_command_ended() -> None:
    sandbox = Sandbox()
    assert report(Outcome(0, "hi\n", cut=False), sandbox) == "hi\n[exit code 0]"
    assert report(Outcome(3, "", cut=False), sandbox) == "[exit code 3]"
    ended = report(Outcome(None, "x", cut=True), sandbox)
    assert ended.splitlines()[1:] == [
        "[cut: only the first 262144 bytes of output are shown]",
        "[ended: the command took longer than 30 seconds]",
    ]
