"""Confirmations that a reply asks for in its text."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents import phrases

EXAMPLES = (
    "Please confirm you want to delete...",
    "Do you confirm this action?",
    "Are you sure you want to proceed?",
    "Shall I proceed with the deployment?",
    "Would you like me to proceed?",
    "Do you want to proceed with deletion?",
    "Do you want me to send this email?",
    "Should I go ahead and reset the database?",
    "Please confirm before I execute this.",
    "Confirmation required for this action.",
    "Waiting for your confirmation...",
    "This action needs your approval.",
)


@pytest.mark.parametrize("sentence", EXAMPLES)
def test_each_example_of_the_superagent_api_interrupts(sentence: str) -> None:
    assert phrases.detect(sentence) == sentence
    assert phrases.detect(f"I looked at it. {sentence} I wait.") == sentence


@pytest.mark.parametrize("phrase", phrases.DEFAULTS)
def test_each_phrase_is_found_in_any_case_and_with_any_white_space(phrase: str) -> None:
    assert phrases.detect(phrase.upper()) is not None
    assert phrases.detect(phrase.replace(" ", " \n\t ")) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "我将要删除以下数据。Please confirm: 即将删除 1,234 条记录,此操作不可逆。之后再说。",
            "Please confirm: 即将删除 1,234 条记录,此操作不可逆。",
        ),
        ("将部署 v2.0。请确认是否部署 v2.0 到 10.0.0.1？谢谢", "请确认是否部署 v2.0 到 10.0.0.1？"),
        (
            "Version 2.0 is ready. Shall I proceed with v2.0 now? It takes 1.5 h.",
            "Shall I proceed with v2.0 now?",
        ),
        ("First line\nAre you sure\nlast line", "Are you sure"),
        ("Please **confirm** it. Fine.", "Please **confirm** it."),
        ('He said "are you sure?" Then left.', 'He said "are you sure?"'),
        ("Are you sure? Yes. Do you confirm? ok", "Are you sure? Do you confirm?"),
        ("请 确 认", "请 确 认"),
        ("Please\nconfirm this. Thanks.", "Please confirm this."),
    ],
)
def test_the_reason_is_the_asking_sentences(text: str, reason: str) -> None:
    assert phrases.detect(text) == reason


@pytest.mark.parametrize("text", ["", "Done.", "I confirmed it.", "pleaseconfirm", "Confirm.", "确认了"])
def test_other_texts_do_not_interrupt(text: str) -> None:
    assert phrases.detect(text) is None


def test_code_blocks_count_too() -> None:
    assert phrases.detect("```\nprint('Are you sure?')\n```") == "print('Are you sure?')"


def test_an_operators_phrases_are_added_and_taken_literally() -> None:
    assert phrases.detect("Sign  here (now). Bye.", ["sign here (now)"]) == "Sign  here (now)."
    assert phrases.detect("anything", [".*", "  "]) is None
    assert phrases.detect("请批准此操作。", ["批准"]) == "请批准此操作。"


def test_a_very_long_reply_is_searched_in_linear_time() -> None:
    reason = phrases.detect("Please confirm. " * 20_000 + "please " * 20_000 + "请 " * 20_000)
    phrases.detect("Please confirm" + "." * 200_000 + "x" + "\n" * 200_000 + "please" + " " * 200_000)
    assert reason is not None
    assert len(reason) == phrases.LONGEST_REASON


@given(st.text(max_size=100), st.sampled_from(EXAMPLES), st.text(max_size=100))
def test_a_phrase_is_found_anywhere(before: str, sentence: str, after: str) -> None:
    assert phrases.detect(f"{before}\n{sentence}\n{after}") is not None


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=3))
def test_the_reason_comes_from_the_text(text: str, extra: list[str]) -> None:
    reason = phrases.detect(text, extra)
    if reason:
        assert set("".join(reason.split())) <= set(text)


@pytest.mark.parametrize(
    "text", ["* " * 125_000, "please " * 35_000, "please " + "*" * 250_000, "请 " * 125_000]
)
def test_the_search_time_grows_with_the_length_of_the_reply(text: str) -> None:
    extra = ["* x", "_ _ _", "please * now", *(f"phrase {number} of many" for number in range(190))]
    began = time.thread_time()
    assert phrases.detect(text, extra) is None
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("place", [0, 16_370, 16_380, 16_384, 40_000])
def test_a_phrase_is_found_anywhere_in_a_long_reply(place: int) -> None:
    text = "x" * place + "\nPlease **confirm** this.\n" + "y" * 50_000
    assert phrases.detect(text) == "Please **confirm** this."


def test_marks_in_a_phrase_count_as_a_space() -> None:
    assert phrases.detect("Say snake_case now. Bye.", ["snake_case"]) == "Say snake_case now."
    assert phrases.detect("anything", ["**", " _ "]) is None


def scanned(pieces: list[str], extra: tuple[str, ...] = ()) -> str | None:
    scanner = phrases.Scanner(extra)
    for piece in pieces:
        scanner.feed(piece)
    return scanner.end()


#: What makes a difference to where a sentence ends, or to what is compared.
_PARTS = (
    *("Please", "confirm", "are you sure", "请", "确认", "是否继续", "v2.0", "Σ", "İ", "sign here", "x"),
    *(" ", "  ", "\n", "\r\n", ".", "...", "?", '"', "。", "”", "*", "**", "_", "…", ")", "\u3000"),
    *("y" * 1000, "." * 1500, "\n" * 1100, "。" + "”" * 4096, " " * 700),
)
_TEXTS = st.lists(st.sampled_from(_PARTS), max_size=30).map("".join)


@given(_TEXTS, st.lists(st.integers(0, 12_000), max_size=30))
def test_a_reply_in_pieces_asks_what_the_whole_reply_asks(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert scanned(pieces, ("sign here",)) == phrases.detect(text, ["sign here"])


@given(_TEXTS)
def test_a_reply_character_by_character_asks_what_the_whole_reply_asks(text: str) -> None:
    assert scanned(list(text)) == phrases.detect(text)


@pytest.mark.parametrize("sentence", EXAMPLES)
@pytest.mark.parametrize("before", [0, 1, 1000, 1023, 4090, 4096, 5000])
def test_each_example_is_found_character_by_character_wherever_it_begins(sentence: str, before: int) -> None:
    text = "y" * before + "\n" + sentence + "\n" + "z" * 2000
    assert scanned(list(text)) == sentence


def test_a_scanner_holds_little_of_a_long_reply() -> None:
    scanner = phrases.Scanner()
    for piece in ["word ", "line\n", "End. ", "*", "确认", "Please confirm. "] * 20_000:
        scanner.feed(piece)
    parts = [*scanner._pieces, scanner._rest, scanner._before, *scanner._asking]
    parts += [sentence.text for sentence in scanner._sentences]
    assert sum(map(len, parts)) < 20_000


def test_the_first_sentences_that_ask_are_kept_of_very_many() -> None:
    reason = phrases.detect("Please confirm one. " + "Please confirm. " * 100_000)
    assert reason is not None
    assert reason.startswith("Please confirm one. Please confirm. ")
    assert reason.endswith("…")


def test_a_phrase_over_several_lines_names_just_those_lines() -> None:
    assert phrases.detect("Fine. Thanks.\nWould you\nlike me\nto proceed?\nBye") == (
        "Would you like me to proceed?"
    )


def test_a_sentence_without_an_end_is_asked_about_in_part() -> None:
    reason = phrases.detect("a" * 50_000 + " please confirm " + "b" * 50_000)
    assert reason is not None
    assert "please confirm" in reason
    assert len(reason) <= phrases.LONGEST_REASON


def test_a_ligature_is_read_as_its_letters() -> None:
    assert phrases.detect("Please conﬁrm it.") == "Please conﬁrm it."
