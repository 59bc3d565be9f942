"""Plain data."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import json_data
from tests.core.strategies import values


@given(values())
def test_values_that_json_can_represent_are_unchanged(value: Any) -> None:
    assert json_data.loads(json_data.dumps(value)) == value


@given(values("hostile"))
def test_values_that_json_cannot_represent_can_be_stored(value: Any) -> None:
    stored = json_data.loads(json_data.dumps(value))
    assert json_data.loads(json_data.dumps(stored)) == stored


@given(st.text(st.characters()))
def test_text_is_unchanged_except_for_what_utf8_cannot_encode(text: str) -> None:
    safe = json_data.text(text)
    assert len(safe) == len(text)
    assert all(
        new == old or (new == "?" and "\ud800" <= old <= "\udfff")
        for new, old in zip(safe, text, strict=True)
    )
    assert safe.encode().decode() == safe


def test_an_object_of_any_kind_is_stored_as_its_text() -> None:
    class Thing:
        def __str__(self) -> str:
            return "a thing \ud800"

    assert json_data.loads(json_data.dumps({"it": Thing()})) == {"it": "a thing ?"}


def test_a_dataclass_is_stored_by_its_fields() -> None:
    @dataclass
    class Point:
        x: int

    assert json_data.dumps(Point(1)) == b'{"x":1}'


def test_a_value_nested_too_deeply_is_cut_off() -> None:
    value: Any = "bottom"
    for _ in range(5_000):
        value = [value]
    stored = json_data.dumps(value)
    assert stored == b"[" * 64 + '"…"'.encode() + b"]" * 64


def test_a_value_that_contains_itself_is_cut_off() -> None:
    value: list[Any] = []
    value.append(value)
    assert json_data.loads(json_data.dumps(value))


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
def test_an_integer_too_large_for_json_keeps_its_digits(number: int) -> None:
    assert json_data.loads(json_data.dumps(number)) == str(number)


@pytest.mark.parametrize("number", [900719925474099312345, -(2**63) - 1, 2**64 + 1, 10**300 + 1])
def test_an_integer_from_elsewhere_keeps_its_digits(number: int) -> None:
    data = b'{"large": [%d], "small": 1, "text": "12345678901234567890"}' % number
    read = {"large": [str(number)], "small": 1, "text": "12345678901234567890"}
    assert json_data.bounded(data) == (read, 4)


@given(values())
def test_json_from_elsewhere_is_read_as_it_was_written(value: Any) -> None:
    assert json_data.bounded(json_data.dumps(value))[0] == value


def test_an_integer_too_large_for_python_to_print_is_written_in_hex() -> None:
    assert json_data.loads(json_data.dumps(16**5000)) == "0x1" + "0" * 5000


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"NaN", b"[1,]"])
def test_bytes_that_are_not_json_are_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="line 1"):
        json_data.loads(data)


@given(values())
def test_json_on_one_line_is_the_same_json(value: Any) -> None:
    data = json_data.line(json_data.dumps(value))
    assert json_data.loads(data) == value
    assert len(data.decode().splitlines()) == 1


def test_characters_that_some_readers_take_for_line_breaks_are_escaped() -> None:
    assert (
        json_data.line(json_data.dumps("a\x85b\u2028c\u2029d很")) == '"a\\u0085b\\u2028c\\u2029d很"'.encode()
    )


def test_values_are_counted_to_a_bound_and_a_depth() -> None:
    assert json_data.count({"a": [1, 2, {"b": None}]}) == 5
    assert json_data.bounded(b'{"a": "[[[[[", "b": [[], []]}', 5)[1] == 4
    for data in (b"[1,2,3]", b"[[],[],[]]", b"[" * 65 + b"]" * 65, b"[" * 100_000):
        with pytest.raises(json_data.Unwieldy):
            json_data.bounded(data, 2)
    with pytest.raises(json_data.Unwieldy, match="deeper than 64"):
        json_data.bounded(b"[" * 65 + b"]" * 65)
    assert json_data.bounded(b"[" * 64 + b"]" * 64)[1] == 63


@given(values(), st.integers(0, 12))
def test_json_is_crowded_if_it_holds_very_many_lists_and_objects_or_values(value: Any, most: int) -> None:
    held, containers = _held(value)
    crowded = json_data.crowded(json_data.dumps(value), most)
    assert crowded or containers <= most
    assert not crowded or held >= most


def _held(value: Any) -> tuple[int, int]:
    """How many values it holds, and how many lists and objects there are."""
    if not isinstance(value, dict | list):
        return 0, 0
    inner = [_held(item) for item in (value.values() if isinstance(value, dict) else value)]
    return len(inner) + sum(held for held, _ in inner), 1 + sum(containers for _, containers in inner)


def test_brackets_in_texts_make_no_crowd_but_very_many_texts_do() -> None:
    assert not json_data.crowded(b'["' + b"[" * 100 + b'", "\\"[\\""]', 10)
    assert json_data.crowded(b'["' + b"[" * 100 + b'"' + b', ""' * 50 + b"]", 10)
    with pytest.raises(json_data.Unwieldy):
        json_data.check_parts(b'["\\ud800"' + b', ""' * 50 + b"]", 10)
