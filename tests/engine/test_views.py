"""What a model is shown, for any history and any window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents.spec import Spec
from caesura.core.messages import Message
from caesura.engine import tokens, view
from caesura.engine.agent import Compiled
from caesura.engine.branch import Branch, Cut, Told
from caesura.engine.history import said_in, valid
from caesura.engine.view import Place, Scene
from caesura.engine.windows import LEAST, Window, Windows
from caesura.models.failures import ModelError
from caesura.models.model import Schema
from caesura.store.summaries import Summary
from tests.engine.test_valid_history import check

_sizes = st.integers(1, 3000)
_letters = st.sampled_from(["x", "word ", "鲸", "я", "😀"])
_texts = st.builds(lambda letter, size: letter * size, _letters, _sizes)
_cuts = st.none() | st.builds(Cut, st.sampled_from(["m", "other"]), st.none() | st.just("turn-1"))


@st.composite
def _said(draw: st.DrawFn) -> list[Message]:
    """The messages of one turn."""
    found: list[Message] = []
    for number in range(draw(st.integers(0, 4))):
        name = f"call-{number}"
        call = {"id": name, "name": "look", "args": {"q": draw(_texts)[:200]}}
        found.append(Message("assistant", "", tool_calls=(call,)))
        found.append(Message("tool", draw(_texts), tool_call_id=name, name="look"))
    return found


@st.composite
def _scenes(draw: st.DrawFn) -> Scene:
    count = draw(st.integers(0, 8))
    turns = [
        Told.of(f"turn-{number}", said_in(draw(_texts), [*draw(_said()), Message("assistant", draw(_texts))]))
        for number in range(count)
    ]
    branch = Branch(turns, draw(st.sampled_from([None, "turn-above"])) if turns else None, None, draw(_cuts))
    spec = Spec(system_prompt=draw(st.sampled_from(["", "Be brief."])))
    schemas = (Schema("look", "Look", {"type": "object"}),)
    agent = Compiled("a", "1", spec, (), schemas=schemas)
    state = valid([Message("user", draw(_texts)[:400]), *draw(_said())])
    known = st.builds(Summary, st.sampled_from(["turn-above", "turn-0", "turn-3", "gone"]), _texts)
    return Scene(agent, branch, "turn-now", state, draw(st.lists(known, max_size=2)))


def _sent(scene: Scene, shown: view.View) -> list[Message]:
    system = bool(scene.agent.system_prompt)
    return shown.messages[1:] if system else shown.messages


@given(_scenes(), st.integers(128, 20_000))
def test_any_history_fits_any_window_or_the_turn_itself_is_too_long(scene: Scene, size: int) -> None:
    window, place = Window(size), Place()
    try:
        shown = view.make(scene, "m", window, "conv", place)
    except ModelError:
        assert _least(scene) * LEAST > size, "it would have fitted"
        return
    sent = _sent(scene, shown)
    for turn in _turns(scene, sent):
        check(turn)
    assert [item.role for item in sent[-len(scene.state) :]] == [item.role for item in scene.state]
    assert sent[-len(scene.state)] == scene.state[0]
    assert bool(scene.agent.system_prompt) == (shown.messages[0].role == "system")
    limit = window.limit or 0
    if shown.tokens > limit:
        assert shown.first in ("turn-now", None), "all other turns are left out first"
        assert shown.tokens * LEAST <= size
    again = view.make(scene, "m", window, "conv", place)
    assert again == shown


def _least(scene: Scene) -> int:
    """The tokens of the turn alone, with what is kept of its results at least."""
    short = [
        replace(item, content=item.content[:200] + view.CUT_OFF) if item.role == "tool" else item
        for item in scene.state
    ]
    agent = scene.agent
    always = tokens.of_text(agent.system_prompt) + tokens.of_schemas(agent.schemas)
    return always + tokens.of_messages(short)


def _turns(scene: Scene, sent: list[Message]) -> list[list[Message]]:
    """The messages of each turn: ids of calls are unique in a turn."""
    found: list[list[Message]] = []
    for message in sent:
        if message.role == "user":
            found.append([])
        found[-1].append(message)
    return found


@given(_scenes(), st.integers(128, 20_000))
def test_the_turns_that_are_shown_are_the_newest_without_a_gap(scene: Scene, size: int) -> None:
    try:
        shown = view.make(scene, "m", Window(size), "conv", Place())
    except ModelError:
        return
    sent = _sent(scene, shown)[: -len(scene.state)]
    if sent and sent[0].content.startswith(view.SUMMARY):
        sent = sent[1:]
    places = [place for place, turn in enumerate(scene.branch.turns) if turn.id == shown.first]
    first = places[0] if places else 0 if shown.first is None else len(scene.branch.turns)
    assert sent == [message for turn in scene.branch.turns[first:] for message in turn.messages]
    if shown.first is None:
        assert scene.branch.above is None


def test_a_text_is_estimated_by_its_characters() -> None:
    assert tokens.of_text("") == 1
    assert 250 <= tokens.of_text("word " * 200) <= 400
    assert 950 <= tokens.of_text("鲸" * 1000) <= 1050
    assert tokens.of_text("\ud800") >= 1


def test_what_the_provider_counts_corrects_the_estimate_within_bounds() -> None:
    window = Window(1000)
    window.count("a", 100, {"input_tokens": 150})
    assert (window.ratio("a"), window.ratio("b")) == (1.5, 1.0)
    window.count("a", 100, {"input_tokens": 1})
    assert window.ratio("a") == LEAST
    for wrong in (None, {}, {"input_tokens": 0}, {"input_tokens": -5}, {"input_tokens": 401}):
        window.count("a", 100, wrong)
        assert window.ratio("a") == LEAST


def test_a_count_makes_no_window_larger_than_its_operator_or_its_name_says() -> None:
    window = Window(2000)
    window.count("a", 1000, {"input_tokens": 50_000})
    assert (window.tokens, window.ratio("a")) == (2000, 1.0)
    window.count("a", 1000, {"input_tokens": 2500})
    assert (window.tokens, window.ratio("a")) == (2000, 2.5)


def test_a_count_makes_a_window_larger_that_a_refusal_without_a_size_had_made_too_small() -> None:
    learned = Window()
    learned.refuse("a", 10_000, None)
    learned.count("a", 8_000, {"input_tokens": 10_000})
    assert learned.tokens == 10_000
    learned.count("a", 8_000, {"input_tokens": 900_000})
    assert learned.tokens == 10_000
    known = Window(9_500)
    known.refuse("a", 10_000, None)
    known.count("a", 8_000, {"input_tokens": 10_000})
    assert known.tokens == 9_500


def test_a_refusal_makes_the_window_smaller_or_the_estimate_larger() -> None:
    window = Window()
    window.refuse("a", 5000, 4096)
    assert (window.tokens, window.ratio("a")) == (4096, 1.0)
    window.refuse("a", 2000, 4096)
    assert window.tokens == 4096
    assert window.ratio("a") > 1.5
    unnamed = Window()
    unnamed.refuse("a", 10_000, None)
    assert unnamed.tokens == 9_000
    unnamed.refuse("a", 100, None)
    assert unnamed.tokens == 9_000


def test_a_refusal_counts_for_its_conversation_alone_if_a_longer_prompt_was_accepted() -> None:
    window = Window()
    window.count("a", 5000, {"input_tokens": 4000})
    window.refuse("b", 1000, 128)
    assert (window.tokens, window.limit_of("a"), window.limit_of("b")) == (None, None, 96)
    window.count("b", 300, {"input_tokens": 300})
    assert window.limit_of("b") is None, "it was wrong there too"
    window.refuse("b", 9000, 128)
    assert window.tokens == 4000, "not less than what was accepted"


def test_a_window_that_was_learned_rules_nothing_out_and_heals() -> None:
    window = Window()
    window.refuse("a", 100, 128)
    assert window.tokens == 128
    agent, state = Compiled("a", "1", Spec(), ()), [Message("user", "x" * 3500)]
    shown = view.make(Scene(agent, Branch([]), "now", state), "m", window, "b", Place())
    window.count("b", shown.tokens, None)
    assert (window.tokens or 0) >= shown.tokens * 0.5
    with pytest.raises(ModelError, match="the model takes"):
        view.make(Scene(agent, Branch([]), "now", state), "m", Window(128), "b", Place())


def test_an_answer_that_is_cut_off_at_the_end_of_the_window_tells_its_size() -> None:
    window = Window()
    window.fill("a", 5000, {"input_tokens": 6000, "output_tokens": 2000, "total_tokens": 8000})
    assert window.tokens == 8000
    window.fill("a", 5000, {"input_tokens": 900_000, "total_tokens": 901_000})
    assert window.tokens == 5000
    window.fill("a", 50, None)
    assert window.tokens == 2000, "a short prompt says nothing of a smaller window"


def test_the_answer_has_room() -> None:
    assert Window(1000).limit == 750
    assert Window(1_000_000).limit == 1_000_000 - 8_192
    assert Windows().of("m", None, 1000, {"max_tokens": 100}).limit == 900
    assert Windows().of("m", None, 1000, {"max_tokens": 5000}).limit == 500
    assert Windows().of("m", None, None, {}).limit is None


def test_a_window_is_the_same_for_all_agents_with_this_model() -> None:
    windows = Windows()
    first = windows.of("m", None, None, {})
    first.refuse("a", 5000, 4096)
    assert windows.of("m", None, None, {"temperature": 1}).tokens == 4096
    assert windows.of("m", "http://elsewhere", None, {}).tokens is None


@pytest.mark.parametrize("size", [3, 40])
def test_a_cut_leaves_space_so_that_the_next_turns_keep_it(size: int) -> None:
    turns = [Told.of(f"turn-{number}", [Message("user", "x" * 350)]) for number in range(size)]
    agent = Compiled("a", "1", Spec(), ())
    window = Window(2000)
    shown = view.make(Scene(agent, Branch(turns), "now", [Message("user", "hi")]), "m", window, "c", Place())
    if size == 3:
        assert shown.first is None
    else:
        assert shown.fill <= 0.71
        after = Branch(
            [*turns, Told.of("turn-next", [Message("user", "y" * 350)])], cut=Cut("m", shown.first)
        )
        later = view.make(Scene(agent, after, "now", [Message("user", "hi")]), "m", window, "c", Place())
        assert later.first == shown.first
        other = view.make(Scene(agent, after, "now", [Message("user", "hi")]), "other", window, "c", Place())
        assert other.first != shown.first
