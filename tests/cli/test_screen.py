"""The events of a turn, as lines of a terminal."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.cli.screen import Screen, asking, one_line
from caesura.client import Unreachable
from caesura.core import events as ev
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


def test_a_sub_agent_is_named() -> None:
    told = (ev.ModelStarted(2, "search_agent", parent="c"), ev.TextDelta(2, "found"))
    assert shown(*told) == "[search_agent] found"


def test_a_lost_connection_is_reported_once() -> None:
    out = io.StringIO()
    screen = Screen(out)
    screen.show(ev.TextDelta(1, "a"))
    for _ in range(3):
        screen.waiting(Unreachable("cannot reach it"), 1.0)
    assert out.getvalue() == "a\n(cannot reach it: trying again)\n"
