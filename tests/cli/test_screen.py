"""The events of a turn, as lines of a terminal."""

import io
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.cli.screen import Screen, asking, one_line
from caesura.client import Unreachable
from caesura.core import events as ev
from caesura.core.interrupts import Decision
from tests.core.test_shown import read_back


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(*events: ev.Event, out: io.StringIO | None = None) -> str:
    out = out or io.StringIO()
    screen = Screen(out)
    for event in events:
        screen.show(event)
    return out.getvalue()


def test_text_is_shown_as_it_comes_and_the_title_after_it() -> None:
    told = (ev.ModelStarted(1, "a"), ev.TextDelta(1, "good "), ev.TitleChanged("Day"), ev.TextDelta(1, "day"))
    assert shown(*told, ev.Finished(), ev.SegmentEnded()) == "good day\n# Day\n"


def test_thoughts_are_dimmed_and_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    told = (ev.ReasoningDelta(1, "hm"), ev.TextDelta(1, "so"))
    assert shown(*told, out=Terminal()) == "\x1b[2mhm\x1b[0m\nso"
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(*told, out=Terminal()) == "hm\nso"


def test_what_a_tool_tells_is_a_line_under_its_name() -> None:
    begun = ev.ToolStarted("c", "refund", {}, "clerk", "outer")
    told = shown(begun, ev.ToolProgress("c", "half\x1b[2J way"), ev.ToolProgress("d", "▌"))
    assert told.splitlines()[1:] == ["  [clerk] … refund: half\\x1b[2J way", "… d: \\u258c"]


def test_questions_are_not_told_before_they_are_asked() -> None:
    asked = [{"question": "Which?"}, {"question": "Why?"}]
    told = shown(
        ev.ToolStarted("c", "ask_user", {"questions": asked}, "a"),
        ev.ToolStarted("d", "ask_user", {"questions": asked[:1]}, "a"),
        ev.ToolStarted("e", "ask_user", {"questions": "[]"}, "a"),
        ev.ToolStarted("f", "survey", {"questions": []}, "a"),
    )
    assert told.splitlines() == [
        "→ ask_user (2 questions)",
        "→ ask_user #2 (1 question)",
        "→ ask_user #3",
        '→ survey {"questions":[]}',
    ]


def test_text_of_a_model_cannot_move_the_cursor() -> None:
    text = "a\x1b[2Jb\x07\x9bc\rd\te\u202e\u2028\n"
    assert shown(ev.TextDelta(1, text)) == "a\\x1b[2Jb\\x07\\x9bc\\rd\te\\u202e\\u2028\n"


def test_no_other_text_can_contain_our_mark() -> None:
    events = (ev.TextDelta(1, "▌ [y]es > "), ev.ToolFinished("c", "look", "x\n▌ [y]es > ", "ok"))
    told = shown(*events, ev.TitleChanged("▌"), ev.ToolStarted("d", "▌", {"▌": "▌"}, "a"), ev.SegmentEnded())
    assert "▌" not in told
    assert r"\u258c [y]es > " in told


MARKS = st.text(st.sampled_from("\\▌▐┃❘\U0001fb70u258c{}4nx a\n"))


@given(MARKS)
@example("echo \\▌")
@example("echo \\u258c")
@example("▌{4}")
@example("▌▌▌▌")
def test_the_shown_question_can_be_decoded_to_the_text(value: str) -> None:
    """So two different commands never look the same."""
    for indented in (False, True):
        told = asking(one_line(value, indented=indented)).removeprefix("▌ ")
        assert read_back(told) == value
        assert "▌" not in told


def test_turns_that_the_model_does_not_read_are_told_once() -> None:
    started = [ev.ModelStarted(call, "a", "m", None, context_from="turn-2") for call in (1, 2)]
    told = shown(ev.ModelStarted(1, "a", "m", None), *started, ev.TextDelta(2, "hi"))
    assert told == "(this conversation is too long for the model: it does not read the earlier turns)\nhi"


def test_names_and_titles_stay_on_their_line() -> None:
    told = shown(
        ev.TitleChanged("a\nb\u202e"), ev.SegmentEnded(), ev.ToolStarted("c", "x\ny", {"a": "\u200b"}, "a")
    )
    assert told == '# a\\nb\\u202e\n→ x\\ny {"a":"\\u200b"}\n'


def test_tools_and_their_results_have_lines_of_their_own() -> None:
    told = (ev.TextDelta(1, "I look"), ev.ToolStarted("c", "read_file", {"path": "a"}, "a"))
    assert shown(*told, ev.ToolFinished("c", "read_file", "no such file", "error")) == (
        'I look\n→ read_file {"path":"a"}\n✗ read_file: no such file\n'
    )


def test_the_end_of_a_long_output_is_shown() -> None:
    told = shown(ev.ToolFinished("c", "execute", f"{'x' * 5_000}\n[exit code 3]", "ok"))
    assert "(5014 characters)" in told
    assert told.endswith("x\n[exit code 3]\n")
    assert len(told) < 2_100


def test_voided_text_is_reported_only_if_it_was_shown() -> None:
    assert shown(ev.ModelStarted(1, "a"), ev.TextVoided(1)) == ""
    assert "does not count" in shown(ev.TextDelta(1, "x"), ev.TextVoided(1))


def test_a_sub_agent_is_named_on_each_of_its_lines() -> None:
    told = (ev.ModelStarted(2, "search_agent", parent="c"), ev.TextDelta(2, "found\n"), ev.TextDelta(2, "it"))
    assert shown(*told) == "  [search_agent] found\n  [search_agent] it"


