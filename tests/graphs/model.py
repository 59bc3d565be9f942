"""What the model of these graphs says: it depends on its messages alone, so that a call that is made again
gets the same reply."""

from __future__ import annotations

import re
from typing import Any

from tests.openai_server import Call, Say

#: What a message asks for: the words, the tool, and the name of its argument.
_WISHES = (
    (r"weather in (\w+)", "get_weather", "city"),
    (r"mail (\w+)", "send_mail", "to"),
    (r"delete (\d+)", "delete_mail", "number"),
)


def reply(asked: dict[str, Any]) -> Say:
    messages = asked["messages"]
    system = str(messages[0]["content"]) if messages[0]["role"] == "system" else ""
    last = str(messages[-1]["content"])
    if "facts" in system:
        return _said(f"Facts about {last}.")
    if "sentence" in system:
        return _said(f"News of {last.partition(':')[0]}.")
    if messages[-1]["role"] == "tool":
        return _said(f"Done: {' | '.join(_results(messages))}")
    calls = _calls(last, len(messages))
    if calls:
        return Say(["Let ", "me ", "see."], calls, pause=0.005)
    said = [str(item["content"]) for item in messages if item["role"] == "user"]
    return _said(f"I have read: {', '.join(said)}.")


def _said(text: str) -> Say:
    return Say(re.findall(r"\S+\s*", text), pause=0.005)


def _calls(text: str, place: int) -> list[Call]:
    found: list[Call] = []
    for pattern, tool, name in _WISHES:
        for given in re.findall(pattern, text):
            value = int(given) if given.isdigit() else given
            found.append(Call(tool, {name: value}, f"call-{place}-{len(found)}"))
    return found


def _results(messages: list[dict[str, Any]]) -> list[str]:
    """The results of the last reply's calls, in their order."""
    last = max(place for place, item in enumerate(messages) if item["role"] == "assistant")
    return [str(item["content"]) for item in messages[last + 1 :]]
