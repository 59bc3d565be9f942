"""The sentences of the demo model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from caesura.agents.demo import hints
from caesura.agents.demo.scene import Reply, Result, Scene

_SHOWN = 2000
#: Tools whose results are lines. A file that is Markdown is shown as what it is.
_LINES = frozenset({"execute", "list_files", "read_file"})
_MARKDOWN_FILE = re.compile(r"(?:cat )?[^\s;|&]{1,255}\.md")
Outcome = Literal["done", "refused", "failed"]
#: How `_acknowledged` begins, for each outcome.
_BEGINNINGS: tuple[tuple[Outcome, re.Pattern[str]], ...] = (
    ("done", re.compile(r"`[\w-]+` (?:is done\. It says:|已完成，结果是：)\s+")),
    ("refused", re.compile(r"(?:You refused|您拒绝了) `[\w-]+`")),
    ("failed", re.compile(r"`[\w-]+` (?:failed: |失败：)")),
)

_MARKDOWN_EN = """# A heading

Some **bold**, some *italic*, some `code`, and a [link](https://example.com/).

1. first
2. second
   - inside

| fruit | count |
|---|---:|
| apples | 3 |
| pears | 12 |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

> A quotation.

The end."""

_MARKDOWN_ZH = """# 标题

**粗体**、*斜体*、`代码`，还有[链接](https://example.com/)。

1. 第一
2. 第二
   - 里面

| 水果 | 数量 |
|---|---:|
| 苹果 | 3 |
| 梨 | 12 |

```python
def greet(name: str) -> str:
    return f"你好，{name}！"
```

> 一段引文。

结束。"""


def explanation(scene: Scene) -> Reply:
    thinking = scene.say(
        "Nothing I know how to do is asked, so I explain myself.", "没有我会做的事，所以介绍一下自己。"
    )
    return Reply(hints.text(scene), thinking)


def markdown(scene: Scene) -> str:
    return scene.say(_MARKDOWN_EN, _MARKDOWN_ZH)


def closing(scene: Scene) -> Reply:
    """The reply when the tools are done: it acknowledges every result, refusal and answer."""
    lines = [_acknowledged(scene, result, args) for result, args in scene.answered]
    thinking = scene.say("The tools have answered; I report what they said.", "工具已有结果，我来汇报。")
    return Reply("\n\n".join(lines) or scene.say("Done.", "完成。"), thinking)


def reported(text: str) -> tuple[Outcome, str]:
    """What a sub-agent says of its tool, if it is the demo model too: the outcome, and the tool's text."""
    for outcome, beginning in _BEGINNINGS:
        if found := beginning.match(text):
            return outcome, text if outcome == "refused" else text[found.end() :]
    return "done", text


def _acknowledged(scene: Scene, result: Result, args: Mapping[str, Any]) -> str:
    name, text = result.name or scene.say("the tool", "工具"), result.text.strip()
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    if result.refused and name == "ask_user":
        return scene.say("You chose not to answer, so I leave it at that.", "您没有回答，那就到此为止。")
    if result.refused:
        english = f"You refused `{name}`, so it was not done. ({shown})"
        return scene.say(english, f"您拒绝了 `{name}`，所以没有执行。（{shown}）")
    if result.failed:
        return scene.say(f"`{name}` failed: {shown}", f"`{name}` 失败：{shown}")
    if name == "ask_user":
        listed = "\n".join(f"- {line}" for line in shown.splitlines())
        return scene.say(f"Thank you. You answered:\n\n{listed}", f"谢谢，您的回答是：\n\n{listed}")
    if name in _LINES and not any(_MARKDOWN_FILE.fullmatch(str(value)) for value in args.values()):
        shown = _fenced(shown)
    return scene.say(f"`{name}` is done. It says:\n\n{shown}", f"`{name}` 已完成，结果是：\n\n{shown}")


def _fenced(text: str) -> str:
    """The text as a block of code. Its fence is longer than any run of backticks in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def numbers(scene: Scene, last: int) -> str:
    return " ".join(str(number) for number in range(1, last + 1)) + scene.say(" done.", " 数完了。")


def story(scene: Scene, length: int) -> str:
    """A text of `length` words, or characters in Chinese."""
    if scene.language == "zh":
        line = "这是一段很长的演示文字，用来试验流式输出。"
        return (line * (length // len(line) + 1))[:length]
    words = ("this", "text", "is", "long", "and", "streams", "word", "by", "word", "until", "its", "end")
    return " ".join(words[index % len(words)] for index in range(length))


def thought(scene: Scene, topic: str) -> Reply:
    thinking = scene.say(
        f"The topic is {topic}. First I look at it from one side. Then from the other side. "
        "Then I notice that I am only a set of rules. So I come to an end.",
        f"主题是{topic}。先从一方面看。再从另一方面看。然后发现我只是一组规则。于是到此为止。",
    )
    text = scene.say(
        f"I have thought about {topic}, as far as rules can think.",
        f"我思考了{topic}，规则能想到的就是这些。",
    )
    return Reply(text, thinking)


def request(scene: Scene) -> Reply:
    """A reply that asks for a confirmation in its text."""
    wish = scene.said.rstrip(" .!?。！？")
    text = scene.say(
        f"You want me to do this: {wish}. This cannot be undone. Please confirm that I may go on with it.",
        f"您要我做的是：{wish}。此操作不可逆。请确认是否可以进行。",
    )
    thinking = scene.say("This cannot be undone, so I ask first.", "这一步不可逆，所以先问一下。")
    return Reply(text, thinking)


def decided(scene: Scene, confirmed: bool) -> Reply:
    if confirmed:
        text = scene.say(
            "You have given your consent. A real agent would do it now; I only say so. Done.",
            "已收到您的确认。真正的智能体现在会执行；我只是说说。完成。",
        )
    else:
        text = scene.say("You said no, so nothing was done.", "您没有同意，所以什么都没有做。")
    return Reply(text)


def remembered(scene: Scene, first: bool) -> str:
    earlier = scene.earlier
    if not earlier:
        return scene.say(
            "This is the first thing you say in this conversation.", "这是您在这个对话里说的第一句话。"
        )
    if first:
        return scene.say(f"The first thing you said was: {earlier[0]}", f"您第一句说的是：{earlier[0]}")
    listed = "\n".join(
        f"{number}. {text}" for number, text in enumerate(earlier[-20:], max(1, len(earlier) - 19))
    )
    return scene.say(f"Before this you said:\n{listed}", f"您之前说过：\n{listed}")
