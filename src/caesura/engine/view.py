"""What a model is shown: as much of the conversation as its window takes.

The system prompt, the tools and the turn that runs are always there. Older turns are left out whole, the
oldest first. A cut stays where it is until the prompt is too long again, and then leaves space for more
turns. So what is sent begins with the same words from turn to turn, which a provider's cache needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from caesura.core.messages import Message
from caesura.engine import tokens
from caesura.engine.agent import Compiled
from caesura.engine.branch import Branch, weight
from caesura.engine.windows import LEAST, Window
from caesura.models.failures import ModelError
from caesura.store.summaries import Summary

#: After a cut a prompt takes this part of the limit, or leaves half of what the running turn leaves.
_AFTER, _HALF = 0.7, 0.5
#: An earlier cut is made anew if what it left takes less than this part of the limit.
_LITTLE = 1 / 3
#: What stands for the result of an earlier tool call, and for the end of the newest ones.
LEFT_OUT = "(This result is left out here, because the conversation is too long for the model.)"
CUT_OFF = "\n(The rest is left out here, because the result is too long for the model.)"
#: How many characters of the newest results are kept at least.
_SHOWN = 200
SUMMARY = "[A summary of the earlier part of this conversation, which is left out here:]"


@dataclass(slots=True)
class Place:
    """Where the view of a model begins, as long as a turn runs: the first turn (None before the first view),
    and how many of the turn's own results are left out."""

    first: int | None = None
    summary: Summary | None = None
    left_out: int = 0


class View(NamedTuple):
    """`first` is the turn from which on the model is shown the conversation; None if it is shown all.
    `tokens` is the estimate before it is corrected, and `fill` the part of the limit that it takes."""

    messages: list[Message]
    first: str | None
    tokens: int
    fill: float


class Scene(NamedTuple):
    """What there is to show. `state` is the turn `turn_id`, which runs, in the form that providers demand."""

    agent: Compiled
    branch: Branch
    turn_id: str
    state: list[Message]
    summaries: Sequence[Summary] = ()


def bound(agent: Compiled) -> int | None:
    """How many tokens of a branch are of use to the models of an agent; None if that is not known."""
    limits = [window.limit for window in agent.windows]
    if agent.foreign or not limits or any(limit is None for limit in limits):
        return None
    return int(max(limit or 0 for limit in limits) / LEAST)


def make(scene: Scene, model: str, window: Window, conversation_id: str, place: Place) -> View:
    """The view for this model. Raises a `ModelError` if the turn that runs is too long by itself."""
    agent, state = scene.agent, scene.state
    fixed = tokens.of_text(agent.system_prompt) + tokens.of_schemas(agent.schemas)
    most = window.limit_of(conversation_id)
    if most is None:
        return _shown(scene, 0, None, state, fixed, 0)
    limit = max(int(most / window.ratio(conversation_id)), 1)
    base = fixed + tokens.of_messages(state)
    if place.left_out or base > limit:
        state = _shortened(state, limit - fixed, place)
        base = fixed + tokens.of_messages(state)
    _settle(scene, model, base, limit, place)
    view = _shown(scene, place.first or 0, place.summary, state, fixed, limit)
    if window.rules_out(conversation_id, view.tokens):
        raise ModelError("context", f"the turn has about {view.tokens} tokens, and the model takes {limit}")
    return view


def covers(branch: Branch, summary: Summary) -> int | None:
    """The place of the first turn that the summary does not cover; None if it is about another branch."""
    if summary.turn_id == branch.above:
        return 0
    place = branch.place(summary.turn_id)
    return None if place is None else place + 1


def place_after_cut(branch: Branch, base: int, limit: int) -> int:
    """The first turn that is still shown after a cut. `base` are the tokens of all that is always shown."""
    most = max(_AFTER * limit, base + _HALF * (limit - base))
    first, total = len(branch.turns), base
    while first and total + branch.turns[first - 1].tokens <= most:
        first -= 1
        total += branch.turns[first].tokens
    return first


def _settle(scene: Scene, model: str, base: int, limit: int, place: Place) -> None:
    """Choose the first turn, or keep the one that was chosen if it still fits."""
    branch = scene.branch
    chosen = place.first if place.first is not None else _earlier(branch, model, limit)
    if chosen is not None:
        summary = place.summary if place.first is not None else _best(scene, chosen)
        if base + weight_from(branch, chosen, summary) <= limit:
            place.first, place.summary = chosen, summary
            return
    if place.first is None and base + weight(branch.turns) <= limit and branch.above is None:
        place.first, place.summary = 0, None
        return
    place.first, place.summary = _cut(scene, base, limit)


