"""Ids."""

import re
import time
from itertools import pairwise

import pytest

from caesura.core import ids


def test_ids_sort_by_the_time_they_were_made() -> None:
    made = []
    for _ in range(5):
        made.append(ids.token())
        time.sleep(0.002)
    assert all(earlier < later for earlier, later in pairwise(made))


def test_ids_are_all_different_and_of_one_length() -> None:
    made = {ids.token() for _ in range(10_000)}
    assert len(made) == 10_000
    assert all(re.fullmatch("[0-9a-hjkmnp-tv-z]{24}", token) for token in made)


@pytest.mark.parametrize(
    ("make", "pattern"),
    [
        (ids.conversation, r"conv-\w{24}"),
        (ids.turn, r"turn-\w{24}"),
        (ids.interrupt, r"int-\w{24}"),
        (ids.owner, r"node-\w{24}"),
        (ids.error, r"err-\w{24}"),
    ],
)
def test_an_id_says_what_it_names_and_fits_its_column(make: object, pattern: str) -> None:
    assert callable(make)
    made = make()
    assert re.fullmatch(pattern, made)
    assert len(made) <= (150 if "alice" in made else 40)


@pytest.mark.parametrize("name", ["a", "0", "alice", "alice-b", "a.b_c-9", "a" * 50])
def test_a_username(name: str) -> None:
    assert ids.is_username(name)


@pytest.mark.parametrize(
    "name",
    ["", "-a", ".a", "_a", "Alice", "a b", "a/b", "a\n", "\na", "é", "ａ", "a" * 51, "a\0", "a%", "٣"],
)
def test_not_a_username(name: str) -> None:
    assert not ids.is_username(name)


@pytest.mark.parametrize("name", ["lead_agent", "a", "9-b", "a" * 100])
def test_an_agent_name(name: str) -> None:
    assert ids.is_agent_name(name)


@pytest.mark.parametrize("name", ["", "_a", "a.b", "A", "a b", "a\n", "a" * 101])
def test_not_an_agent_name(name: str) -> None:
    assert not ids.is_agent_name(name)


def test_an_id_tells_when_it_was_made() -> None:
    before = time.time_ns() // 1_000_000
    made = ids.made_at(ids.interrupt())
    assert made is not None
    assert before <= made <= time.time_ns() // 1_000_000
    for other in ("", "int-1", "int-" + "u" * 24, "int-" + "0" * 25):
        assert ids.made_at(other) is None
