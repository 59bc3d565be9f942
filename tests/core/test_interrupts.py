"""Interrupts, and the full check of an answer to one."""

from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given

from caesura.core import answers, interrupts, json_data
from caesura.core.answers import LIMIT, Answer, check, refuses
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Decision,
    Field,
    GraphRequest,
    Interrupt,
    Kind,
    Option,
    Question,
    Questions,
)
from tests.core.strategies import answers as any_answer
from tests.core.strategies import interrupts as any_interrupt

YES_NO = (Option("Yes", "yes"), Option("No", "no"))
APPROVAL = Approval("int-1", tool_call_id="c1", name="execute", args={"command": "ls"})
QUESTIONS = Questions(
    "int-2",
    questions=(
        Question("Which?", YES_NO),
        Question("Other?", (*YES_NO, Option("Else", "else", allow_custom=True))),
        Question("Why?"),
    ),
)
CONFIRMATION = Confirmation(
    "int-3",
    fields=(
        Field("confirm", "confirm", required=True),
        Field("reason", "text"),
        Field("size", "select", options=("s", "m")),
    ),
)
GRAPH = GraphRequest("int-4", value={"any": "thing"})
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
    assert set(BY_KIND) == set(get_args(Kind))
    assert set(FITTING) == set(get_args(Decision))


@pytest.mark.parametrize(
    ("item", "answer", "reason"),
    [
        (APPROVAL, Answer("approve", args={"command": "rm"}), "args does not go with 'approve'"),
        (APPROVAL, Answer("reject", value="x"), "value does not go with 'reject'"),
        (APPROVAL, Answer("reject", always_allow=True), "always_allow does not go with 'reject'"),
        (APPROVAL, Answer("respond", message="x", fields={"a": 1}), "fields does not go with 'respond'"),
        (QUESTIONS, Answer("reject", answers=("yes",)), "answers does not go with 'reject'"),
        (GRAPH, Answer("value", value=1, args={"a": 1}), "args does not go with 'value'"),
    ],
)
def test_a_member_of_another_decision_is_refused(item: Interrupt, answer: Answer, reason: str) -> None:
    with pytest.raises(BadAnswer, match=reason):
        check(item, answer)


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("decision", get_args(Decision))
def test_each_kind_takes_its_own_decisions_and_no_others(kind: Kind, decision: Decision) -> None:
    allowed = BY_KIND[kind].decisions
    if decision in allowed:
        assert check(BY_KIND[kind], FITTING[decision]) == FITTING[decision]
        return
    with pytest.raises(BadAnswer) as caught:
        check(BY_KIND[kind], FITTING[decision])
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
        (("yes", "no", "x" * (LIMIT + 1)), "answer at index 2 is longer than 65536 bytes"),
        (("yes", "中" * LIMIT, "x"), "answer at index 1 is longer than 65536 bytes"),
    ],
)
def test_wrong_answers_to_questions_are_named(given_answers: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        check(QUESTIONS, Answer("answers", answers=given_answers))
    assert str(caught.value) == message


@pytest.mark.parametrize("own", ["else", "my own words", "no"])
def test_own_words_are_taken_where_an_option_allows_them_or_none_is_offered(own: str) -> None:
    answer = Answer("answers", answers=("no", own, own))
    assert check(QUESTIONS, answer) is answer


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
        ({"confirm": True, "reason": "x" * (LIMIT + 1)}, "field reason is longer than 65536 bytes"),
    ],
)
def test_wrong_fields_of_a_confirmation_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        check(CONFIRMATION, Answer("fields", fields=fields))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "fields",
    [
        {"confirm": True},
        {"confirm": False},
        {"confirm": True, "reason": "", "size": None},
        {"confirm": True, "reason": "why not", "size": "m"},
        {"confirm": True, "reason": "x" * LIMIT},
    ],
)
def test_fitting_fields_of_a_confirmation_are_taken(fields: dict[str, Any]) -> None:
    answer = Answer("fields", fields=fields)
    assert check(CONFIRMATION, answer) is answer


def test_an_edit_needs_arguments() -> None:
    with pytest.raises(BadAnswer, match="args is required to edit a tool call"):
        check(APPROVAL, Answer("edit"))
    with pytest.raises(BadAnswer, match="args is required to edit a tool call"):
        check(APPROVAL, Answer("edit", args=["ls"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("message", ["", " \n"])
def test_a_response_needs_words(message: str) -> None:
    with pytest.raises(BadAnswer, match="message is required to respond in place of a tool call"):
        check(APPROVAL, Answer("respond", message=message))


@pytest.mark.parametrize("item", BY_KIND.values(), ids=lambda item: item.kind)
def test_the_reason_of_a_refusal_is_bounded_in_length(item: Interrupt) -> None:
    assert refuses(item, check(item, Answer("reject", message="x" * LIMIT)))
    with pytest.raises(BadAnswer, match="message is longer than 65536 bytes"):
        check(item, Answer("reject", message="x" * (LIMIT + 1)))


def test_lone_surrogates_in_an_answer_do_not_break_the_check() -> None:
    check(QUESTIONS, Answer("answers", answers=("yes", "\ud800", "\udfff")))


def test_a_confirmation_whose_confirm_is_false_refuses() -> None:
    assert refuses(CONFIRMATION, Answer("fields", fields={"confirm": False, "reason": "no"}))
    assert not refuses(CONFIRMATION, Answer("fields", fields={"confirm": True, "size": None}))
    assert not refuses(APPROVAL, Answer("approve"))
    assert not refuses(GraphRequest("int-1"), Answer("value", value=False))


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"confirm": True, "tell": False}, False),
        ({"confirm": True}, False),
        ({"confirm": False, "tell": True}, True),
    ],
)
def test_a_confirm_field_that_is_not_required_does_not_decide(fields: dict[str, Any], refused: bool) -> None:
    both = (Field("confirm", "confirm", required=True), Field("tell", "confirm"))
    assert refuses(Confirmation("int-1", fields=both), Answer("fields", fields=fields)) is refused


