"""Replies of chat completions."""

from __future__ import annotations

from typing import Any

import orjson

from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Text, Usage
from caesura.models.replies import Reply, count

#: The member of a message, and the type of a kept block, with reasoning that must go back as it came.
DETAILS = "reasoning_details"
#: The members of a detail that come in parts.
_JOINED = ("text", "summary", "data")
_FILTERED = "The provider's content filter has held back the answer."


class CompletionReply(Reply):
    def __init__(self, host: str, secrets: tuple[str, ...]) -> None:
        super().__init__(host, secrets)
        self._usage: dict[str, Any] | None = None
        self._said = False
        #: The ids of calls by their places, and the place of the last part.
        self._calls: dict[int | str, str] = {}
        self._place: int | str = 0
        self._details: dict[tuple[Any, Any], dict[str, Any]] = {}

    def _read(self, chunk: Any, pieces: list[Piece]) -> None:
        choices = chunk.get("choices")
        if choices:
            choice = choices[0]
            delta = choice.get("delta") or choice.get("message")
            if delta:
                self._delta(delta, pieces)
            if reason := choice.get("finish_reason"):
                self._stopped(reason)
            if usage := choice.get("usage"):
                self._usage = usage
        if usage := chunk.get("usage"):
            self._usage = usage
        if error := chunk.get("error"):
            raise self._refused(error)
        if choices is None and (chunk.get("object") == "error" or chunk.get("type") == "error"):
            raise self._refused(chunk)

    def _delta(self, delta: dict[str, Any], pieces: list[Piece]) -> None:
        text = delta.get("content")
        if text and len(delta) == 1 and isinstance(text, str):  # as nearly all are
            self._said = True
            pieces.append(Text(text))
            return
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if details := delta.get(DETAILS):
            said = self._detail(details)
            thought = thought or said
        if thought:
            self._said = True
            pieces.append(Reasoning(_string(thought)))
        if text:
            self._said = True
            if isinstance(text, str):
                pieces.append(Text(text))
            else:
                _parts(text, pieces)
        if refusal := delta.get("refusal"):
            self._said = True
            pieces.append(Text(_string(refusal)))
        if calls := delta.get("tool_calls"):
            self._said = True
            for call in calls:
                self._call(call, pieces)

    def _call(self, call: dict[str, Any], pieces: list[Piece]) -> None:
        function = call.get("function") or {}
        given, name = str(call.get("id") or ""), str(function.get("name") or "")
        index = call.get("index")
        place = index if isinstance(index, int | str) else self._placed(given, name)
        known = self._calls.get(place)
        is_new = known is None or bool(given and known and given != known)
        if is_new or given:
            self._calls[place] = given
            self._count_call(len(self._calls))
        self._place = place
        args = function.get("arguments")
        text = args if isinstance(args, str) else "" if args is None else orjson.dumps(args).decode()
        # Some servers repeat the name in every part.
        pieces.append(CallPart(place, text, given, name if is_new else ""))

    def _placed(self, given: str, name: str) -> int | str:
        """The place of a part that does not say it: a new one, if the part begins a call."""
        known = self._calls.get(self._place)
        begins = known is None or (given != known if given else bool(name))
        return len(self._calls) if begins else self._place

    def _detail(self, details: list[dict[str, Any]]) -> str:
        """Keep these parts of reasoning details. Returns what they say."""
        said = ""
        for part in details:
            key = (part.get("index"), part.get("type"))
            known = self._details.setdefault(key, {})
            for name, value in part.items():
                if name in _JOINED and isinstance(value, str):
                    known.setdefault(name, []).append(self._keep(value))
                    said += value if name != "data" else ""
                elif name not in _JOINED and (value is not None or name not in known):
                    known[name] = value
        self._count_call(len(self._details))
        return said

    def end(self) -> list[Piece]:
        pieces: list[Piece] = []
        if not self._said and self._reason == "content_filter":
            pieces.append(Text(_FILTERED))
        if self._details:
            pieces.append(Kept({"type": DETAILS, "details": [_joined(it) for it in self._details.values()]}))
        if self._usage:
            pieces.append(Usage(_counts(self._usage)))
        if self._reason is not None:
            pieces.append(Finish(self._reason))
        return pieces


def _joined(detail: dict[str, Any]) -> dict[str, Any]:
    return {name: "".join(value) if name in _JOINED else value for name, value in detail.items()}


def _counts(usage: dict[str, Any]) -> dict[str, int]:
    taken, given = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    counts = {
        "input_tokens": taken,
        "output_tokens": given,
        "total_tokens": count(usage, "total_tokens") or taken + given,
    }
    details = {
        "cache_read_tokens": count(usage, "prompt_tokens_details", "cached_tokens")
        or count(usage, "prompt_cache_hit_tokens")
        or count(usage, "cached_tokens"),
        "cache_write_tokens": count(usage, "prompt_tokens_details", "cache_write_tokens"),
        "reasoning_tokens": count(usage, "completion_tokens_details", "reasoning_tokens")
        or count(usage, "reasoning_tokens"),
    }
    return counts | {name: number for name, number in details.items() if number}


def _parts(content: Any, pieces: list[Piece]) -> None:
    """Content in parts, some of which are thoughts."""
    for part in content:
        if text := part.get("text"):
            pieces.append(Text(_string(text)))
        thinking = part.get("thinking") or ()
        for thought in ({"text": thinking},) if isinstance(thinking, str) else thinking:
            if said := thought.get("text"):
                pieces.append(Reasoning(_string(said)))


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is no text")
    return value
