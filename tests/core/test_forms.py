"""Interrupts as forms."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.core import answers, forms
from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Field,
    GraphRequest,
    Interrupt,
    Option,
    Question,
    Questions,
)

APPROVAL = Approval("int-1", name="write", args={"path": "a"}, label="Write", description="Writing: a")
OTHER = Approval("int-2", name="write", args={"path": "b"}, label="Write", description="Writing: b")
ASKED = Questions(
    "int-3",
    description="2 questions",
    questions=(
        Question("Which?", (Option("Red", "red"), Option("Blue", "blue"))),
        Question("When?", (Option("now", "now"), Option("Other", "x", allow_custom=True))),
        Question("Why?"),
    ),
)
FORM = Confirmation("int-4", reason="Sure?", fields=(Field("go", "confirm", "Go", True), Field("note")))
REQUEST = GraphRequest("int-5", value={"when": "now"})


def names(*items: Interrupt) -> list[str]:
    return [field["name"] for field in forms.fields(items)]


def test_each_kind_has_its_fields() -> None:
    assert forms.fields([APPROVAL]) == [
        {"name": "confirm", "type": "confirm", "label": "Write", "required": True}
    ]
    which, when, why = forms.fields([ASKED])
    assert which == {
        "name": "answer_1",
        "type": "select",
        "label": "Which?",
        "required": True,
        "options": ["red", "blue"],
        "labels": ["Red", "Blue"],
    }
    assert (when["type"], when["options"], "labels" in when) == ("text", ["now"], False)
    assert (why["type"], "options" in why) == ("text", False)
    assert names(FORM) == ["go", "note"]
    assert names(Confirmation("int-6")) == ["confirm"]
    assert names(REQUEST) == ["confirm", "value"]
    assert forms.fields([REQUEST])[0]["label"] == "Continue"


def test_the_names_are_numbered_if_several_wait() -> None:
    assert names(APPROVAL, ASKED, FORM) == [
        "confirm_1",
        *("answer_1_2", "answer_2_2", "answer_3_2"),
        *("go_3", "note_3"),
    ]
    assert [field["label"] for field in forms.fields([APPROVAL, OTHER])] == ["Writing: a", "Writing: b"]


def test_the_reason_says_what_each_asks() -> None:
    assert forms.reason([APPROVAL, FORM, REQUEST]) == 'Writing: a\nSure?\n{"when":"now"}'
    assert len(forms.reason([GraphRequest("int-7", value="x" * 9000)])) == 4000
    assert forms.reason([GraphRequest("int-7", value="x", description="Question: x")]) == "x"
    assert forms.reason([GraphRequest("int-7", value=["x"], description="do it")]) == "do it"


@pytest.mark.parametrize(
    ("items", "given", "decided"),
    [
        ([APPROVAL], {"confirm": True}, [Answer("approve")]),
        ([APPROVAL], {"confirm": False}, [Answer("reject")]),
        ([APPROVAL, OTHER], {"confirm_1": True, "confirm_2": False}, [Answer("approve"), Answer("reject")]),
        ([APPROVAL], {"confirm": True, "args": {"path": "c"}}, [Answer("edit", args={"path": "c"})]),
        ([APPROVAL], {"confirm": True, "respond": "done"}, [Answer("respond", message="done")]),
        ([APPROVAL], {"confirm": False, "message": "later"}, [Answer("reject", message="later")]),
        (
            [APPROVAL, OTHER],
            {"confirm_1": True, "args_1": {}, "confirm_2": False, "message_2": "no"},
            [Answer("edit", args={}), Answer("reject", message="no")],
        ),
        ([APPROVAL, ASKED], {"confirm": False}, [Answer("reject"), Answer("reject")]),
        (
            [ASKED],
            {"answer_3": "c", "answer_1": "red", "answer_2": "later"},
            [Answer("answers", answers=("red", "later", "c"))],
        ),
        ([FORM], {"go": True}, [Answer("fields", fields={"go": True})]),
        ([FORM], {"go": False, "note": "x"}, [Answer("fields", fields={"go": False, "note": "x"})]),
        ([FORM], {"confirm": False}, [Answer("reject")]),
        ([Confirmation("int-6")], {"confirm": True}, [Answer("fields")]),
        ([REQUEST], {"confirm": True}, [Answer("value", value=True)]),
        ([REQUEST], {"confirm": True, "value": "x"}, [Answer("value", value="x")]),
        ([REQUEST], {"confirm": False, "value": "x"}, [Answer("reject")]),
    ],
)
def test_what_is_filled_in_becomes_an_answer_that_fits(
    items: list[Interrupt], given: dict[str, Any], decided: list[Answer]
) -> None:
    found = forms.answered(items, given)
    assert list(found) == [item.id for item in items]
    assert list(found.values()) == decided
    for item in items:
        answers.check(item, found[item.id])


@pytest.mark.parametrize(
    ("items", "given", "fault"),
    [
        ([APPROVAL], {}, "field confirm is required"),
        ([APPROVAL], {"confirm": 0}, "field confirm must be true or false"),
        ([APPROVAL], {"confirm": "false"}, "field confirm must be true or false"),
        ([APPROVAL], {"confirm": True, "x": 1}, "unknown field: x"),
        ([APPROVAL], {"confirm": True, "args": [1]}, "args must be an object"),
        ([APPROVAL], {"confirm": True, "respond": 1}, "respond must be a text"),
        ([APPROVAL], {"confirm": True, "args": {}, "respond": "x"}, "args and respond do not go together"),
        ([APPROVAL], {"confirm": False, "args": {}}, "args and respond do not go with a refusal"),
        ([APPROVAL], {"confirm": True, "message": "x"}, "message goes only with a refusal"),
        ([APPROVAL], {"args": {}}, "field confirm is required"),
        ([APPROVAL, OTHER], {"confirm_1": True, "confirm_2": True, "args": {}}, "unknown field: args"),
        ([FORM], {"go": True, "args": {}}, "unknown field: args"),
        ([APPROVAL, OTHER], {"confirm": True}, "unknown field: confirm"),
        ([APPROVAL, OTHER], {"confirm_1": True}, "field confirm_2 is required"),
        ([ASKED], {"answer_1": "x", "answer_2": "b"}, "field answer_1 must be one of: red, blue"),
        ([ASKED], {"answer_1": "red", "answer_2": ["b"], "answer_3": "c"}, "field answer_2 must be a text"),
        ([ASKED], {"answer_1": "red", "answer_2": "b", "answer_3": ""}, "field answer_3 is required"),
        ([FORM], {"go": False, "other": 1}, "unknown field: other"),
        ([REQUEST], {"value": "x"}, "field confirm is required"),
    ],
)
def test_what_does_not_fit_is_refused(items: list[Interrupt], given: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        forms.answered(items, given)
    assert caught.value.message == fault


def test_the_calls_that_wait_are_listed() -> None:
    assert forms.tool_calls([APPROVAL, ASKED]) == [{"id": None, "name": "write", "arguments": {"path": "a"}}]