@pytest.mark.parametrize(
    ("fields", "refused"), [({"go": True}, False), ({"go": False}, True), ({}, True), ({"go": None}, True)]
)
def test_a_form_in_which_nothing_was_confirmed_refuses(fields: dict[str, Any], refused: bool) -> None:
    item = Confirmation("int-1", fields=(Field("go", "confirm"), Field("why")))
    assert refuses(item, Answer("fields", fields=fields)) is refused


@pytest.mark.parametrize("value", ["", " \n", "\0", "\u3000", None])
def test_a_required_text_that_is_blank_is_missing(value: str | None) -> None:
    item = Confirmation("int-1", fields=(Field("why", required=True),))
    with pytest.raises(BadAnswer, match="field why is required"):
        check(item, Answer("fields", fields={"why": value}))


def test_a_form_without_a_confirm_field_does_not_refuse() -> None:
    item = Confirmation("int-1", fields=(Field("why"),))
    assert not refuses(item, Answer("fields", fields={"why": "no"}))
    assert refuses(item, Answer("reject"))


@given(any_interrupt())
def test_a_decoded_interrupt_equals_the_encoded_one(item: Interrupt) -> None:
    assert interrupts.from_dict(json_data.loads(json_data.dumps(interrupts.to_dict(item)))) == item


@pytest.mark.parametrize("value", [0, False, "", [], {}, 0.0, None])
def test_a_graph_may_ask_with_an_empty_value(value: Any) -> None:
    item = GraphRequest("int-1", value=value)
    back = interrupts.from_dict(json_data.loads(json_data.dumps(interrupts.to_dict(item))))
    assert back == item
    assert isinstance(back, GraphRequest)
    assert type(back.value) is type(value)


@given(any_answer())
def test_a_decoded_answer_equals_the_encoded_one(answer: Answer) -> None:
    assert answers.from_dict(json_data.loads(json_data.dumps(answers.to_dict(answer)))) == answer


def test_members_with_default_values_are_not_written() -> None:
    assert interrupts.to_dict(Questions("int-1", questions=(Question("Why?"),))) == {
        "id": "int-1",
        "kind": "questions",
        "questions": [{"question": "Why?", "options": []}],
    }
    assert answers.to_dict(Answer("reject")) == {"decision": "reject"}
    assert answers.to_dict(Answer("value")) == {"decision": "value", "value": None}


def test_allow_custom_is_written_only_where_it_is_true() -> None:
    question = Question("Which?", (Option("A", "a"), Option("B", "b", allow_custom=True)))
    assert interrupts.question_dict(question)["options"] == [
        {"label": "A", "value": "a"},
        {"label": "B", "value": "b", "allow_custom": True},
    ]


@pytest.mark.parametrize("item", BY_KIND.values(), ids=lambda item: item.kind)
def test_every_member_of_a_kind_is_stored(item: Interrupt) -> None:
    assert {field.name for field in fields(item)} <= interrupts.MEMBERS


def test_stored_members_that_the_kind_no_longer_has_are_left_out() -> None:
    old = {"id": "int-1", "kind": "confirmation", "name": "deploy", "args": {"to": "all"}, "unknown": True}
    assert interrupts.from_dict({**old, "label": "Deploy"}) == Confirmation("int-1", label="Deploy")


def test_stored_members_that_only_a_later_version_knows_are_left_out() -> None:
    """While a server is upgraded, both versions read the same rows."""
    later = {"id": "int-1", "kind": "approval", "name": "deploy", "colour": "red"}
    assert interrupts.from_dict(later) == Approval("int-1", name="deploy")


def test_the_call_under_which_a_sub_agent_asks_is_stored_and_older_data_has_none() -> None:
    item = Approval("int-1", tool_call_id="c1", agent="crawl_agent", parent="d1")
    assert interrupts.from_dict(interrupts.to_dict(item)) == item
    assert interrupts.from_dict({"id": "int-1", "kind": "approval"}).parent is None


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind of interrupt: wager"):
        interrupts.from_dict({"id": "int-1", "kind": "wager"})
