"""Artifacts: how an update is applied, and what changed between two versions."""

import random
import re
import time
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.core import artifacts
from caesura.core.artifacts import Edit, Hunk
from caesura.core.errors import BadInput

POEM = "roses are red\nviolets are blue\n\nsugar is sweet\n    and so are you\n"

_lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "d\u2028d\n", "中\n"]), max_size=30)
documents = st.builds(lambda lines, end: "".join(lines) + end, _lines, st.sampled_from(["", "x", " "]))


def test_an_exact_match_is_replaced() -> None:
    edit = artifacts.update(POEM, "are blue", "are not")
    assert edit == Edit(POEM.replace("are blue", "are not"), "update", (("are blue", "are not"),))


def test_a_text_may_be_replaced_by_nothing() -> None:
    assert artifacts.update("abc", "b", "").content == "ac"


@given(st.text("ab", max_size=8), st.text("ab", min_size=1, max_size=4), st.text("xy", max_size=3))
def test_an_update_changes_exactly_one_place_or_nothing(content: str, old: str, new: str) -> None:
    places = [at for at in range(len(content)) if content.startswith(old, at)]
    try:
        edit = artifacts.update(content, old, new)
    except BadInput:
        assert len(places) != 1
        return
    if edit.update_type == "update":
        [at] = places
        assert edit.content == content[:at] + new + content[at + len(old) :]
    else:
        assert places == []
        [(found, _)] = edit.changes
        assert content.replace(found, new, 1) == edit.content or content.count(found) > 1


@pytest.mark.parametrize(
    ("content", "old"), [("are are", "are"), ("aaa", "aa"), ("banana", "ana"), (POEM, "are"), (POEM, "\n")]
)
def test_a_text_with_several_matches_is_refused(content: str, old: str) -> None:
    with pytest.raises(BadInput, match="old text stands in several places: give more of its surroundings"):
        artifacts.update(content, old, "x")


def test_a_match_that_differs_in_white_space_is_found() -> None:
    edit = artifacts.update(POEM, "sugar  is\tsweet\nand so are you", "salt is not")
    assert edit.update_type == "update_fuzzy"
    assert edit.changes == (("sugar is sweet\n    and so are you", "salt is not"),)
    assert edit.content == "roses are red\nviolets are blue\n\nsalt is not\n"


def test_a_nearly_equal_line_is_found() -> None:
    edit = artifacts.update(POEM, "violetts are blue", "violets are green")
    assert edit.update_type == "update_fuzzy"
    assert edit.content == POEM.replace("violets are blue", "violets are green")
    assert edit.changes == (("violets are blue", "violets are green"),)


def test_nearly_equal_lines_are_found_together() -> None:
    edit = artifacts.update(POEM, "rosses are red\nviolets are bluue\n", "one line\n")
    assert edit.content == "one line\n\nsugar is sweet\n    and so are you\n"


def test_the_nearest_of_several_similar_places_is_taken() -> None:
    content = "total = price * amount\ntotal = price * amounts\n"
    edit = artifacts.update(content, "totals = price * amounts", "x")
    assert edit.content == "total = price * amount\nx\n"


