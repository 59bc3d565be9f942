"""What an operator's function returned, as text: large values are written piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import to_json

from caesura.agents.tools.own import returned
from caesura.agents.tools.own.returned import Unwritable


class Item(BaseModel):
    name: str


@dataclass
class Place:
    street: str
    items: list[Item]


VALUES: list[Any] = [
    [],
    {},
    [1],
    [1, 2, 3, 4, 5],
    (1, "é", None, True, 1.5, float("nan")),
    {"a": 1, 2: [1, 2, 3], None: {"b": [[[[[1, 2, 3]]]]]}},
    {str(number): {"rows": [number] * number} for number in range(7)},
    {"rows": [{"name": "a", "tags": ["x", "y", "z"]}] * 7},
    [Item(name="a"), Place("b", [Item(name="c")]), {1, 2}],
    Place("b", [Item(name="c")]),
    {"a\n\"'": "b\n\"'", "null": None},
]


@pytest.mark.parametrize("at_once", [2, 200])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_pieces_are_the_same_json_as_the_whole(
    monkeypatch: pytest.MonkeyPatch, value: Any, at_once: int
) -> None:
    monkeypatch.setattr(returned, "_AT_ONCE", at_once)
    assert returned.text(value) == to_json(value, inf_nan_mode="strings").decode()


def test_no_more_is_written_than_can_be_used() -> None:
    text = returned.text({"rows": ["é" * 1000] * 100_000})
    assert text.startswith('{"rows":["éé')
    assert len(text.encode()) < returned.LARGEST + 200
    note = f"\n[cut: the result has more than {returned.LARGEST} bytes, and the rest was not written]"
    assert text.endswith(note)


@pytest.mark.parametrize("deep", [False, True])
def test_a_value_that_holds_itself_cannot_be_written(deep: bool) -> None:
    value: list[Any] = []
    value.append({"a": value} if deep else value)
    with pytest.raises(Unwritable, match="cannot be written as JSON"):
        returned.text(value)
