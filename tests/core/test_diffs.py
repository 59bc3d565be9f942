"""Diffs: what changed between two texts."""

import random
import time
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.core import diffs
from caesura.core.diffs import Diff, Hunk
from caesura.core.errors import TooLarge
from tests.holds import holds_less

POEM = "roses are red\nviolets are blue\n\nsugar is sweet\n    and so are you\n"

_lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "d\u2028d\n", "中\n"]), max_size=30)
documents = st.builds(lambda lines, end: "".join(lines) + end, _lines, st.sampled_from(["", "x", " "]))


@given(documents, documents)
@example("a\n", "a")
@example("a", "a\n")
@example("", "a")
@example("a\r\n", "a\n")
@example("a\x0bb", "a\nb")
def test_the_hunks_turn_the_old_text_into_the_new_one(old: str, new: str) -> None:
    hunks = diffs.diff(old, new).hunks
    assert _apply(old, hunks) == new
    assert _apply(new, [_reverse(hunk) for hunk in hunks]) == old


@given(documents, documents)
def test_the_unified_text_says_what_the_hunks_say(old: str, new: str) -> None:
    diff = diffs.diff(old, new, "v1", "v2")
    assert bool(diff.unified) == bool(diff.hunks) == (old != new)
    if diff.hunks:
        spoken = [*diff.unified.split("\n")]
        assert spoken[:2] == ["--- v1", "+++ v2"]
        body = [f"{op} {text}" if op == "\\" else op + text for hunk in diff.hunks for op, text in hunk.lines]
        assert [line for line in spoken[2:] if not line.startswith("@@")] == body


def test_a_hunk_shows_three_lines_around_a_change() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))
    [hunk] = diffs.diff(old, old.replace("10\n", "ten\n")).hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (7, 7, 7, 7)
    assert hunk.lines == (
        *((" ", text) for text in ("7", "8", "9")),
        ("-", "10"),
        ("+", "ten"),
        *((" ", text) for text in ("11", "12", "13")),
    )


def test_a_changed_last_line_break_is_shown() -> None:
    diff = diffs.diff("a\nb", "a\nb\n")
    assert diff.unified == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"


def test_equal_texts_have_no_diff() -> None:
    assert diffs.diff(POEM, POEM) == Diff("", ())


def _apply(old: str, hunks: Iterable[Hunk]) -> str:
    """What `patch` does."""
    before = old.split("\n")
    lines = [line + "\n" for line in before[:-1]] + ([before[-1]] if before[-1] else [])
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        made += lines[at:start]
        assert len(made) == (hunk.new_start - 1 if hunk.new_lines else hunk.new_start)
        new = _side(hunk, " +")
        assert lines[start : start + hunk.old_lines] == _side(hunk, " -")
        assert len(new) == hunk.new_lines
        made += new
        at = start + hunk.old_lines
    return "".join(made + lines[at:])


def _side(hunk: Hunk, ops: str) -> list[str]:
    found: list[str] = []
    last = ""
    for op, text in hunk.lines:
        if op != "\\" and op in ops:
            found.append(text + "\n")
        elif op == "\\" and last in ops:
            found[-1] = found[-1].removesuffix("\n")
        last = op
    return found


def _reverse(hunk: Hunk) -> Hunk:
    other = {"-": "+", "+": "-"}
    lines = tuple((other.get(op, op), text) for op, text in hunk.lines)
    return Hunk(hunk.new_start, hunk.new_lines, hunk.old_start, hunk.old_lines, lines)  # type: ignore[arg-type]


@pytest.mark.parametrize("lines", [20, 400])
def test_a_diff_of_long_texts_with_few_different_lines_ends_in_time(lines: int) -> None:
    """Similar lines are compared each with each: without a bound this takes minutes."""
    pick = random.Random(1)
    old, new = ("".join(f"line {pick.randrange(lines)}\n" for _ in range(50_000)) for _ in range(2))
    began = time.thread_time()
    found = diffs.diff(f"first\n{old}last\n", f"first\n{new}last\n")
    assert time.thread_time() - began < 10
    kept = [line for hunk in found.hunks for op, line in hunk.lines if op in " -"]
    assert kept == ["first", *old.splitlines(), "last"] or len(found.hunks) > 1


def test_a_diff_that_gives_up_keeps_the_common_prefix_and_suffix() -> None:
    pick = random.Random(1)
    old, new = ("".join(f"{pick.randrange(300)}\n" for _ in range(50_000)) for _ in range(2))
    around = "".join(f"same {number}\n" for number in range(10))
    (hunk,) = diffs.diff(around + old + around, around + new + around).hunks
    assert (hunk.old_start, hunk.old_lines) == (8, 50_006)
    assert [line for op, line in hunk.lines if op in " +"][3:-3] == new.splitlines()


@pytest.mark.parametrize(
    ("line", "size"),
    [("\n", 50_000), ("x\n", 50_000), ("a line of usual length, as in most texts\n", 1_000_000)],
)
def test_comparing_long_texts_keeps_the_interpreter_only_for_moments(line: str, size: int) -> None:
    """Where many short lines take too long to watch, a shorter text must hold it for less."""
    most = 0.05 * size / 1_000_000 if size == 1_000_000 else 0.15 * size / 1_000_000
    old = line * (size // len(line))
    new = "".join(f"{number}\n" for number in range(size // 50))
    assert holds_less(lambda: diffs.diff(old, new), most)
    assert holds_less(lambda: diffs.diff(old, old[: size // 2] + "new\n" + old[size // 2 :]), most)


def test_a_changed_part_of_very_many_lines_is_refused_and_a_small_one_in_as_many_is_not() -> None:
    old = "a\n" * diffs.MOST_LINES
    with pytest.raises(TooLarge, match="more than 200,000 lines"):
        diffs.diff(old, "b\n" * 10)
    (hunk,) = diffs.diff(old + "end\n" + old, old + "END\n" + old).hunks
    assert (hunk.old_start, hunk.old_lines) == (diffs.MOST_LINES - 2, 7)
    assert hunk.lines[3:5] == (("-", "end"), ("+", "END"))


def test_a_diff_of_as_many_lines_as_there_may_be_takes_little_memory() -> None:
    old, new = ("".join(f"{mark}{at}\n" for at in range(diffs.MOST_LINES // 2 - 1)) for mark in "ab")
    tracemalloc.start()
    try:
        diffs.diff(old, new)
        assert tracemalloc.get_traced_memory()[1] < 100 * 1024 * 1024
    finally:
        tracemalloc.stop()
