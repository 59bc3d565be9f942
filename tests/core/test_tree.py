"""The message tree."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from caesura.core import tree


class Turn(NamedTuple):
    id: str
    parent_id: str | None


#   a ── b ── d
#    └── c ── e ── f      g
TURNS = [
    Turn("a", None),
    Turn("b", "a"),
    Turn("c", "a"),
    Turn("d", "b"),
    Turn("e", "c"),
    Turn("f", "e"),
    Turn("g", None),
]

forests = st.lists(st.integers(-1, 30), max_size=20).map(
    lambda parents: [Turn(str(n), str(p) if 0 <= p < n else None) for n, p in enumerate(parents)]
)


def test_a_branch_runs_from_its_root_to_its_leaf() -> None:
    assert [turn.id for turn in tree.branch(TURNS, "f")] == ["a", "c", "e", "f"]
    assert [turn.id for turn in tree.branch(TURNS, "g")] == ["g"]


def test_the_branch_of_a_missing_leaf_is_empty() -> None:
    assert tree.branch(TURNS, None) == []
    assert tree.branch(TURNS, "z") == []
    assert tree.branch([], "a") == []


def test_children_are_given_in_order_and_roots_have_no_parent() -> None:
    assert tree.children(TURNS) == {None: ["a", "g"], "a": ["b", "c"], "b": ["d"], "c": ["e"], "e": ["f"]}


def test_picking_a_branch_continues_at_its_newest_leaf() -> None:
    assert tree.leaf_below(TURNS, "a") == "f"
    assert tree.leaf_below(TURNS, "b") == "d"
    assert tree.leaf_below(TURNS, "f") == "f"


def test_a_cycle_of_parents_does_not_hang() -> None:
    ring = [Turn("a", "b"), Turn("b", "a")]
    assert [turn.id for turn in tree.branch(ring, "a")] == ["b", "a"]
    assert tree.leaf_below(ring, "a") in ("a", "b")


@given(forests, st.data())
def test_a_branch_is_a_chain_of_parents(turns: list[Turn], data: st.DataObject) -> None:
    for turn in turns:
        chain = tree.branch(turns, turn.id)
        assert chain[-1] == turn
        assert [turn.parent_id for turn in chain] == [None, *(turn.id for turn in chain[:-1])]


@given(forests)
def test_every_turn_is_the_child_of_exactly_one_parent(turns: list[Turn]) -> None:
    below = tree.children(turns)
    assert sorted(child for group in below.values() for child in group) == sorted(turn.id for turn in turns)


@given(forests)
def test_a_leaf_has_nothing_below_it_and_its_branch_runs_through_the_start(turns: list[Turn]) -> None:
    below = tree.children(turns)
    for turn in turns:
        leaf = tree.leaf_below(turns, turn.id)
        assert leaf not in below
        assert turn in tree.branch(turns, leaf)
