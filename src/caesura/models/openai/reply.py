"""Replies of chat completions."""

from __future__ import annotations

from typing import Any

from caesura.core import json_data
from caesura.models.halves import TEXT, THOUGHT, joined
from caesura.models.model import CallPart, Finish, Kept, Piece, Reasoning, Text, Usage
from caesura.models.replies import Reply, count, word

#: The member of a message, and the type of a kept block, with reasoning that must go back as it came.
DETAILS = "reasoning_details"
#: The members of a detail that come in parts.
_JOINED = ("text", "summary", "data")
_MOST_MEMBERS = 64
_FILTERED = "The provider's content filter has held back the answer."


class CompletionReply(Reply):
    def __init__(self, host: str, secrets: tuple[str, ...]) -> None:
        super().__init__(host, secrets)
        self._usage: dict[str, Any] | None = None
        self._said = False
        #: The ids of calls by their places, and the place of the last part.
        self._calls: dict[int | str, str] = {}
        self._place: int | str = 0
        self._begun = 0
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
        if text and len(delta) == 1 and self._halves is None and isinstance(text, str):  # as nearly all are
            self._said = True
            pieces.append(Text(text))
            return
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if details := delta.get(DETAILS):
            said = self._detail(details)
            thought = thought or said
        if thought:
            self._said = True
            self._think(thought, pieces)
        if text:
            self._said = True
            if isinstance(text, str):
                self._say(text, pieces)
            else:
                self._parts(text, pieces)
        if refusal := delta.get("refusal"):
            self._said = True
            self._say(refusal, pieces)
        if calls := delta.get("tool_calls"):
            self._said = True
            for call in calls:
                self._call(call, pieces)

    def _say(self, text: Any, pieces: list[Piece]) -> None:
        if whole := self._text_of(text, TEXT):
            pieces.append(Text(whole))

    def _think(self, thought: Any, pieces: list[Piece]) -> None:
        if whole := self._text_of(thought, THOUGHT):
            pieces.append(Reasoning(whole))

    def _parts(self, content: Any, pieces: list[Piece]) -> None:
        """Content in parts, some of which are thoughts."""
        for part in content:
            if text := part.get("text"):
                self._say(text, pieces)
            thinking = part.get("thinking") or ()
            for thought in ({"text": thinking},) if isinstance(thinking, str) else thinking:
                if said := thought.get("text"):
                    self._think(said, pieces)

    def _call(self, call: dict[str, Any], pieces: list[Piece]) -> None:
        function = call.get("function") or {}
        given, name = word(call.get("id")), word(function.get("name"))
        index = call.get("index")
        place = index if isinstance(index, int | str) else self._placed(given, name)
        known = self._calls.get(place)
        is_new = known is None or bool(given and known and given != known)
        if is_new or given:
            self._calls[place] = given
            self._begun += is_new  # also calls that take the place of others
            self._count_call(self._begun)
        self._place = place
        args = function.get("arguments")
        text = args if isinstance(args, str) else "" if args is None else _json(args)
        if is_new and self._halves is not None:
            self._halves.forget(place)
        text = self._text_of(text, place)
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
                    self._keep(value if isinstance(value, str) else _json(value))
            if len(known) > _MOST_MEMBERS:
                raise TypeError("a detail has too many members")
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
    return {name: joined("".join(value)) if name in _JOINED else value for name, value in detail.items()}


def _json(value: Any) -> str:
    return json_data.dumps(value).decode()


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
