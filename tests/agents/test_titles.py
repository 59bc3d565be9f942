"""Titles: the prompt, and cleaning the model's reply."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents import titles

QUOTES = set("\"'`“”‘’„‟«»‹›「」『』《》〈〉＂＇｀")


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Trees and birds", "Trees and birds"),
        ('"Trees and birds."', "Trees and birds"),
        ("“树木与鸟”", "树木与鸟"),
        ("《部署计划》", "部署计划"),
        ("Title: Trees", "Trees"),
        ("标题：部署计划", "部署计划"),
        ("# Trees", "Trees"),
        ("**Trees** and `birds`", "Trees and birds"),
        ("1. Trees", "Trees"),
        ("[Trees](https://example.com/)", "Trees"),
        ("\n\n  Trees  \nand more", "Trees"),
        ("<think>\nlong thoughts\n</think>\nTrees", "Trees"),
        ("<think>never ends", None),
        ("A title that is much longer than it may be", "A title that is much"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahr"),
        ("一二三四五六七八九十一二三四五六七八九十一二三", "一二三四五六七八九十一二三四五六七八九十"),
        ("Tr\x00ees\u202e", "Trees"),
        ("\u3164Tr\ufe0fees\u2800", "Trees"),
        ("C++ and C#", "C++ and C#"),
        ("", None),
        ("\"'`", None),
        ("\n \t\n", None),
        ("...", None),
        ("___", None),
        ("__Trees__", "Trees"),
        ("_Trees and birds_", "Trees and birds"),
        ("__init__.py and more", "__init__.py and more"),
        ("A __name__ of mine", "A __name__ of mine"),
    ],
)
def test_a_title_is_made_of_what_the_model_says(said: str, title: str | None) -> None:
    assert titles.clean(said) == title


@given(st.text(max_size=200) | st.text("\"'“”「」#*_-`[]() \n\t.:：title标题\u202eab1", max_size=60))
def test_a_title_is_one_short_line_without_quotes_or_control_characters(said: str) -> None:
    title = titles.clean(said)
    if title is None:
        return
    assert 1 <= len(title) <= 20
    assert title == title.strip()
    assert not QUOTES & set(title)
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp", "Pi", "Pf") for c in title)
    assert titles.clean(title) == title


@given(st.text(max_size=100))
def test_the_message_in_a_prompt_is_found_again(message: str) -> None:
    for language in ("en", "zh"):
        (asked,) = titles.prompt(message, language)
        assert titles.message_in(asked.content) == message.replace("</message>", "")


def test_a_long_message_is_cut_and_lone_surrogates_are_replaced() -> None:
    (asked,) = titles.prompt("x" * 100_000 + "\ud800", "en")
    assert len(asked.content) < 3000
    titles.prompt("\ud800", "en")[0].content.encode("utf-8")


def test_other_texts_are_no_prompt() -> None:
    assert titles.message_in("Give a title to the conversation") is None
