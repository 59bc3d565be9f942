"""What the demo model does next: it follows the first rule that matches, step by step, until its tools have
answered."""

from __future__ import annotations

import re

from caesura.agents import phrases, titles
from caesura.agents.demo import words
from caesura.agents.demo.rules import FLOWS, TOOLS, WORDS
from caesura.agents.demo.scene import Call, Reply, Scene

#: Rules that call a tool even if the agent does not have it: that is their purpose.
_ALWAYS = ("unknown tool", "broken arguments", "wrong arguments", "call")
# These patterns do not backtrack, however long the message is: each space is examined once.
_THEN = re.compile(
    r"(?<!\s)\s*+(?:,\s*+)?(?<=\s)(?:and then|then)\s++|(?<!\s)\s*+(?:[，,]\s*+)?(?:然后|接着)\s*+",
    re.IGNORECASE,
)
_MOST_STEPS = 20
_TOGETHER = re.compile(r"(?<!\s)\s++\+\s++|(?<!\s)\s*+同时\s*+")
_YES = re.compile(r"(?:yes|ok|sure|confirm|go ahead)\b|我?已?(?:确认|同意)|是的|好|可以", re.IGNORECASE)
_NO = re.compile(r"(?:no|not|cancel|stop|reject|do not|don't)\b|我?(?:不|未|拒绝)|否|取消", re.IGNORECASE)


def reply(scene: Scene) -> Reply:
    if (message := titles.message_in(scene.said)) is not None:
        return Reply(titles.clean(message) or scene.say("Conversation", "对话"))
    if (confirmed := _decision(scene)) is not None:
        return words.decided(scene, confirmed)
    if not scene.since and (spoken := _spoken(scene)) is not None:
        return spoken
    for rule in FLOWS:
        if (match := rule.match(scene.said)) and isinstance(found := rule.does(scene, match), Reply):
            return found
    return _next_step(scene)


def _decision(scene: Scene) -> bool | None:
    """Whether the person has just confirmed (True) or refused (False) a question in the text; None
    otherwise."""
    if phrases.detect(scene.asked_before) is None:
        return None
    if _NO.match(scene.said):
        return False
    return True if _YES.match(scene.said) else None


def _spoken(scene: Scene) -> Reply | None:
    for rule in WORDS:
        if match := rule.match(scene.said):
            found = rule.does(scene, match)
            return found if isinstance(found, Reply) else None
    return None


def _next_step(scene: Scene) -> Reply:
    if any(result.refused for result in scene.last_results):
        return words.closing(scene)
    steps = _steps(scene)
    if not steps:
        return words.closing(scene) if scene.results else words.explanation(scene)
    step = steps[min(scene.rounds, len(steps) - 1)]
    if not step or (scene.rounds >= len(steps) and not _endless(scene)):
        return words.closing(scene)
    return _calling(scene, step)


def _endless(scene: Scene) -> bool:
    return any(rule.name == "loop" and rule.match(scene.said) for rule in TOOLS)


def _steps(scene: Scene) -> list[list[Call]]:
    """The calls of each step; empty when the message asks for none."""
    steps: list[list[Call]] = []
    for part in _parts(scene.said, _THEN, ("then", "然后", "接着")):
        step: list[Call] = []
        for piece in _parts(part, _TOGETHER, ("+", "同时")):
            if (found := _calls(scene, piece)) is None:
                return _whole(scene)
            step += found
        steps.append(step)
    return steps


def _parts(text: str, between: re.Pattern[str], words: tuple[str, ...]) -> list[str]:
    lowered = text.lower()  # searching for the words alone is far quicker than for the pattern
    if not any(word in lowered for word in words):
        return [text]
    return between.split(text, maxsplit=_MOST_STEPS)


def _whole(scene: Scene) -> list[list[Call]]:
    """The message as one command: not every part of it is a command, so `then` and `+` are ordinary words."""
    found = _calls(scene, scene.said)
    return [] if found is None else [found]


def _calls(scene: Scene, text: str) -> list[Call] | None:
    for rule in TOOLS:
        if match := rule.match(text):
            found = rule.does(scene, match)
            if isinstance(found, list):
                return found
            if rule.name == "loop":
                return []
    return None


def _calling(scene: Scene, calls: list[Call]) -> Reply:
    missing = [call.name for call in calls if call.name not in scene.tools]
    if missing and not _deliberate(scene):
        names = ", ".join(dict.fromkeys(missing))
        return Reply(
            scene.say(f"This agent has no tool called {names}.", f"这个智能体没有名为 {names} 的工具。")
        )
    names = ", ".join(call.name for call in calls)
    thinking = scene.say(f"For this I need: {names}.", f"为此我需要：{names}。")
    text = scene.say(f"I call {names}.", f"我来调用 {names}。")
    return Reply(text, thinking, tuple(calls))


def _deliberate(scene: Scene) -> bool:
    return any(rule.name in _ALWAYS and rule.match(scene.said) for rule in TOOLS)
