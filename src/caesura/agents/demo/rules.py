"""The rules of the demo model: which messages trigger which behaviour. The docs list the examples of each
rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from caesura.agents.demo import calls, research, words
from caesura.agents.demo.calls import Calls, Match
from caesura.agents.demo.scene import Reply, Scene

_LARGEST = 100_000
_POLITE = r"\s*(?:(?:please|can you|could you|now)\s+|(?:请帮我|请|帮我)(?!求)\s*)?"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule applies when the whole message, after an optional polite word, matches one of its patterns."""

    name: str
    does: Callable[[Scene, Match], Reply | Calls]
    english: str
    chinese: str
    examples: tuple[str, str]

    def match(self, text: str) -> Match | None:
        flags = re.IGNORECASE | re.DOTALL
        found = (re.match(rf"{_POLITE}(?:{p})\Z", text, flags) for p in (self.english, self.chinese))
        return next((match for match in found if match), None)


def _said(scene: Scene, match: Match) -> Reply:
    return Reply(match["text"])


def _silent(scene: Scene, match: Match) -> Reply:
    return Reply()


def _counted(scene: Scene, match: Match) -> Reply:
    return Reply(words.numbers(scene, _number(match)))


def _story(scene: Scene, match: Match) -> Reply:
    return Reply(words.story(scene, _number(match)))


def _thought(scene: Scene, match: Match) -> Reply:
    return words.thought(scene, match["topic"])


def _formatted(scene: Scene, match: Match) -> Reply:
    return Reply(words.markdown(scene))


def _first(scene: Scene, match: Match) -> Reply:
    return Reply(words.remembered(scene, first=True))


def _earlier(scene: Scene, match: Match) -> Reply:
    return Reply(words.remembered(scene, first=False))


def _waited(scene: Scene, match: Match) -> Reply:
    return Reply(scene.say("I have waited.", "我等过了。"), wait=float(min(_number(match), 3600)))


def _failed(scene: Scene, match: Match) -> Reply:
    failures = _number(match) if match["number"] else None
    return Reply(scene.say("This time it worked.", "这次成功了。"), breaks=0.0, failures=failures)


def _broken_off(scene: Scene, match: Match) -> Reply:
    return Reply(words.story(scene, 40), breaks=0.5)


def _requested(scene: Scene, match: Match) -> Reply:
    return words.request(scene)


def _number(match: Match) -> int:
    return min(int(match["number"][:9]), _LARGEST)


_NUMBER = r"(?P<number>[0-9]+)"

#: Rules whose reply is text only.
WORDS: tuple[Rule, ...] = (
    Rule("silence", _silent, r"say nothing", r"什么都不说", ("say nothing", "什么都不说")),
    Rule(
        "echo", _said, r"(?:echo|say)\s+(?P<text>.+)", r"复述\s*(?P<text>.+)", ("echo good day", "复述 你好")
    ),
    Rule("count", _counted, rf"count to {_NUMBER}", rf"数到\s*{_NUMBER}", ("count to 200", "数到200")),
    Rule("long", _story, rf"long {_NUMBER}", rf"长文\s*{_NUMBER}", ("long 500", "长文 500")),
    Rule(
        "think",
        _thought,
        r"think about (?P<topic>.+)",
        r"思考\s*(?P<topic>.+)",
        ("think about trees", "思考 树木"),
    ),
    Rule("markdown", _formatted, r"show markdown", r"展示\s*markdown", ("show markdown", "展示 markdown")),
    Rule(
        "first words",
        _first,
        r"what did i say first\??",
        r"我第一句说了什么[?？]?",
        ("what did I say first?", "我第一句说了什么"),
    ),
    Rule(
        "earlier words",
        _earlier,
        r"what did i say(?: before)?\??",
        r"我(?:之前|刚才)说了什么[?？]?",
        ("what did I say before?", "我之前说了什么"),
    ),
    Rule(
        "wait",
        _waited,
        rf"wait {_NUMBER} seconds?",
        rf"等待\s*{_NUMBER}\s*秒",
        ("wait 3 seconds", "等待 3 秒"),
    ),
    Rule("break off", _broken_off, r"fail midway", r"中途失败", ("fail midway", "中途失败")),
    Rule(
        "fail",
        _failed,
        rf"fail(?: {_NUMBER} times?)?",
        rf"失败(?:\s*{_NUMBER}\s*次)?",
        ("fail", "失败"),
    ),
    Rule(
        "confirm",
        _requested,
        r"(?:delete|deploy|drop|remove) .+|ask me to confirm",
        r"(?:删除|部署|清空).+|请求同意",
        ("delete the old rows", "部署 v2.0 到生产环境"),
    ),
)

#: Rules that go through several steps, each of which depends on the results of the steps before.
FLOWS: tuple[Rule, ...] = (
    Rule(
        "research",
        research.reply,
        r"research (?P<topic>.+)",
        r"(?:研究|调研)(?:一下)?\s*(?P<topic>.+)",
        ("research trees", "研究 树木"),
    ),
)

