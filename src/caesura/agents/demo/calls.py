"""The tool calls that the demo model can make."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from caesura.agents.demo.scene import Call, Scene

NOTE = "demo-note"
MARKDOWN = "markdown"
_MOST = 100
DRAFT, REVIEWED = (
    {"en": "Status: draft", "zh": "状态：草稿"},
    {"en": "Status: reviewed", "zh": "状态：已审阅"},
)
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "一": 1, "两": 2, "二": 2, "三": 3}
_UNSAFE = re.compile(r"[\W_]+")

Calls = list[Call] | None
Match = re.Match[str]


def write(scene: Scene, match: Match) -> Calls:
    path = match["path"]
    greeting = scene.say("hello from the demo model", "演示模型向您问好")
    content = match["content"] or (f'print("{greeting}")\n' if path.endswith(".py") else f"{greeting}\n")
    return [Call("write_file", {"path": path, "content": content})]


def read(scene: Scene, match: Match) -> Calls:
    return [Call("read_file", {"path": match["path"]})]


def listing(scene: Scene, match: Match) -> Calls:
    return [Call("list_files", {"path": match["path"] or "."})]


def run(scene: Scene, match: Match) -> Calls:
    return [Call("execute", {"command": match["command"]})]


def ask(scene: Scene, match: Match) -> Calls:
    count = _NUMBERS.get(match["count"] or "a") or int(match["count"])
    known = _questions(scene)
    questions = [known[index % len(known)] for index in range(min(count, 100))]
    return [Call("ask_user", {"questions": questions})]


def create_artifact(scene: Scene, match: Match) -> Calls:
    topic = match["topic"].strip() or scene.say("demo", "演示")
    content = "\n\n".join(
        (f"# {topic}", DRAFT[scene.language], scene.say("Written by rules.", "由规则写成。"))
    )
    name = slug(topic) or NOTE
    args = {"id": name, "title": topic[:100], "content_type": MARKDOWN, "content": content}
    return [Call("create_artifact", args)]


def update_artifact(scene: Scene, match: Match) -> Calls:
    name = _artifact(scene)
    old, new = (match["old"], match["new"]) if match["old"] else _revision(scene, name)
    return [Call("update_artifact", {"id": name, "old": old.strip(), "new": new.strip()})]


def rewrite_artifact(scene: Scene, match: Match) -> Calls:
    content = match["content"] or scene.say("# Written anew\n\nBy rules.", "# 重写\n\n由规则写成。")
    return [Call("rewrite_artifact", {"id": _artifact(scene), "content": content.strip()})]


def read_artifact(scene: Scene, match: Match) -> Calls:
    return [Call("read_artifact", {"id": match["id"] or _artifact(scene)})]


def search(scene: Scene, match: Match) -> Calls:
    return [Call("web_search", {"query": match["query"]})]


def fetch(scene: Scene, match: Match) -> Calls:
    return [Call("web_fetch", {"url": match["url"]})]


def delegate(scene: Scene, match: Match) -> Calls:
    """Give a task to a sub-agent, which is a tool with the agent's name and one text argument."""
    wanted = match["agent"].lower().replace("-", "_")
    name = next((tool for tool in scene.tools if tool.lower().replace("-", "_") == wanted), None)
    if name is None:
        return None
    return [task(scene, name, match["task"])]


def task(scene: Scene, name: str, text: str) -> Call:
    """A task for a sub-agent, with the settings of the person's message: they hold for its answers too."""
    return Call(name, sample(scene, scene.tools[name], text=f"{text}{scene.settings}"))


def slug(text: str) -> str:
    """The letters and the digits at the beginning of a text, as an id; empty if it has none."""
    return _UNSAFE.sub("-", text[:40].lower()).strip("-")


def named(scene: Scene, match: Match) -> Calls:
    """`call read_file {"path": "a"} list_files`: any tools, with these arguments or made-up ones."""
    calls: list[Call] = []
    rest = match["rest"].strip()
    while len(calls) < _MOST and (found := re.match(r"([\w.-]+)\s*", rest)):
        name, rest = found[1], rest[found.end() :]
        args = sample(scene, scene.tools.get(name, {}))
        if rest.startswith("{"):
            try:
                args, end = json.JSONDecoder().raw_decode(rest)
            except (ValueError, RecursionError):
                return [*calls, Call(name, raw=rest)]
            rest = rest[end:].lstrip(" ,+")
        calls.append(Call(name, args))
    return calls or None


