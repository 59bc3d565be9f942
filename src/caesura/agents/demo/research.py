"""The research of the demo model: it searches, reads pages, writes an artifact, revises it, and sums up.

The next step follows from the calls so far. A step that is refused or fails is reported, and the others are
made all the same. A step whose tools are missing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from caesura.agents.demo import calls, words
from caesura.agents.demo.calls import Match
from caesura.agents.demo.scene import Call, Called, Reply, Scene

#: The most topics of one message, and the most pages that are read.
_MOST = 3
#: Addresses of a message that are looked at: some may be the same.
_LOOKED_AT = 100
_LONGEST_TOPIC, _LONGEST_QUOTE = 200, 1500
# These patterns do not backtrack, however long the text is.
_ADDRESS = re.compile(r"https?://[^\s<>\"'`()\[\]{}|\\（）【】《》“”，。；、…]{1,2000}+")
_AND = re.compile(r"(?<!\s)\s++(?:and|和|与)\s++|(?<!\s)\s*+、\s*+", re.IGNORECASE)
_AROUND = " \t.,;:!?。，；：！？"
#: What may stand before an address and between two: `trees with A and B` is about trees.
_BEFORE_ADDRESS = re.compile(
    r"(?:\s(?:with|using|from|at|and|see)(?!\S)|\s?(?:参考|使用|用|和|与|见|、))+\Z", re.IGNORECASE
)
_VERB = re.compile(r"\A(?:search for|fetch|搜索|抓取) ")
_SEARCH, _READ = ("search_agent", "web_search"), ("crawl_agent", "web_fetch")


class _Subject(NamedTuple):
    topics: tuple[str, ...]
    addresses: tuple[str, ...]

    @property
    def title(self) -> str:
        return ", ".join(self.topics or self.addresses[:1])


class _Finding(NamedTuple):
    """What came of a search or of reading a page. `asked` is the topic or the address."""

    asked: str
    outcome: words.Outcome
    text: str


def reply(scene: Scene, match: Match) -> Reply:
    subject = _subject(scene, match["topic"])
    if not any(name in scene.tools for name in (*_SEARCH, *_READ)):
        return Reply(
            scene.say(
                "This agent has no tools for research. Caesura's own lead_agent has them.",
                "这个智能体没有用于研究的工具，Caesura 自带的 lead_agent 有。",
            )
        )
    return _searching(scene, subject) or _reading(scene, subject) or _writing(scene, subject)


def _subject(scene: Scene, text: str) -> _Subject:
    found = list(islice(_ADDRESS.finditer(text), _LOOKED_AT))
    if len(found) == _LOOKED_AT:  # what follows is neither a topic nor read
        text = text[: found[-1].end()]
    addresses = tuple(dict.fromkeys(match[0].rstrip(_AROUND) for match in found))
    topic = " ".join(_ADDRESS.sub(" ", text).split())[:_LONGEST_TOPIC]
    if addresses:
        topic = _BEFORE_ADDRESS.sub("", f" {topic}")
    parts = (part.strip(_AROUND) for part in _AND.split(topic, maxsplit=_MOST - 1))
    topics = tuple(dict.fromkeys(part for part in parts if part))
    if not (topics or addresses):
        topics = (scene.say("demo", "演示"),)
    return _Subject(topics, addresses[:_MOST])


def _searching(scene: Scene, subject: _Subject) -> Reply | None:
    if _made(scene, _SEARCH):
        return None
    return _asking(scene, _SEARCH, subject.topics, ("search for", "搜索"), "query")


def _reading(scene: Scene, subject: _Subject) -> Reply | None:
    if _made(scene, _READ):
        return None
    return _asking(scene, _READ, _addresses(scene, subject), ("fetch", "抓取"), "url")


def _asking(
    scene: Scene, ways: tuple[str, str], items: Sequence[str], verb: tuple[str, str], argument: str
) -> Reply | None:
    """Ask the sub-agent once for each item, all at once; without a sub-agent call its tool."""
    name = next((way for way in ways if way in scene.tools), None)
    if name is None or not items:
        return None
    what = scene.say(*verb)
    if name == ways[0]:
        wanted = [calls.task(scene, name, f"{what} {item}") for item in items]
    else:
        wanted = [Call(name, {argument: item}) for item in items]
    listed = ", ".join(items)
    text = scene.say(f"I let {name} {what} {listed}.", f"我让 {name} {what} {listed}。")
    return Reply(text, scene.say(f"For this I need: {name}.", f"为此我需要：{name}。"), tuple(wanted))


def _addresses(scene: Scene, subject: _Subject) -> list[str]:
    """The pages to read: those that the person names, otherwise the first one that each search found."""
    if subject.addresses:
        return list(subject.addresses)
    found = [_ADDRESS.search(item.text) for item in _findings(scene, _SEARCH) if item.outcome == "done"]
    return list(dict.fromkeys(match[0].rstrip(_AROUND) for match in found if match))[:_MOST]


def _writing(scene: Scene, subject: _Subject) -> Reply:
    artifact = _name(subject)
    create, rewrite = _made(scene, ("create_artifact",)), _made(scene, ("rewrite_artifact",))
    content = _draft(scene, subject)
    if not create and "create_artifact" in scene.tools:
        args = {"id": artifact, "title": subject.title[:100], "content_type": calls.MARKDOWN}
        text = scene.say(f"I write it down in the artifact `{artifact}`.", f"我把结果写进文档 `{artifact}`。")
        return Reply(text, "", (Call("create_artifact", {**args, "content": content}),))
    if not rewrite and "rewrite_artifact" in scene.tools and _only_failed(create):
        text = scene.say("That did not work: I try to write it anew.", "没有成功：我试着重写。")
        return Reply(text, "", (Call("rewrite_artifact", {"id": artifact, "content": content}),))
    if _written(scene) and "update_artifact" in scene.tools and not _made(scene, ("update_artifact",)):
        old, new = _head(scene, subject, "draft"), _head(scene, subject, "reviewed")
        text = scene.say("I read it again and revise it.", "我再读一遍并修改。")
        return Reply(text, "", (Call("update_artifact", {"id": artifact, "old": old, "new": new}),))
    return Reply(_summary(scene, subject), scene.say("Now I sum up.", "现在总结。"))


def _name(subject: _Subject) -> str:
    """The same for the same subject."""
    return f"research-{calls.slug(subject.title) or 'note'}"


def _head(scene: Scene, subject: _Subject, status: str) -> str:
    state = calls.DRAFT if status == "draft" else calls.REVIEWED
    return f"# {subject.title}\n\n{state[scene.language]}"


def _draft(scene: Scene, subject: _Subject) -> str:
    parts = [_head(scene, subject, "draft")]
    for ways, english, chinese in ((_SEARCH, "Searched", "搜索"), (_READ, "Read", "阅读")):
        for item in _findings(scene, ways):
            heading = scene.say(f"{english}: {item.asked}", f"{chinese}：{item.asked}")
            parts += [f"## {heading}", _quoted(item.text)]
    return "\n\n".join(
        [*parts, scene.say("Put together by rules, without AI.", "由规则拼成，没有人工智能。")]
    )


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"
    return "\n".join(f"> {line}".rstrip() for line in shown.splitlines()) or "> –"


def _summary(scene: Scene, subject: _Subject) -> str:
    searches, pages = _findings(scene, _SEARCH), _findings(scene, _READ)
    found, read = (sum(item.outcome == "done" for item in items) for items in (searches, pages))
    lines = [
        scene.say(
            f"I have researched {subject.title}. Searches: {found}. Pages read: {read}.",
            f"我研究了{subject.title}。搜索 {found} 次，阅读网页 {read} 个。",
        )
    ]
    lines += [_missing(scene, item) for item in (*searches, *pages) if item.outcome != "done"]
    if not pages:
        lines.append(scene.say("There was no address to read.", "没有可以阅读的网址。"))
    return "\n\n".join([*lines, _about_artifact(scene, subject)])


def _missing(scene: Scene, item: _Finding) -> str:
    if item.outcome == "refused":
        return scene.say(
            f"You refused {item.asked}, so I did without it.", f"您拒绝了 {item.asked}，所以略过。"
        )
    reason = item.text[:_LONGEST_TOPIC]
    return scene.say(f"This did not work: {item.asked} ({reason})", f"没有成功：{item.asked}（{reason}）")


def _about_artifact(scene: Scene, subject: _Subject) -> str:
    name, revised = f"`{_name(subject)}`", _made(scene, ("update_artifact",))
    if not _written(scene):
        made = _made(scene, ("create_artifact", "rewrite_artifact"))
        reason = f" ({made[-1].result.text[:_LONGEST_TOPIC]})" if made else ""
        return scene.say("No artifact was written.", "没有写成文档。") + reason
    if revised and not _failed(revised):
        english = f"The artifact {name} has it all. I wrote a draft, and then revised it."
        return scene.say(english, f"全部写在文档 {name} 里：先写了草稿，又修改过。")
    return scene.say(f"The artifact {name} has it all, as a draft.", f"全部写在文档 {name} 里，还是草稿。")


def _written(scene: Scene) -> bool:
    made = [_made(scene, (name,)) for name in ("create_artifact", "rewrite_artifact")]
    return any(called and not _failed(called) for called in made)


def _made(scene: Scene, names: Sequence[str]) -> list[Called]:
    return [called for called in scene.calls if called.name in names]


def _failed(made: Sequence[Called]) -> bool:
    return any(called.result.failed or called.result.refused for called in made)


def _only_failed(made: Sequence[Called]) -> bool:
    """Whether it was tried and went wrong, for example because the artifact exists. A refusal is final."""
    return _failed(made) and not any(called.result.refused for called in made)


def _findings(scene: Scene, ways: tuple[str, str]) -> list[_Finding]:
    return [_finding(scene, called) for called in _made(scene, ways)]


def _finding(scene: Scene, called: Called) -> _Finding:
    """A sub-agent that is the demo model too says in its own words what became of its tool."""
    result = called.result
    asked = next((value for value in called.args.values() if isinstance(value, str)), "")
    asked = _VERB.sub("", asked.removesuffix(scene.settings))
    if result.refused or result.failed:
        return _Finding(asked, "refused" if result.refused else "failed", result.text)
    return _Finding(asked, *words.reported(result.text.strip()))