def _earlier(branch: Branch, model: str, limit: int) -> int | None:
    """Where the view of the last reply began, if the same model made it and what it left has a good size."""
    cut = branch.cut
    if cut is None or cut.model != model or cut.first is None:
        return None
    place = branch.place(cut.first)
    return place if place is not None and weight(branch.turns[place:]) >= limit * _LITTLE else None


def _cut(scene: Scene, base: int, limit: int) -> tuple[int, Summary | None]:
    """A cut where a summary ends leaves no turn out of both."""
    branch = scene.branch
    newest = _best(scene, len(branch.turns))
    if newest is not None:
        first = covers(branch, newest) or 0
        if base + weight_from(branch, first, newest) <= limit:
            return first, newest
    first = place_after_cut(branch, base, limit)
    summary = _best(scene, first)
    while summary is not None and base + weight_from(branch, first, summary) > limit:
        if first == len(branch.turns):
            return first, None
        first += 1
    return first, summary


def _best(scene: Scene, first: int) -> Summary | None:
    """The summary that covers most of the turns before this one, and no other."""
    if first == 0 and scene.branch.above is None:
        return None
    found = [(covers(scene.branch, item), item) for item in scene.summaries]
    good = [(place, item) for place, item in found if place is not None and place <= first]
    return max(good, key=lambda pair: pair[0])[1] if good else None


def weight_from(branch: Branch, first: int, summary: Summary | None) -> int:
    """The tokens of the turns from this one on, and of what stands for those before."""
    own = tokens.of_message(_told(summary)) if summary is not None else 0
    return own + weight(branch.turns[first:])


def _told(summary: Summary) -> Message:
    return Message("user", f"{SUMMARY}\n{summary.text}")


def _shown(
    scene: Scene, first: int, summary: Summary | None, state: list[Message], fixed: int, limit: int
) -> View:
    agent, branch = scene.agent, scene.branch
    system = [Message("system", agent.system_prompt)] if agent.system_prompt.strip() else []
    told = [_told(summary)] if summary is not None else []
    seen = branch.turns[first:]
    messages = [*system, *told, *(item for turn in seen for item in turn.messages), *state]
    total = fixed + weight(seen) + tokens.of_messages((*told, *state))
    begins = None
    if first or branch.above is not None:
        begins = seen[0].id if seen else scene.turn_id
    return View(messages, begins, total, total / limit if limit else 0.0)


def _shortened(state: list[Message], limit: int, place: Place) -> list[Message]:
    """The turn without the texts of its oldest results, so that it fits. Its calls stay."""
    results = [number for number, message in enumerate(state) if message.role == "tool"]
    last = max((number for number, message in enumerate(state) if message.role == "assistant"), default=-1)
    older = [number for number in results if number < last]
    found, sizes = list(state), [tokens.of_message(message) for message in state]
    total = sum(sizes)
    most: float = limit
    for count, number in enumerate(older):
        if count >= place.left_out:
            if total <= most:
                break
            place.left_out, most = count + 1, limit * _AFTER
        if len(found[number].content) > len(LEFT_OUT):
            found[number] = replace(found[number], content=LEFT_OUT)
            total -= sizes[number] - tokens.of_message(found[number])
    newest = [number for number in results if number > last]
    if total > limit and newest:
        others = total - sum(sizes[number] for number in newest)
        _cut_off(found, newest, sizes, max(limit - others, 0))
    return found


def _cut_off(found: list[Message], newest: list[int], sizes: list[int], room: int) -> None:
    """Shorten the newest results to what there is room for: short ones keep their texts."""
    for left, number in zip(range(len(newest), 0, -1), sorted(newest, key=sizes.__getitem__), strict=True):
        share = room // left
        if sizes[number] > share:
            text, spare = found[number].content, tokens.of_text(CUT_OFF) + 24
            kept = max(int(len(text) * (share - spare) / sizes[number]), _SHOWN)
            found[number] = replace(found[number], content=text[:kept] + CUT_OFF)
        room = max(room - tokens.of_message(found[number]), 0)
