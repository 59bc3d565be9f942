"""The questions a model may ask."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents.tools.ask_user import describe, parse, result, tool
from caesura.agents.tools.tool import ToolError
from caesura.core.answers import Answer
from caesura.core.interrupts import Option, Question

GOOD = {"question": "Which?", "options": [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]}


def test_good_questions_are_taken() -> None:
    custom = {"label": "Other", "value": "__custom__", "allow_custom": True}
    questions = parse([GOOD, {"question": "Why?"}, {"question": "How?", "options": [custom, "plainly"]}])
    assert questions == (
        Question("Which?", (Option("A", "a"), Option("B", "b"))),
        Question("Why?"),
        Question("How?", (Option("Other", "__custom__", allow_custom=True), Option("plainly", "plainly"))),
    )


def test_a_list_in_a_text_is_taken() -> None:
    assert parse('[{"question": "Why?"}]') == (Question("Why?"),)


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ([], "1 to 20 questions"),
        ([GOOD] * 21, "1 to 20 questions"),
        (None, "1 to 20 questions"),
        ("Why?", "1 to 20 questions"),
        (["Why?"], r"questions\[0\] must be an object"),
        ([GOOD, {"question": "  "}], r"questions\[1\]\.question must be a text"),
        ([{"question": 7}], r"questions\[0\]\.question must be a text"),
        ([{"question": "a", "options": "b"}], "at most 50 options"),
        ([{"question": "a", "options": [str(n) for n in range(51)]}], "at most 50 options"),
        ([{"question": "a", "options": ["x", "x"]}], "values must differ"),
        ([{"question": "a", "options": [{"label": "x", "value": 1}]}], r"options\[0\]\.value must be a text"),
        (
            [{"question": "a", "options": [{"label": "", "value": "y"}]}],
            r"options\[0\]\.label must be a text",
        ),
        ([{"question": "a", "options": [3]}], r"options\[0\] must be an object"),
        ([{"question": "x" * 4001}], "1 to 4000 characters"),
    ],
)
def test_malformed_questions_are_explained_to_the_model(questions: Any, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        parse(questions)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["question", "options", "label", "value"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(json)
def test_any_input_is_accepted_or_explained_to_the_model(questions: Any) -> None:
    try:
        found = parse(questions)
    except ToolError:
        return
    assert all(question.question.strip() for question in found)


def test_the_description_counts_the_questions() -> None:
    assert describe({"questions": [1, 2, 3]}, "zh")[:2] == ("用户问答", "Agent 提出了 3 个问题")
    assert describe({"questions": [1, 2, 3]}, "en")[:2] == ("Questions", "The agent asks 3 questions")
    assert describe({"questions": [1]}, "en").description == "The agent asks 1 question"
    assert describe({}, "en").description == "The agent asks 1 question"


def test_answers_are_shown_with_their_questions() -> None:
    asked = parse([GOOD, {"question": "Why?"}])
    assert result(asked, Answer("answers", answers=("a", "because"))) == "Which? → a (A)\nWhy? → because"
    assert result(asked, Answer("reject")) == "The person declined to answer."


def test_the_model_is_shown_the_form_of_a_question_and_nothing_else() -> None:
    parameters = tool().schema.parameters
    assert list(parameters["properties"]) == ["questions"]
    assert parameters["properties"]["questions"]["items"]["required"] == ["question"]
