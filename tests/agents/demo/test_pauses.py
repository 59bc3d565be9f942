"""The demo model's rules take time linear in the length of a message."""

import time
from typing import Any

import pytest

from caesura.agents.demo import plan
from caesura.agents.demo.rules import TOOLS, WORDS
from caesura.agents.demo.scene import scene_of
from tests.spoken import user

#: Seconds of CPU. A rule that backtracks takes minutes for a message of this length.
LONGEST = 1.0
SIZE = 60_000
EXAMPLES = [example for rule in (*WORDS, *TOOLS) for example in rule.examples]
TOOLS_OF_AGENT: dict[str, dict[str, Any]] = {
    name: {} for name in ("write_file", "read_file", "execute", "list_files", "ask_user")
}


@pytest.mark.parametrize("filler", [" ", ": ", "=>", "a.b ", '{"a":', "文件 "])
def test_no_command_with_a_long_tail_takes_long(filler: str) -> None:
    tail = filler * (SIZE // len(filler.encode()))
    for example in EXAMPLES:
        began = time.thread_time()
        plan.reply(scene_of([user(f"{example}{tail}!")], TOOLS_OF_AGENT))
        assert time.thread_time() - began < LONGEST, example


def test_commands_between_many_joints_do_not_take_long() -> None:
    for joint in (" then ", " + ", "然后", "，接着 ", " + list files then "):
        began = time.thread_time()
        plan.reply(scene_of([user("list files" + joint * (SIZE // len(joint.encode())))], TOOLS_OF_AGENT))
        assert time.thread_time() - began < LONGEST, joint
