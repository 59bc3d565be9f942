"""Interrupts, and the full check of an answer to one."""

from typing import Any, get_args

import pytest
from hypothesis import given

from caesura.core import interrupts, json_data
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import ANSWER_LIMIT, Answer, Decision, Field, Interrupt, Kind, Option, Question
from tests.core.strategies import answers
from tests.core.strategies import interrupts as any_interrupt

YES_NO = (Option("Yes", "yes"), Option("No", "no"))
APPROVAL = Interrupt("int-1", "approval", tool_call_id="c1", name="execute", args={"command": "ls"})
QUESTIONS = Interrupt(
    "int-2",
    "questions",
    questions=(
        Question("Which?", YES_NO),
        Question("Other?", (*YES_NO, Option("Else", "else", allow_custom=True))),
        Question("Why?"),
    ),
)
CONFIRMATION = Interrupt(
    "int-3",
    "confirmation",
    fields=(
        Field("confirm", "confirm", required=True),
        Field("reason", "text"),
        Field("size", "select", options=("s", "m")),
    ),
)
GRAPH = Interrupt("int-4", "graph", value={"any": "thing"})
BY_KIND: dict[Kind, Interrupt] = {item.kind: item for item in (APPROVAL, QUESTIONS, CONFIRMATION, GRAPH)}
FITTING: dict[Decision, Answer] = {
    "approve": Answer("approve"),
    "edit": Answer("edit", args={}),
    "reject": Answer("reject", message="no"),
    "respond": Answer("respond", message="done already"),
    "answers": Answer("answers", answers=("yes", "my own", "because")),
    "fields": Answer("fields", fields={"confirm": True}),
    "value": Answer("value", value=None),
}


def test_every_kind_and_every_decision_is_tried_here() -> None:
    assert set(BY_KIND) == set(interrupts.DECISIONS) == set(get_args(Kind))
    assert set(FITTING) == set(get_args(Decision))


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("decision", get_args(Decision))
def test_each_kind_takes_its_own_decisions_and_no_others(kind: Kind, decision: Decision) -> None:
    allowed = interrupts.DECISIONS[kind]
    if decision in allowed:
        assert interrupts.check(BY_KIND[kind], FITTING[decision]) == FITTING[decision]
        return
    with pytest.raises(BadAnswer) as caught:
        interrupts.check(BY_KIND[kind], FITTING[decision])
    listed = ", ".join(f"'{name}'" for name in allowed)
    assert str(caught.value) == f"'{decision}' does not fit: this interrupt takes {listed}"


@pytest.mark.parametrize(
    ("given_answers", "message"),
    [
        (("yes", "no"), "answers count (2) does not match questions count (3)"),
        ((), "answers count (0) does not match questions count (3)"),
        (("yes",) * 4, "answers count (4) does not match questions count (3)"),
        (("yes", "", "why"), "answer at index 1 is empty"),
        (("yes", " \t\n　", "why"), "answer at index 1 is empty"),
        ((" ", "", ""), "answer at index 0 is empty"),
        (("\0", "yes", "why"), "answer at index 0 is empty"),
        (("maybe", "no", "why"), "answer at index 0 is not one of the offered values"),
        (("Yes", "no", "why"), "answer at index 0 is not one of the offered values"),
        (("yes", "no", "x" * (ANSWER_LIMIT + 1)), "answer at index 2 is longer than 65536 bytes"),
        (("yes", "中" * ANSWER_LIMIT, "x"), "answer at index 1 is longer than 65536 bytes"),
    ],
)
def test_wrong_answers_to_questions_are_named(given_answers: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        interrupts.check(QUESTIONS, Answer("answers", answers=given_answers))
    assert str(caught.value) == message


@pytest.mark.parametrize("own", ["else", "my own words", "no"])
def test_own_words_are_taken_where_an_option_allows_them_or_none_is_offered(own: str) -> None:
    answer = Answer("answers", answers=("no", own, own))
    assert interrupts.check(QUESTIONS, answer) is answer


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "field confirm is required"),
        ({"confirm": None}, "field confirm is required"),
        ({"confirm": ""}, "field confirm is required"),
        ({"confirm": "true"}, "field confirm must be true or false"),
        ({"confirm": 1}, "field confirm must be true or false"),
        ({"confirm": True, "reason": 5}, "field reason must be a text"),
        ({"confirm": True, "reason": True}, "field reason must be a text"),
        ({"confirm": True, "size": ["s"]}, "field size must be a text"),
        ({"confirm": True, "size": "xl"}, "field size must be one of: s, m"),
        ({"confirm": True, "colour": "red"}, "unknown field: colour"),
        ({"confirm": True, "reason": "x" * (ANSWER_LIMIT + 1)}, "field reason is longer than 65536 bytes"),
    ],
)
def test_wrong_fields_of_a_confirmation_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        interrupts.check(CONFIRMATION, Answer("fields", fields=fields))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"confirm": True},
        {"confirm": False},
        {"confirm": True, "reason": "", "size": None},
        {"confirm": True, "reason": "why not", "size": "m"},
        {"confirm": True, "reason": "x" * ANSWER_LIMIT},
    ],
)
def test_fitting_fields_of_a_confirmation_are_taken(fields: dict[str, Any]) -> None:
    answer = Answer("fields", fields=fields)
    assert interrupts.check(CONFIRMATION, answer) is answer