def every(scene: Scene, match: Match) -> Calls:
    return [Call(name, sample(scene, schema)) for name, schema in scene.tools.items()] or None


def together(scene: Scene, match: Match) -> Calls:
    return [Call("list_files", {"path": "."}), Call("read_file", {"path": "hello.py"})]


def approvals(scene: Scene, match: Match) -> Calls:
    text = scene.say("one of two\n", "两个中的一个\n")
    return [Call("write_file", {"path": name, "content": text}) for name in ("first.txt", "second.txt")]


def loop(scene: Scene, match: Match) -> Calls:
    if match["count"] and scene.rounds >= int(match["count"]):
        return None
    return [Call("list_files", {"path": "."})]


def unknown(scene: Scene, match: Match) -> Calls:
    return [Call("no_such_tool", {"text": "demo"})]


def broken(scene: Scene, match: Match) -> Calls:
    return [Call("read_file", raw="path = hello.py")]


def wrong(scene: Scene, match: Match) -> Calls:
    return [Call("read_file", {"path": ["not", "a", "text"], "colour": 7})]


def sample(scene: Scene, schema: Mapping[str, Any], text: str | None = None) -> dict[str, Any]:
    """Arguments that fit a tool's schema: `text` for its first text, made-up ones for the rest."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = schema.get("required") or list(properties)[:1]
    args: dict[str, Any] = {}
    for name in required:
        kind = properties.get(name, {}).get("type", "string")
        if kind == "string" and text is not None:
            args[name], text = text, None
        else:
            args[name] = _made_up(scene, name, kind)
    return args


def _made_up(scene: Scene, name: str, kind: str) -> Any:
    texts = {
        "path": "demo.txt",
        "content": scene.say("Written by rules.\n", "由规则写成。\n"),
        "command": "echo hello",
        "url": "https://example.com/",
        "query": scene.say("trees", "树木"),
        "id": NOTE,
        "content_type": MARKDOWN,
        "old": DRAFT[scene.language],
        "new": REVIEWED[scene.language],
    }
    if name == "questions":
        return _questions(scene)[:1]
    others: dict[str, Any] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    return others.get(kind, texts.get(name, scene.say("demo", "演示")))


def _artifact(scene: Scene) -> str:
    found = scene.last_argument("create_artifact", "id")
    return found if isinstance(found, str) else NOTE


def _revision(scene: Scene, artifact: str) -> tuple[str, str]:
    """What to replace in the artifact as it is now, and by what. A person may have edited it since: then the
    tool says that the text is not there."""
    draft, reviewed = DRAFT[scene.language], REVIEWED[scene.language]
    text = _content(scene, artifact)
    if draft in text or not text.strip():
        return draft, reviewed
    if reviewed in text:
        return reviewed, draft
    last = text.strip().splitlines()[-1].strip()
    # What is replaced must stand there once.
    last = last if text.count(last) == 1 else text.strip()
    return last, f"{last}\n\n{reviewed}"


def _content(scene: Scene, artifact: str) -> str:
    """The artifact after all calls of this conversation that were done."""
    text = ""
    for name, args in scene.done_calls:
        if args.get("id") != artifact:
            continue
        if name in ("create_artifact", "rewrite_artifact"):
            text = str(args.get("content", ""))
        elif name == "update_artifact" and args.get("old"):
            text = text.replace(str(args["old"]), str(args.get("new", "")), 1)
    return text


def _questions(scene: Scene) -> list[dict[str, Any]]:
    own = {"label": scene.say("Something else", "自定义"), "value": "__custom__", "allow_custom": True}
    colours = _options(scene, ("Red", "红色", "red"), ("Green", "绿色", "green"), ("Blue", "蓝色", "blue"))
    animals = _options(scene, ("Dog", "狗", "dog"), ("Cat", "猫", "cat"))
    ways = _options(scene, ("At once", "立即执行", "now"), ("After a review", "审视后执行", "review"))
    return [
        {"question": scene.say("Which colour do you like?", "你喜欢什么颜色?"), "options": [*colours, own]},
        {"question": scene.say("Which animal do you like?", "你喜欢什么动物?"), "options": [*animals, own]},
        {"question": scene.say("How shall it be done?", "怎么执行?"), "options": ways},
    ]


def _options(scene: Scene, *choices: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [{"label": scene.say(english, chinese), "value": value} for english, chinese, value in choices]
