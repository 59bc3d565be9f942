"""Finding the text that an update replaces."""

import random
import re
import time
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import matching
from caesura.core.errors import BadInput
from caesura.core.matching import Match

POEM = "roses are red\nviolets are blue\n\nsugar is sweet\n    and so are you\n"
SPEECH = "他说：“今天的天气很好，我们去公园散步吧。”她回答道：“好的，等我十分钟。”于是他们一起出门了。"


def test_an_exact_match_is_found() -> None:
    assert matching.find(POEM, "are blue") == Match(22, 30, exact=True)


@given(st.text("ab", max_size=8), st.text("ab", min_size=1, max_size=4))
def test_one_exact_match_is_taken_and_several_are_refused(content: str, old: str) -> None:
    places = [at for at in range(len(content)) if content.startswith(old, at)]
    if len(places) == 1:
        assert matching.find(content, old) == Match(places[0], places[0] + len(old), exact=True)
    else:
        with pytest.raises(BadInput):
            matching.find(content, old)


@pytest.mark.parametrize(
    ("content", "old"), [("are are", "are"), ("aaa", "aa"), ("banana", "ana"), (POEM, "are"), (POEM, "\n")]
)
def test_a_text_with_several_matches_is_refused(content: str, old: str) -> None:
    with pytest.raises(BadInput, match="old text stands in several places: give more of its surroundings"):
        matching.find(content, old)


@given(st.text("ab \n", max_size=12), st.text("ab \t", max_size=5))
def test_the_white_space_search_finds_what_a_regular_expression_finds(content: str, old: str) -> None:
    wanted = old.strip()
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    spans = [match.span(1) for match in re.finditer(f"(?=({pattern}))", content)] if pattern else []
    if wanted and wanted not in content and len(spans) == 1:
        assert matching.find(content, wanted) == Match(*spans[0])
    elif len(spans) != 1:
        with pytest.raises(BadInput):
            matching.find(content, wanted or " \t \t ")


@pytest.mark.parametrize(
    ("content", "old", "place"),
    [
        (POEM, "sugar  is\tsweet\nand so are you", "sugar is sweet\n    and so are you"),
        ("a\n\tb()\nc\n", "    b()\n", "\tb()\n"),
        ("a\n\tb()\nc\n", "b() \n", "b()\n"),
        ("a\n\tb()\nc\n", "a\nb()", "a\n\tb()"),
        ("a b\n\n\nc d\n", "a  b\n", "a b\n"),
        ("a b\n\n\nc d\n", "\nc  d\n", "\nc d\n"),
        ("one  two", "one two \n\n", "one  two"),
    ],
)
def test_a_match_that_differs_in_white_space_is_found(content: str, old: str, place: str) -> None:
    match = matching.find(content, old)
    assert (content[match.start : match.end], match.exact) == (place, False)


def test_several_matches_that_differ_in_white_space_alone_are_refused() -> None:
    with pytest.raises(BadInput, match="old text stands in several places"):
        matching.find("a  b\na\tb\n", "a b")


@pytest.mark.parametrize("old", ["violetts are blue", "red roses", POEM * 2, "roses\nare\nred\nand\nmore"])
def test_a_missing_text_is_refused(old: str) -> None:
    with pytest.raises(BadInput, match="old text was not found: read the artifact"):
        matching.find(POEM, old)


@pytest.mark.parametrize("old", ["", " \t "])
def test_an_old_text_without_a_word_is_refused(old: str) -> None:
    with pytest.raises(BadInput, match=r"old text (is empty|was not found)"):
        matching.find("a b", old)


@pytest.mark.parametrize(
    ("content", "old", "near"),
    [
        (POEM, "are red\nviolett are blue", "violets are blue"),
        (SPEECH, "今天的天气真好，我们去公园散步吧", SPEECH),
        (
            "".join(f"{at} times {at} is {at * at}\n" for at in range(40_000)),
            "3012 tmes 3012 is 9072144",
            "is 9072144",
        ),
        ("x" * 500 + " the quick brown fox " + "y" * 500, "teh quick brown fox", "the quick brown fox"),
    ],
)
def test_the_error_about_a_missing_text_shows_the_nearest_lines(content: str, old: str, near: str) -> None:
    with pytest.raises(BadInput, match="The nearest lines are:") as refused:
        matching.find(content, old)
    assert near in refused.value.message
    assert len(refused.value.message) < 1_000


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("a b " * 250_000, "b a  b\n" * 70_000),
        ("ab" * 500_000, "ba" * 250_000 + "c"),
        ("a" * 1_000_000, "a" * 500_000 + "c"),
        (("a" * 1_000 + "b") * 1_000, "a" * 999 + "b" + "a" * 2_000),
        ("\n" * 1_000_000, "a\n" * 500_000),
        (
            "".join(random.Random(1).choices("ab", k=1_000_000)),
            "".join(random.Random(2).choices("ab", k=900)),
        ),
    ],
)
def test_a_search_in_the_longest_content_takes_a_moment(content: str, old: str) -> None:
    """Some ten times as long as the white space of the content is read."""
    began = time.thread_time()
    " ".join(("a b " * 250_000).split())
    words = time.thread_time() - began
    began = time.thread_time()
    with pytest.raises(BadInput):
        matching.find(content, old)
    assert time.thread_time() - began < 20 * words


def test_white_space_is_searched_linearly() -> None:
    content = "a b " * 250_000 + " c  d"
    assert matching.find(content, "c d") == Match(len(content) - 4, len(content))
    assert matching.find("c  d " + content[:-6], "c d") == Match(0, 4)


class Counted(str):
    """Counts the characters that are copied from it."""

    copied = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.copied += len(part)
        return part


@pytest.mark.parametrize("content", ["a" * 50_000 + " b  c", "\n" * 50_000 + " b  c" + "\n" * 50_000])
def test_line_breaks_at_the_ends_of_an_old_text_copy_nothing(content: str) -> None:
    searched = Counted(content)
    start = content.index("b")
    matching._widened(searched, start, start + 4, "\n" * 2_000 + "b c" + "\n" * 2_000)
    assert searched.copied < 20_000