def test_an_edit_needs_arguments() -> None:
    with pytest.raises(BadAnswer, match="args is required to edit a tool call"):
        interrupts.check(APPROVAL, Answer("edit"))
    with pytest.raises(BadAnswer, match="args is required to edit a tool call"):
        interrupts.check(APPROVAL, Answer("edit", args=["ls"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("message", ["", " \n"])
def test_a_response_needs_words(message: str) -> None:
    with pytest.raises(BadAnswer, match="message is required to respond in place of a tool call"):
        interrupts.check(APPROVAL, Answer("respond", message=message))


@pytest.mark.parametrize("item", BY_KIND.values(), ids=lambda item: item.kind)
def test_the_reason_of_a_refusal_is_bounded_in_length(item: Interrupt) -> None:
    assert interrupts.check(item, Answer("reject", message="x" * ANSWER_LIMIT)).refuses
    with pytest.raises(BadAnswer, match="message is longer than 65536 bytes"):
        interrupts.check(item, Answer("reject", message="x" * (ANSWER_LIMIT + 1)))


def test_lone_surrogates_in_an_answer_do_not_break_the_check() -> None:
    interrupts.check(QUESTIONS, Answer("answers", answers=("yes", "\ud800", "\udfff")))


def test_a_confirmation_whose_confirm_is_false_refuses() -> None:
    assert Answer("fields", fields={"confirm": False, "reason": "no"}).refuses
    assert not Answer("fields", fields={"confirm": True, "size": None}).refuses
    assert not Answer("approve").refuses
    assert not Answer("value", value=False).refuses


@given(any_interrupt())
def test_a_decoded_interrupt_equals_the_encoded_one(item: Interrupt) -> None:
    assert interrupts.from_dict(json_data.loads(json_data.dumps(interrupts.to_dict(item)))) == item


@pytest.mark.parametrize("value", [0, False, "", [], {}, 0.0, None])
def test_a_graph_may_ask_with_an_empty_value(value: Any) -> None:
    item = Interrupt("int-1", "graph", value=value)
    back = interrupts.from_dict(json_data.loads(json_data.dumps(interrupts.to_dict(item))))
    assert back == item
    assert type(back.value) is type(value)


@given(answers())
def test_a_decoded_answer_equals_the_encoded_one(answer: Answer) -> None:
    assert interrupts.answer_from(json_data.loads(json_data.dumps(interrupts.answer_dict(answer)))) == answer


def test_members_with_default_values_are_not_written() -> None:
    assert interrupts.to_dict(Interrupt("int-1", "questions", questions=(Question("Why?"),))) == {
        "id": "int-1",
        "kind": "questions",
        "questions": [{"question": "Why?", "options": []}],
    }
    assert interrupts.answer_dict(Answer("reject")) == {"decision": "reject"}
    assert interrupts.answer_dict(Answer("value")) == {"decision": "value", "value": None}


def test_allow_custom_is_written_only_where_it_is_true() -> None:
    question = Question("Which?", (Option("A", "a"), Option("B", "b", allow_custom=True)))
    assert interrupts.question_dict(question)["options"] == [
        {"label": "A", "value": "a"},
        {"label": "B", "value": "b", "allow_custom": True},
    ]
