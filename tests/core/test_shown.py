"""Showing a text that somebody else wrote to a person."""

import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caesura.core import described, json_data, shown

_ESCAPES = re.compile(
    r"\\(?:(?P<code>x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|(?P<name>[nrt]))(?:\{(?P<count>\d+)\})?|\\\\"
)
_NAMES = {"n": "\n", "r": "\r", "t": "\t"}
_TRICKS = "\\ {}1nx20\n\r\t\x1b\x9b\u202e\u200b\u0301\u0338e\u2028\u3164\U000e0041中"
TEXTS = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Mn", "Zs", "Lu"])),
    st.lists(st.one_of(st.sampled_from(_TRICKS), st.integers(1, 20).map(lambda n: " " * n))).map("".join),
)


def read_back(form: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found["code"]:
            character = chr(int(found["code"][1:], 16))
        else:
            character = _NAMES[found["name"]] if found["name"] else "\\"
        return character * int(found["count"] or 1)

    return _ESCAPES.sub(one, form) if re.search(r"\\[\\nrtxuU]", form) else form


@given(TEXTS)
@example(r"a\nb")
@example("a\nb")
@example("\\\n")
@example(" {3}")
@example("\t{3}")
@example(" " * 17 + "{3}")
def test_the_shown_form_can_be_decoded_to_the_text(value: str) -> None:
    assert read_back(shown.text(value)) == value
    assert read_back(shown.text(value, indented=True)) == value


@given(TEXTS)
def test_no_misleading_character_is_left(value: str) -> None:
    for form in (shown.text(value), shown.line(value), shown.data({"": value})):
        assert form.isprintable()
        assert " " * 17 not in form
        assert shown.line(form) == form
        marks = "".join("m" if unicodedata.category(c) in ("Mn", "Me") else "." for c in form)
        assert "mmmmm" not in marks
        assert not marks.startswith("m")
    assert shown.text(value).strip() == shown.text(value)


@given(TEXTS)
@example("\x7f")
def test_json_stays_the_same_json(value: str) -> None:
    known = json_data.text(value)
    written = json.dumps({"a": known}, ensure_ascii=False)
    assert json.loads(shown.json(written)) == {"a": known}
    assert shown.json(written).isprintable()


@given(TEXTS)
def test_prose_keeps_its_lines_and_nothing_else_that_moves_the_cursor(value: str) -> None:
    kept = shown.prose(value)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", kept)
    assert kept.count("\n") == value.count("\n")


@pytest.mark.parametrize(
    "value",
    [
        "npm install",
        "",
        "安装依赖，然后运行「测试」。",
        "Größe, naïve, Ελληνικά, Привет, שלום, مرحبا, ไทย, हिन्दी, Tiếng Việt, 한국어, にほんご",
        unicodedata.normalize("NFD", "Tiếng Việt, naïve"),
        "😀 👍🏽 🇩🇪 ✓",
        r"grep '\d+' | sed 's/a\.b/c/'",
        "a    b",
        "x" * 5000,
    ],
)
def test_ordinary_text_stays_as_it_is(value: str) -> None:
    assert shown.text(value) == value


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("echo safe\r\x1b[2Krm -rf x", r"echo safe\r\x1b[2Krm -rf x"),
        ("a\nb", r"a\nb"),
        (r"a\nb", r"a\\nb"),
        (r"C:\q" + "\n", r"C:\\q\n"),
        ("a\u202eb\u2066c\u2069", r"a\u202eb\u2066c\u2069"),
        ("\u200b\u200c\u200d\u200e\u200f", r"\u200b\u200c\u200d\u200e\u200f"),
        ("a\u2028b\u0085c\u009b2Jd", r"a\u2028b\x85c\x9b2Jd"),
        ("\U000e0041", r"\U000e0041"),
        ("a" + " " * 10_000 + "b", r"a\x20{10000}b"),
        ("ls\n\n\n\n\nrm", r"ls\n{5}rm"),
        ("hello.py ", r"hello.py\x20"),
        ("a\u00a0b\u3000c", r"a\xa0b\u3000c"),
        ("\u3164\u115f\u2800\ufe0f\ufffc", r"\u3164\u115f\u2800\ufe0f\ufffc"),
        ("\u0338x", r"\u0338x"),
        ("e" + "\u0301" * 10_000, "e" + "\u0301" * 4 + r"\u0301{9996}"),
        ("\ud800", r"\ud800"),
        ("\ue000\u0378", r"\ue000\u0378"),
    ],
)
def test_misleading_characters_are_escaped(value: str, form: str) -> None:
    assert shown.text(value) == form


def test_the_scripts_that_are_skipped_have_nothing_to_escape() -> None:
    for first, last in re.findall("(.)-(.)", shown._USUAL):
        for code in range(ord(first), ord(last) + 1):
            character = chr(code)
            assert character.isprintable(), hex(code)
            assert not unicodedata.category(character).startswith("M"), hex(code)
            assert shown._BLANK.match(character) is None


def test_every_character_that_unicode_may_not_display_is_escaped() -> None:
    ignorable = (
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
        *range(0x1BCA0, 0x1BCA4),
        *range(0x1D173, 0x1D17B),
        *range(0xE0000, 0xE1000),
    )
    for code in ignorable:
        assert shown.text(f"a{chr(code)}b") != f"a{chr(code)}b", hex(code)


def test_an_indented_line_keeps_its_indentation() -> None:
    assert shown.text("    return x", indented=True) == "    return x"
    assert shown.text("    return x ", indented=True) == r"    return x\x20"


def test_a_text_for_people_keeps_its_backslashes() -> None:
    assert shown.line("a\\nb\n") == r"a\nb\n"


def test_data_is_json_on_one_line() -> None:
    assert shown.data({"a": "x\ny\u202e", "b": [1, None]}) == r'{"a":"x\ny\u202e","b":[1,null]}'


def test_running_text_keeps_what_joins_letters_and_emoji() -> None:
    assert shown.prose("a\r\n\t❤️ 👨\u200d👩 می\u200cخواهم") == "a\n\t❤️ 👨\u200d👩 می\u200cخواهم"
    assert shown.prose("a\rb\x1b[2K\u202e") == r"a\rb\x1b[2K\u202e"


@given(st.text("ab\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", max_size=8))
def test_lines_are_counted_as_python_splits_them(value: str) -> None:
    lines = len(value.splitlines())
    assert described.size(value, "en").partition(", ")[2] == (f"{lines} lines" if lines > 1 else "")
