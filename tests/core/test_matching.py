"""Finding the text that an update replaces."""

import random
import re
from collections.abc import Iterator
from functools import partial
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import alignment, matching
from caesura.core.errors import BadInput
from caesura.core.matching import Match
from tests.holds import holds_less

POEM = "roses are red\nviolets are blue\n\nsugar is sweet\n    and so are you\n"
SPEECH = "他说：“今天的天气很好，我们去公园散步吧。”她回答道：“好的，等我十分钟。”于是他们一起出门了。"
CODE = """\
def area(width, height):
    if width < 0:
        raise ValueError('negative')
    return width * height
"""


def found(content: str, old: str) -> str:
    match = matching.find(content, old)
    return content[match.start : match.end]


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
    assert (content[match.start : match.end], match.exact, match.similarity) == (place, False, 1.0)


def test_several_matches_that_differ_in_white_space_alone_are_refused() -> None:
    with pytest.raises(BadInput, match="old text stands in several places"):
        matching.find("a  b\na\tb\n", "a b")


@pytest.mark.parametrize(
    ("content", "old", "place"),
    [
        (POEM, "violetts are blue", "violets are blue"),
        (POEM, "Violets are blue", "violets are blue"),
        (POEM, "violets are bleu", "violets are blue"),
        (POEM, "olets aer blue", "olets are blue"),
        (POEM, "rosses are red\nviolets are bluue\n", "roses are red\nviolets are blue\n"),
        (POEM, "sugar is sweeet\nand so are you", "sugar is sweet\n    and so are you"),
        (CODE, 'raise ValueError("negative")', "raise ValueError('negative')"),
        (
            CODE,
            "if widht < 0:\n    raise ValueError('negative')\n",
            "if width < 0:\n        raise ValueError('negative')\n",
        ),
        (SPEECH, "今天的天气真好，我们去公园散步吧", "今天的天气很好，我们去公园散步吧"),
        (SPEECH, '"好的,等我十分钟。"', "“好的，等我十分钟。”"),
        (SPEECH, "于是他们便一起出门了。", "于是他们一起出门了。"),
    ],
)
def test_a_similar_text_is_found_from_its_first_to_its_last_character(
    content: str, old: str, place: str
) -> None:
    match = matching.find(content, old)
    assert content[match.start : match.end] == place
    assert not match.exact
    assert matching.SIMILAR <= match.similarity <= 1.0


def test_the_nearest_of_several_similar_places_is_taken() -> None:
    content = "total = price * amount\ntotal = price * amounts\n"
    assert matching.find(content, "totals = price * amounts").start == 23


def test_equally_similar_places_are_refused() -> None:
    with pytest.raises(BadInput, match="old text stands in several places"):
        matching.find("violets are blue\nviolets are blue\n", "violetts are blue")


@pytest.mark.parametrize("old", ["tulips are yellow", "red roses", POEM * 2, "roses\nare\nred\nand\nmore"])
def test_a_missing_text_is_refused(old: str) -> None:
    with pytest.raises(BadInput, match="old text was not found"):
        matching.find(POEM, old)


def test_an_empty_old_text_is_refused() -> None:
    with pytest.raises(BadInput, match="old text is empty"):
        matching.find(POEM, "")


@given(
    st.text("abc 中", min_size=12, max_size=40),
    st.integers(0, 39),
    st.sampled_from("xyz"),
    st.text("de\n", max_size=30),
    st.text("fg\n", max_size=30),
)
def test_a_wrong_character_does_not_hide_a_text(
    wanted: str, place: int, wrong: str, before: str, after: str
) -> None:
    wanted = " ".join(wanted.split())
    if len(wanted) < 8:
        return
    at = place % len(wanted)
    old = wanted[:at] + wrong + wanted[at + 1 :]
    try:
        match = matching.find(f"{before}\n{wanted}\n{after}", old)
    except BadInput as error:
        assert "several" in error.message or len(set(wanted)) < 4  # noqa: PT017 - either may be so
        return
    assert match.start <= len(before) + 2
    assert match.end >= len(before) + len(wanted) - 1


