"""Hostile and broken YAML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents.document import LARGEST, Document, Malformed, Problem, parse


def refused(data: bytes) -> Problem:
    with pytest.raises(Malformed) as error:
        parse(data)
    return error.value.problem


def test_every_field_knows_its_line() -> None:
    found = parse(b"a: 1\nb:\n  c: [x,\n    y]\n  d: |\n    text\n")
    assert found.value == {"a": 1, "b": {"c": ["x", "y"], "d": "text\n"}}
    assert [found.line(path) for path in (("a",), ("b", "c"), ("b", "c", 1), ("b", "d"))] == [1, 3, 4, 5]


def test_a_missing_field_has_the_line_of_its_nearest_ancestor() -> None:
    assert parse(b"a: 1\nb:\n  c: 2\n").line(("b", "missing", "deep")) == 2


def test_an_alias_bomb_is_refused_at_once() -> None:
    levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 30))
    assert refused(f"l0: &l0 [x]\n{levels}\n".encode()).message == "anchors and aliases are not allowed"


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']",
        "a: !include /etc/passwd",
        "!!map {a: 1}",
        "a: !!binary aGk=",
        "a: !local 1",
    ],
)
def test_tags_are_refused(text: str) -> None:
    assert refused(text.encode()).message.startswith("tags are not allowed")


def test_several_documents_are_refused() -> None:
    problem = refused(b"a: 1\n---\nb: 2\n")
    assert problem.message == "the file holds more than one document"
    assert problem.line == 2


def test_deep_nesting_is_refused() -> None:
    assert "nested deeper" in refused(b"a: " + b"[" * 5000 + b"]" * 5000).message


def test_a_huge_file_is_refused() -> None:
    assert "larger than 256 KiB" in refused(b"a: " + b"x" * LARGEST).message


def test_a_file_that_is_not_utf_8_is_refused_with_its_line() -> None:
    problem = refused("a: 1\nb: ü\n".encode("latin-1"))
    assert (problem.line, problem.message) == (2, "the file is not UTF-8")


def test_a_byte_order_mark_and_windows_line_ends_are_taken() -> None:
    found = parse(b"\xef\xbb\xbfa: 1\r\nb: two\r\n")
    assert found.value == {"a": 1, "b": "two"}
    assert found.line(("b",)) == 2


def test_tabs_are_refused_with_the_remedy() -> None:
    problem = refused(b"a:\n\tb: 1\n")
    assert problem.line == 2
    assert problem.remedy == "indent with spaces, not tabs"


def test_duplicate_keys_are_refused_with_path_and_line() -> None:
    problem = refused(b"a:\n  b: 1\n  c: 2\n  b: 3\n")
    assert (problem.line, problem.path) == (4, ("a", "b"))
    assert problem.message == "a.b is given twice"


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "<<: {a: 1}", "{a: 1}: 2"])
def test_keys_that_are_no_texts_are_refused(text: str) -> None:
    assert refused(text.encode()).message == "only plain texts can be keys"


@pytest.mark.parametrize("data", [b"", b"# only a comment\n", b"\n\n"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    assert refused(data).message == "the file is empty"


def test_control_characters_are_refused_with_their_line() -> None:
    problem = refused(b"a: 1\nb: \x00\n")
    assert (problem.line, problem.message) == (2, "not valid YAML: character U+0000 is not allowed")


def test_dates_stay_texts_even_if_they_are_invalid() -> None:
    assert parse(b"a: 2024-01-01\nb: 2024-99-99\n").value == {"a": "2024-01-01", "b": "2024-99-99"}


def test_syntax_errors_have_their_line() -> None:
    assert refused(b"a: 1\nb: [1, 2\nc: 3\n").line == 3


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = parse(data)
    except Malformed:
        return
    assert isinstance(found, Document)


@given(st.text("abc:-[]{}&*!|>%@`'\"#?, \n\t0123456789.eE+~<=", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text.encode())
    except Malformed:
        return
    assert isinstance(found, Document)


@pytest.mark.parametrize("text", [rb'"\uD800"', rb'["a", "b \uDFFF"]', rb'{"\uD83D": 1}', rb'"\uD83D\uDE00"'])
def test_half_of_a_character_is_refused_with_its_line(text: bytes) -> None:
    problem = refused(b"a: 1\nb: " + text + b"\n")
    assert (problem.line, problem.message) == (2, "a text holds half of a character")
    assert parse(b'a: "\\U0001F600"\n').value == {"a": "\U0001f600"}


def test_very_many_values_and_very_long_numbers_are_refused() -> None:
    assert "more than 10000 values" in refused(b"a: [" + b"x," * 20_000 + b"]").message
    assert "a number of more than 100 characters" in refused(b"a: " + b"1:" * 60 + b"1").message
    assert parse(b"a: '" + b"1" * 200 + b"'").value == {"a": "1" * 200}
