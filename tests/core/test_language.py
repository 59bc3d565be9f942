"""Which language a text is in."""

import pytest

from caesura.core import language


@pytest.mark.parametrize("text", ["你好", "please 帮我 fix this", "㐀", "﨑", "\ud800中"])
def test_a_text_with_chinese_characters_is_chinese(text: str) -> None:
    assert language.of(text) == "zh"


@pytest.mark.parametrize("text", ["", "hello", "grüß dich", "😀", "かな", "。，"])
def test_any_other_text_is_taken_as_english(text: str) -> None:
    assert language.of(text) == "en"