def _table(lines: int) -> list[str]:
    """Lines that are all slightly similar: the worst case."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    pick = random.Random(1)
    return [" ".join(pick.choices(words, k=8)) for _ in range(lines)]


@pytest.mark.parametrize("wanted", [1, 20, 200])
def test_a_long_text_of_similar_lines_is_searched(wanted: int) -> None:
    lines = _table(3_000)
    typo = "\n".join(lines[1_500 : 1_500 + wanted]).replace("alpha", "alhpa", 1)
    assert found("\n".join(lines), typo) == "\n".join(lines[1_500 : 1_500 + wanted])
    with pytest.raises(BadInput, match="old text was not found"):
        matching.find("\n".join(lines), "\n".join(line[::-1] for line in lines[:wanted]))


@pytest.mark.parametrize("content", ["a" * 200_000, "ab " * 60_000, "a\n" * 100_000])
def test_a_monotonous_text_is_searched_in_bounded_time(content: str) -> None:
    half = content[: len(content) // 2]
    for old in (half, half + "b", "b" + half, half.replace("a", "c", 1)):
        with pytest.raises(BadInput):
            matching.find(content, old)


def test_a_text_too_long_for_a_similar_one_is_still_searched_exactly() -> None:
    content = "".join(f"line {number}\n" for number in range(60_000))
    long = content[1_000 : 1_000 + matching.FUZZY_LIMIT + 1].strip()
    assert found(content, long) == long
    assert found(content, long.replace(" ", "  ", 1)) == long
    with pytest.raises(BadInput, match="not found"):
        matching.find(content, long.replace("line", "lime", 1))


def test_a_search_in_a_long_text_keeps_the_interpreter_only_for_moments() -> None:
    """A tenth of a megabyte, and a tenth of the time: to watch a longer search would take a minute."""
    lines = _table(2_200)
    content = "\n".join(lines)
    for count in (1, 100):
        typo = "\n".join(lines[900 : 900 + count]).replace("alpha", "alhpa", 1)
        assert holds_less(partial(matching.find, content, typo), 0.015)


@pytest.mark.parametrize("faults", [10, 70, 300])
def test_a_search_aligns_no_more_than_its_bound_in_all(faults: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forwards and backwards, for few faults and then for many."""
    pick = random.Random(1)
    old = "".join(pick.choices("abcdefghijklmnopqrstuvwxyz", k=2_000))
    copy = list(old)
    for place in pick.sample(range(len(copy)), faults):
        copy[place] = "#"
    work, align = 0.0, alignment._distances

    def counted(text: str, length: int, masks: dict[str, int], *, anywhere: bool) -> Iterator[int]:
        nonlocal work
        work += len(text) * (1 + length / alignment._WIDE)
        return align(text, length, masks, anywhere=anywhere)

    monkeypatch.setattr(alignment, "_distances", counted)
    monkeypatch.setattr(alignment, "_PATIENCE", 100_000)
    with pytest.raises(BadInput, match="old text was not found"):
        matching.find(" ".join(["".join(copy)] * 100), old)
    assert 10_000 < work <= 100_000


def test_many_equally_similar_places_are_compared_with_their_neighbours_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared, overlaps = 0, matching._Place.overlaps

    def counted(place: matching._Place, other: matching._Place) -> bool:
        nonlocal compared
        compared += 1
        return overlaps(place, other)

    monkeypatch.setattr(matching._Place, "overlaps", counted)
    with pytest.raises(BadInput, match="old text stands in several places"):
        matching.find("violets are blue\n" * 4_000, "violetts are blue")
    assert compared < 40 * 4_000


def test_an_old_text_of_very_many_different_characters_is_not_searched_for_a_similar_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = "".join(map(chr, range(0x20000, 0x20000 + 40_000)))
    monkeypatch.setattr(alignment, "_masks", None)  # each character would take 5 kB of memory
    with pytest.raises(BadInput, match="old text was not found"):
        matching.find(content, content[:-5] + "x")


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