_ARTIFACT = r"(?:an |the )?artifact"
_CHANGE = r"(?:\s*[:：]\s*+(?P<old>.+?)=>(?P<new>.*))?"
_CONTENT = r"(?:\s*[:：]\s*(?P<content>.+))?"
_PATH = r"(?P<path>[^\s:：]+)"
_LEAST_PATH = r"(?P<path>[^\s:：]+?)"
#: "Create" may mean many things. It means a file only if the message says "file" or has a name like
#: `hello.py`.
_A_FILE = r"(?=.*(?:\bfile\b|文件|\w\.\w))"
_ID = r"(?:\s+(?P<id>\S+))?"

#: Rules whose reply calls tools; several can be joined with `then` and `+`.
TOOLS: tuple[Rule, ...] = (
    Rule(
        "create artifact",
        calls.create_artifact,
        rf"(?:create|write) {_ARTIFACT}(?: about)?(?P<topic>.*)",
        r"(?:创建|写)文档(?P<topic>.*)",
        ("create artifact about trees", "创建文档 树木"),
    ),
    Rule(
        "update artifact",
        calls.update_artifact,
        rf"update {_ARTIFACT}{_CHANGE}",
        rf"更新文档{_CHANGE}",
        ("update artifact", "更新文档"),
    ),
    Rule(
        "rewrite artifact",
        calls.rewrite_artifact,
        rf"rewrite {_ARTIFACT}{_CONTENT}",
        rf"重写文档{_CONTENT}",
        ("rewrite artifact", "重写文档"),
    ),
    Rule(
        "read artifact",
        calls.read_artifact,
        rf"read {_ARTIFACT}{_ID}",
        rf"读取文档{_ID}",
        ("read artifact", "读取文档"),
    ),
    Rule(
        "write file",
        calls.write,
        rf"(?:write|create{_A_FILE}) (?:an? |the )?(?:new )?(?:file )?{_PATH}(?: file)?{_CONTENT}",
        rf"(?:写入?|创建{_A_FILE})(?:一个)?\s*+(?:文件)?\s*+{_LEAST_PATH}(?:\s*+文件)?{_CONTENT}",
        ("write hello.py: print(1)", "写文件 hello.py"),
    ),
    Rule(
        "read file",
        calls.read,
        rf"read (?:the )?(?:file )?{_PATH}",
        rf"读取(?:文件)?\s*{_PATH}",
        ("read hello.py", "读取 hello.py"),
    ),
    Rule(
        "list files",
        calls.listing,
        rf"list (?:the )?files(?: in {_PATH})?",
        rf"列出文件(?:\s+{_PATH})?",
        ("list files", "列出文件"),
    ),
    Rule(
        "run",
        calls.run,
        r"(?:run|execute) (?P<command>.+)",
        r"(?:执行|运行)(?:命令)?\s*[:：]?\s*(?P<command>.+)",
        ("run npm install", "执行 npm install"),
    ),
    Rule(
        "ask",
        calls.ask,
        r"ask me (?P<count>[0-9]{1,3}|a|one|two|three) questions?",
        r"问我\s*(?P<count>[0-9]{1,3}|[一两二三])\s*个问题",
        ("ask me 3 questions", "问我三个问题"),
    ),
    Rule(
        "search",
        calls.search,
        r"search (?:for )?(?P<query>.+)",
        r"搜索\s*(?P<query>.+)",
        ("search for trees", "搜索 树木"),
    ),
    Rule(
        "fetch",
        calls.fetch,
        r"fetch (?P<url>\S+)",
        r"抓取\s*(?P<url>\S+)",
        ("fetch https://example.com/", "抓取 https://example.com/"),
    ),
    Rule(
        "delegate",
        calls.delegate,
        r"(?:ask|let) (?P<agent>[\w-]+) (?:to )?(?P<task>.+)",
        r"让\s*(?P<agent>[A-Za-z0-9_-]+)\s*(?P<task>.+)",
        ("ask search_agent to search for trees", "让 search_agent 搜索 树木"),
    ),
    Rule(
        "call",
        calls.named,
        r"call (?P<rest>.+)",
        r"调用\s*(?P<rest>.+)",
        ('call read_file {"path": "hello.py"}', '调用 list_files {"path": "."} read_file'),
    ),
    Rule("every tool", calls.every, r"use every tool", r"使用所有工具", ("use every tool", "使用所有工具")),
    Rule(
        "at once",
        calls.together,
        r"do two things at once",
        r"一次做两件事",
        ("do two things at once", "一次做两件事"),
    ),
    Rule("two approvals", calls.approvals, r"two approvals", r"两个审批", ("two approvals", "两个审批")),
    Rule(
        "loop",
        calls.loop,
        r"loop(?: (?P<count>[0-9]{1,6}) times?)?",
        r"循环(?:\s*(?P<count>[0-9]{1,6})\s*次)?",
        ("loop", "循环 3 次"),
    ),
    Rule("unknown tool", calls.unknown, r"unknown tool", r"未知工具", ("unknown tool", "未知工具")),
    Rule(
        "broken arguments", calls.broken, r"broken arguments", r"坏的参数", ("broken arguments", "坏的参数")
    ),
    Rule(
        "wrong arguments", calls.wrong, r"wrong arguments", r"错误的参数", ("wrong arguments", "错误的参数")
    ),
)