def test_the_tools_of_a_sub_agent_are_shown_under_its_name() -> None:
    told = (
        ev.ToolStarted("d1", "search_agent", {"task": "trees"}, "lead_agent"),
        ev.ToolStarted("s1", "web_search", {"query": "trees"}, "search_agent", "d1"),
        ev.ToolFinished("s1", "web_search", "1. Trees\n2. More", "ok", "search_agent", "d1"),
        ev.ToolFinished("d1", "search_agent", "found", "ok", "lead_agent"),
    )
    assert shown(*told).splitlines() == [
        '→ search_agent {"task":"trees"}',
        '  [search_agent] → web_search {"query":"trees"}',
        "  [search_agent] ✓ web_search: 1. Trees",
        "  [search_agent] 2. More",
        "✓ search_agent: found",
    ]


def test_the_result_of_a_sub_agent_is_not_shown_twice_but_its_error_is() -> None:
    said = (ev.ToolStarted("d1", "outer", {}, "lead"), ev.ModelStarted(2, "outer", parent="d1"))
    words = (ev.TextDelta(2, "found"), ev.ModelFinished(2))
    told = shown(*said, *words, ev.ToolFinished("d1", "outer", "found", "ok", "lead"))
    assert told.splitlines()[1:] == ["  [outer] found", "✓ outer"]
    told = shown(*said, *words, ev.ToolFinished("d1", "outer", "too many steps", "error", "lead"))
    assert told.splitlines()[1:] == ["  [outer] found", "✗ outer: too many steps"]


BEGUN = (
    ev.ToolStarted("d1", "search_agent", {}, "lead_agent"),
    ev.ToolStarted("d2", "search_agent", {}, "lead_agent"),
    ev.ModelStarted(2, "search_agent", parent="d1"),
    ev.ModelStarted(3, "search_agent", parent="d2"),
)


def words(*said: tuple[int, str]) -> list[ev.Event]:
    return [ev.TextDelta(call, text) for call, text in said]


def test_two_sub_agents_at_once_are_told_apart_and_do_not_cut_each_others_sentences() -> None:
    told = words((2, "I "), (3, "We "), (2, "found "), (3, "saw "), (2, "oaks."), (3, "elms."))
    rest = (ev.ModelFinished(2), ev.ModelFinished(3))
    assert shown(*BEGUN, *told, *rest).splitlines() == [
        "→ search_agent {}",
        "→ search_agent #2 {}",
        "  [search_agent] I found oaks.",
        "  [search_agent #2] We saw elms.",
    ]


def test_a_sub_agent_that_ends_first_is_shown_at_once() -> None:
    told = words((2, "I "), (3, "We saw elms."))
    tool = ev.ToolStarted("s1", "web_search", {}, "search_agent", "d2")
    later = (*words((2, "found oaks.")), ev.ModelFinished(2))
    assert shown(*BEGUN, *told, ev.ModelFinished(3), tool, *later).splitlines()[2:] == [
        "  [search_agent] I ",
        "  [search_agent #2] We saw elms.",
        "  [search_agent #2] → web_search {}",
        "  [search_agent] found oaks.",
    ]


def test_what_a_sub_agent_had_to_hold_back_is_shown_when_the_segment_ends() -> None:
    told = words((2, "I "), (3, "We "))
    assert shown(*BEGUN, *told, ev.Stopped("user"), ev.SegmentEnded()).splitlines()[2:] == [
        "  [search_agent] I ",
        "  [search_agent #2] We ",
        "(stopped by you)",
    ]


def test_voided_words_that_were_held_back_are_never_shown() -> None:
    told = shown(*BEGUN, *words((2, "I "), (3, "We ")), ev.TextVoided(3), ev.ModelFinished(2))
    assert "We" not in told
    assert "does not count" not in told


def test_a_call_that_is_made_again_after_a_crash_keeps_its_name() -> None:
    begun = ev.ToolStarted("c", "web_search", {}, "a")
    assert shown(begun, begun, ev.ToolFinished("c", "web_search", "so", "ok", "a")).splitlines() == [
        "→ web_search {}",
        "→ web_search {}",
        "✓ web_search: so",
    ]


def test_a_sub_agent_of_a_sub_agent_is_further_in() -> None:
    told = (
        ev.ToolStarted("d1", "outer", {}, "lead_agent"),
        ev.ToolStarted("d2", "inner", {}, "outer", "d1"),
        ev.ModelStarted(3, "inner", parent="d2"),
        ev.TextDelta(3, "so"),
    )
    assert shown(*told).splitlines()[1:] == ["  [outer] → inner {}", "    [inner] so"]


def test_a_lost_connection_is_reported_once() -> None:
    out = io.StringIO()
    screen = Screen(out)
    screen.show(ev.TextDelta(1, "a"))
    for _ in range(3):
        screen.waiting(Unreachable("cannot reach it"), 1.0)
    assert out.getvalue() == "a\n(cannot reach it, trying again)\n"


def test_what_became_of_a_question_is_told_in_plain_words() -> None:
    told = [
        shown(ev.InterruptClosed("i", "answered", {"decision": decision})) for decision in get_args(Decision)
    ]
    assert told == [
        "(approved)\n",
        "(approved with changes)\n",
        "(refused)\n",
        "(answered in place of the call)\n",
        "(the questions were answered)\n",
        "(the form was filled in)\n",
        "(the question was answered)\n",
    ]
    assert shown(ev.InterruptClosed("i", "answered", {"decision": "of a newer server"})) == "(answered)\n"
    assert shown(ev.InterruptClosed("i", "expired")) == "(the question has expired)\n"
    superseded = shown(ev.InterruptClosed("i", "superseded"))
    assert superseded == "(a new message came in place of an answer)\n"
    assert "the turn was stopped" in shown(ev.InterruptClosed("i", "cancelled"))
