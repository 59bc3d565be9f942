"""Artifacts: what an edit makes of a content, and what an id, a title and a content may be."""

import pytest

from caesura.core import artifacts
from caesura.core.artifacts import Edit
from caesura.core.errors import BadInput

POEM = "roses are red\nviolets are blue\n"


def test_an_exact_match_is_replaced() -> None:
    edit = artifacts.update(POEM, "are blue", "are not")
    assert edit == Edit(POEM.replace("are blue", "are not"), "update", (("are blue", "are not"),))


def test_a_text_with_other_white_space_is_replaced_and_named() -> None:
    edit = artifacts.update(POEM, "violets  are\tblue", "violets are green")
    assert edit.content == POEM.replace("blue", "green")
    assert (edit.update_type, edit.changes) == ("update_fuzzy", (("violets are blue", "violets are green"),))


def test_a_text_may_be_replaced_by_nothing() -> None:
    assert artifacts.update("abc", "b", "").content == "ac"


def test_an_update_that_changes_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="nothing changes"):
        artifacts.update("abc", "b", "b")


def test_characters_special_to_regular_expressions_are_literal() -> None:
    assert artifacts.update(r"a.*b (c) \1", ".*b (c)", r"\1\g<0>").content == r"a\1\g<0> \1"


def test_a_whole_content_has_no_changes() -> None:
    assert artifacts.create("new") == Edit("new", "create")
    assert artifacts.rewrite("new") == Edit("new", "rewrite")


@pytest.mark.parametrize(
    "text", ["x" * (artifacts.CONTENT_LIMIT + 1), "中" * (artifacts.CONTENT_LIMIT // 3 + 1)]
)
def test_a_content_that_is_too_long_is_refused(text: str) -> None:
    message = f"content is longer than {artifacts.CONTENT_LIMIT} bytes"
    for make in (artifacts.create, artifacts.rewrite, lambda text: artifacts.update("a", "a", text)):
        with pytest.raises(BadInput, match=message):
            make(text)
    artifacts.create("x" * artifacts.CONTENT_LIMIT)


def test_what_cannot_be_stored_is_replaced() -> None:
    assert artifacts.create("a\ud800中").content == "a?中"
    assert artifacts.update("abc", "b", "\ud800").changes == (("b", "?"),)


@pytest.mark.parametrize("name", ["a", "research_report", "报告-1.md", "_x", "1", "é", "x" * 100])
def test_an_id_of_word_characters_dots_and_dashes_is_accepted(name: str) -> None:
    assert artifacts.check_id(name) == name


def test_an_id_is_normalised() -> None:
    assert artifacts.check_id("re\u0301sume\u0301") == "r\u00e9sum\u00e9"


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "-x", "a/b", "a b", "a\nb", "a\n", "a\0", "😀", "x" * 101, "\ud800"]
)
def test_any_other_id_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="an artifact's id has 1 to 100 letters"):
        artifacts.check_id(name)


def test_a_title_is_one_line() -> None:
    assert artifacts.check_title("  A plan 中 ") == "A plan 中"
    assert artifacts.check_title("x" * 200) == "x" * 200
    for title in ("a\nb", "a\u2028b", "a\0b", "a\tb", "a\x1bb"):
        with pytest.raises(BadInput, match="an artifact's title is one line"):
            artifacts.check_title(title)
    for title in ("", "  ", "x" * 201, "x" * 2_000_000):
        with pytest.raises(BadInput, match="an artifact's title has 1 to 200 characters"):
            artifacts.check_title(title)


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\u2066b\u2069c\u200fd\u061ce", "abcde"),
        ("pay\u200bpal\u200d\u2060\ufeff\u00ad", "paypal"),
        ("tag\U000e0041\U000e0020\u3164\u2800", "tag"),
        ("中文\u3000标题\u00a0一", "中文 标题 一"),
        ("\u26a0\ufe0f Warning", "\u26a0 Warning"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 4),
        ("שלום مرحبا résumé ไทย", "שלום مرحبا résumé ไทย"),
    ],
)
def test_a_title_keeps_no_characters_that_mislead(title: str, kept: str) -> None:
    assert artifacts.check_title(title) == kept


def test_a_title_of_invisible_characters_is_refused() -> None:
    with pytest.raises(BadInput, match="an artifact's title has 1 to 200 characters"):
        artifacts.check_title("\u200b\u202e\u3164")


def test_the_content_types_are_known() -> None:
    for name in ("markdown", "code", "text", "html", "json", "csv", "mermaid"):
        assert artifacts.check_content_type(name) == name
    for name in ("", "text/html", "Markdown", "pdf"):
        with pytest.raises(BadInput, match="unknown content type: use one of markdown, code"):
            artifacts.check_content_type(name)