@pytest.mark.parametrize("wanted", [1, 20, 200])
def test_a_long_text_is_searched_in_bounded_time(wanted: int) -> None:
    """Lines that are all slightly similar, as in a table: the worst case."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    pick = random.Random(1)
    lines = [" ".join(pick.choices(words, k=8)) for _ in range(3_000)]
    other = "\n".join(line[::-1] for line in lines[:wanted])
    typo = "\n".join(lines[1_500 : 1_500 + wanted]).replace("alpha", "alhpa", 1)
    with pytest.raises(BadInput, match="old text was not found"):
        artifacts.update("\n".join(lines), other, "x")
    edit = artifacts.update("\n".join(lines), typo, "x")
    assert edit.content == "\n".join([*lines[:1_500], "x", *lines[1_500 + wanted :]])


@pytest.mark.parametrize("content", ["a" * 200_000, "ab " * 60_000, "a\n" * 100_000])
def test_a_monotonous_text_is_searched_in_bounded_time(content: str) -> None:
    half = content[: len(content) // 2]
    for old in (half, half + "b", "b" + half, half.replace("a", "c", 1)):
        with pytest.raises(BadInput):
            artifacts.update(content, old, "x")


def test_equally_similar_places_are_refused() -> None:
    with pytest.raises(BadInput, match="old text stands in several places"):
        artifacts.update("violets are blue\nviolets are blue\n", "violetts are blue", "x")


def test_several_matches_that_differ_in_white_space_alone_are_refused() -> None:
    with pytest.raises(BadInput, match="old text stands in several places"):
        artifacts.update("a  b\na\tb\n", "a b", "x")


@given(st.text("ab \n", max_size=12), st.text("ab \t", max_size=5))
def test_the_white_space_search_finds_what_a_regular_expression_finds(content: str, old: str) -> None:
    pattern = r"\s+".join(re.escape(word) for word in old.split())
    spans = [match.span(1) for match in re.finditer(f"(?=({pattern}))", content)] if pattern else []
    assert artifacts._spaced(content, old) == spans[:2]


@pytest.mark.parametrize("old", ["tulips are yellow", "red roses", POEM * 2, "roses\nare\nred\nand\nmore"])
def test_a_missing_text_is_refused(old: str) -> None:
    with pytest.raises(BadInput, match="old text was not found"):
        artifacts.update(POEM, old, "x")


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(BadInput, match="old text is empty"):
        artifacts.update(POEM, "", "x")


def test_characters_special_to_regular_expressions_are_literal() -> None:
    assert artifacts.update(r"a.*b (c) \1", ".*b (c)", r"\1\g<0>").content == r"a\1\g<0> \1"


def test_a_rewrite_keeps_what_was_there() -> None:
    assert artifacts.rewrite("old", "new") == Edit("new", "rewrite", (("old", "new"),))


@pytest.mark.parametrize(
    "text", ["x" * (artifacts.CONTENT_LIMIT + 1), "中" * (artifacts.CONTENT_LIMIT // 3 + 1)]
)
def test_a_content_that_is_too_long_is_refused(text: str) -> None:
    message = f"content is longer than {artifacts.CONTENT_LIMIT} bytes"
    with pytest.raises(BadInput, match=message):
        artifacts.check_content(text)
    with pytest.raises(BadInput, match=message):
        artifacts.rewrite("", text)
    with pytest.raises(BadInput, match=message):
        artifacts.update("a", "a", text)
    artifacts.check_content("x" * artifacts.CONTENT_LIMIT)


@given(documents, documents)
@example("a\n", "a")
@example("a", "a\n")
@example("", "a")
@example("a\r\n", "a\n")
@example("a\x0bb", "a\nb")
def test_the_hunks_turn_the_old_text_into_the_new_one(old: str, new: str) -> None:
    hunks = artifacts.diff(old, new).hunks
    assert _apply(old, hunks) == new
    assert _apply(new, [_reverse(hunk) for hunk in hunks]) == old


@given(documents, documents)
def test_the_unified_text_says_what_the_hunks_say(old: str, new: str) -> None:
    diff = artifacts.diff(old, new, "v1", "v2")
    assert bool(diff.unified) == bool(diff.hunks) == (old != new)
    if diff.hunks:
        spoken = [*diff.unified.split("\n")]
        assert spoken[:2] == ["--- v1", "+++ v2"]
        body = [f"{op} {text}" if op == "\\" else op + text for hunk in diff.hunks for op, text in hunk.lines]
        assert [line for line in spoken[2:] if not line.startswith("@@")] == body


def test_a_hunk_shows_three_lines_around_a_change() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))
    [hunk] = artifacts.diff(old, old.replace("10\n", "ten\n")).hunks
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (7, 7, 7, 7)
    assert hunk.lines == (
        *((" ", text) for text in ("7", "8", "9")),
        ("-", "10"),
        ("+", "ten"),
        *((" ", text) for text in ("11", "12", "13")),
    )


def test_a_changed_last_line_break_is_shown() -> None:
    diff = artifacts.diff("a\nb", "a\nb\n")
    assert diff.unified == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"


def test_equal_texts_have_no_diff() -> None:
    assert artifacts.diff(POEM, POEM) == artifacts.Diff("", ())


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
    found = artifacts.diff(f"first\n{old}last\n", f"first\n{new}last\n")
    assert time.thread_time() - began < 10
    kept = [line for hunk in found.hunks for op, line in hunk.lines if op in " -"]
    assert kept == ["first", *old.splitlines(), "last"] or len(found.hunks) > 1


def test_a_diff_that_gives_up_keeps_the_common_prefix_and_suffix() -> None:
    pick = random.Random(1)
    old, new = ("".join(f"{pick.randrange(300)}\n" for _ in range(50_000)) for _ in range(2))
    around = "".join(f"same {number}\n" for number in range(10))
    (hunk,) = artifacts.diff(around + old + around, around + new + around).hunks
    assert (hunk.old_start, hunk.old_lines) == (8, 50_006)
    assert [line for op, line in hunk.lines if op in " +"][3:-3] == new.splitlines()


def test_a_text_too_long_for_a_fuzzy_search_is_still_searched_exactly() -> None:
    content = "".join(f"line {number}\n" for number in range(60_000))
    assert artifacts.update(content, "line 59999\n", "x").update_type == "update"
    assert artifacts.update(content, "line  59998\nline  59999", "x").update_type == "update_fuzzy"
    with pytest.raises(BadInput, match="not found"):
        artifacts.update(content, "lime 59999", "x")
