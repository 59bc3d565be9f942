"""The demo model's description of itself: what a person can try with the agent's tools."""

from __future__ import annotations

from typing import NamedTuple

from caesura.agents.demo.scene import Scene

_FIRST_EN = "I am the demo model: no AI, only rules, so that everything here can be tried without a key. Try:"
_FIRST_ZH = "我是演示模型：不是人工智能，只有规则，所以不用密钥也能试用这里的一切。可以试试："
_LAST_EN = "With a key of a real provider the same agents run on a real model."
_LAST_ZH = "有了真实服务商的密钥，同样的智能体会运行在真实模型上。"


class _Hint(NamedTuple):
    """A hint that is shown if the agent has all of these tools."""

    english: str
    chinese: str
    tools: tuple[str, ...] = ()


_LINES: tuple[tuple[_Hint, ...], ...] = (
    (
        _Hint("`write hello.py` (needs your consent)", "`写文件 hello.py`（需要您同意）", ("write_file",)),
        _Hint("`run ls -la` (needs your consent)", "`执行 ls -la`（需要您同意）", ("execute",)),
    ),
    (
        _Hint("`read hello.py`", "`读取 hello.py`", ("read_file",)),
        _Hint("`list files`", "`列出文件`", ("list_files",)),
    ),
    (_Hint("`ask me 3 questions`", "`问我3个问题`", ("ask_user",)),),
    (
        _Hint(
            "`delete the old rows` (asks back first, in words; `approval-agent` waits for your answer)",
            "`删除过期数据`（会先用文字征求同意；`approval-agent` 会等你回答）",
        ),
    ),
    (
        _Hint(
            "`write hello.py then run python3 hello.py`",
            "`写文件 hello.py 然后 执行 python3 hello.py`",
            ("write_file", "execute"),
        ),
    ),
    (
        _Hint("`create artifact about trees`", "`创建文档 树木`", ("create_artifact",)),
        _Hint("`search for trees`", "`搜索 树木`", ("web_search",)),
        _Hint("`fetch https://example.com/`", "`抓取 https://example.com/`", ("web_fetch",)),
    ),
    (
        _Hint(
            "`research trees` (asks before it reads a page)",
            "`研究 树木`（阅读网页前会征求同意）",
            ("search_agent", "crawl_agent"),
        ),
        _Hint("`ask search_agent to search for trees`", "`让 search_agent 搜索 树木`", ("search_agent",)),
    ),
    (
        _Hint("`count to 50`", "`数到50`"),
        _Hint("`think about trees`", "`思考 树木`"),
        _Hint("`show markdown`", "`展示 markdown`"),
        _Hint("`what did I say first?`", "`我第一句说了什么`"),
    ),
    (
        _Hint("`fail`", "`失败`"),
        _Hint("`fail midway`", "`中途失败`"),
        _Hint("`loop`", "`循环`", ("list_files",)),
        _Hint("`broken arguments`", "`坏的参数`", ("read_file",)),
    ),
)


def text(scene: Scene) -> str:
    lines = [_line(scene, hints) for hints in _LINES]
    listed = "\n".join(f"- {line}" for line in lines if line)
    return f"{scene.say(_FIRST_EN, _FIRST_ZH)}\n\n{listed}\n\n{scene.say(_LAST_EN, _LAST_ZH)}"


def _line(scene: Scene, hints: tuple[_Hint, ...]) -> str:
    fitting = [hint for hint in hints if all(tool in scene.tools for tool in hint.tools)]
    return scene.say(", ", "，").join(scene.say(hint.english, hint.chinese) for hint in fitting)
