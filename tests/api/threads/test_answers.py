"""The agent asks questions: they are answered all or not at all, and a mistake changes nothing."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.server import Served
from tests.api.threads.thread import Thread, kinds, names, one, said

ACTION = "Action must be 'continue', 'cancel' or 'answer'"
ANSWERS = "answers is required when action is 'answer'"
OWN = {"label": "自定义", "value": "__custom__", "allow_custom": True}
QUESTIONS = [
    {
        "question": "你喜欢什么颜色?",
        "options": [
            {"label": "红色", "value": "red"},
            {"label": "绿色", "value": "green"},
            {"label": "蓝色", "value": "blue"},
            OWN,
        ],
    },
    {
        "question": "你喜欢什么动物?",
        "options": [{"label": "狗", "value": "dog"}, {"label": "猫", "value": "cat"}, OWN],
    },
    {
        "question": "怎么执行?",
        "options": [{"label": "立即执行", "value": "now"}, {"label": "审视后执行", "value": "review"}],
    },
]


@pytest.fixture(scope="module")
def asked(server: Served) -> Iterator[Thread]:
    """A thread with three waiting questions, which all the mistakes in this module leave unanswered."""
    with server.client("asked") as client:
        thread = Thread.new(client)
        thread.chat("问我三个问题")
        yield thread


def still_asks(thread: Thread) -> bool:
    status = thread.status()
    return bool(status["status"] == "interrupted" and len(questions(status)) == 3)


def questions(status: dict[str, Any]) -> list[Any]:
    (interrupt,) = status["interrupt_info"]["interrupts"]
    found: list[Any] = interrupt["questions"]
    return found


def test_questions_are_shown_as_they_were_asked(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    found = thread.chat("问我三个问题")
    assert kinds(found) == ["tool/start", "interrupt", "end"]
    shown = one(found, "interrupt")
    (action,) = shown["data"]
    assert shown == {
        "info": "Agent 提出了 3 个问题",
        "taskName": "用户问答",
        "data": [action],
        "questions": QUESTIONS,
        "options": None,
        "interrupt_id": shown["interrupt_id"],
    }
    assert action["name"] == "ask_user"
    assert thread.status()["interrupt_info"] == {"task_name": "用户问答", "interrupts": [shown]}


def test_questions_in_english_are_announced_in_english(alice: httpx.Client) -> None:
    shown = one(Thread.new(alice).chat("ask me 3 questions"), "interrupt")
    assert (shown["info"], shown["taskName"]) == ("The agent asks 3 questions", "Questions")
    shown = one(Thread.new(alice).chat("ask me one question"), "interrupt")
    assert shown["info"] == "The agent asks 1 question"


def test_one_question_is_answered(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    asked = one(thread.chat("问我一个问题"), "interrupt")
    assert asked["info"] == "Agent 提出了 1 个问题"
    found = thread.resume("answer", ["green"])
    assert kinds(found) == ["tool/end", "end"]
    assert one(found, "tool/end")["output"] == "你喜欢什么颜色? → green (绿色)"
    assert said(found) == "谢谢，您的回答是：\n\n- 你喜欢什么颜色? → green (绿色)"
    assert thread.status()["status"] == "idle"


def test_several_questions_are_answered_also_in_ones_own_words(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("问我三个问题")
    found = thread.resume("answer", ["海 蓝色\n或者灰色", "__custom__", "review"])
    assert one(found, "tool/end")["output"].split("\n") == [
        "你喜欢什么颜色? → 海 蓝色",
        "或者灰色",
        "你喜欢什么动物? → __custom__ (自定义)",
        "怎么执行? → review (审视后执行)",
    ]


def test_the_agent_gets_a_declined_question_and_continues(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("ask me 3 questions")
    found = thread.resume("cancel")
    assert one(found, "tool/end")["output"] == "The person declined to answer."
    assert said(found) == "You chose not to answer, so I leave it at that."


def test_two_calls_that_ask_take_their_answers_in_order(alice: httpx.Client) -> None:
    for _ in range(3):
        thread = Thread.new(alice)
        calls = [f'ask_user {{"questions": [{{"question": "{letter}?"}}]}}' for letter in "ABCDE"]
        asked = one(thread.chat(f"call {' '.join(calls)}"), "interrupt")
        assert [item["question"] for item in asked["questions"]] == [f"{letter}?" for letter in "ABCDE"]
        assert thread.status()["interrupt_info"]["interrupts"] == [asked]
        assert "answers count (1)" in one(thread.resume("answer", ["a"]), "error")["message"]
        found = thread.resume("answer", list("abcde"))
        given = {event.data["output"] for event in found if event.name == "tool/end"}
        assert given == {f"{letter}? → {letter.lower()}" for letter in "ABCDE"}


def test_questions_beside_an_approval_are_decided_one_after_the_other(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    both = one(thread.chat("ask me one question + write hello.py"), "interrupt")
    assert [item["name"] for item in both["data"]] == ["ask_user", "write_file"]
    found = thread.resume("continue")
    assert names(found) == ["interrupt", "end"]
    assert [item["name"] for item in one(found, "interrupt")["data"]] == ["ask_user"]
    assert thread.status()["interrupt_info"]["interrupts"] == [one(found, "interrupt")]
    assert kinds(thread.resume("answer", ["red"]))[-1] == "end"
    assert thread.status()["status"] == "idle"


# --- mistakes


@pytest.mark.parametrize(
    ("action", "answers", "message"),
    [
        ("answer", ["red", "dog"], "answers count (2) does not match questions count (3)"),
        ("answer", ["red", "dog", "now", "x"], "answers count (4) does not match questions count (3)"),
        ("answer", ["red", "", "now"], "answer at index 1 is empty"),
        ("answer", ["  \n\t", "dog", "now"], "answer at index 0 is empty"),
        ("answer", ["red", "dog", "later"], "answer at index 2 is not one of the offered values"),
        ("answer", ["red", "dog", "立即执行"], "answer at index 2 is not one of the offered values"),
        ("answer", ["x" * 70_000, "dog", "now"], "answer at index 0 is longer than 65536 bytes"),
        ("continue", None, "the agent asks questions: use action 'answer' or 'cancel'"),
    ],
)
def test_an_answer_that_does_not_fit_is_an_error_and_the_question_stays(
    asked: Thread, action: str, answers: list[str] | None, message: str
) -> None:
    found = asked.resume(action, answers)
    assert [(event.name, event.data) for event in found] == [("error", {"message": message}), ("end", {})]
    assert still_asks(asked)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, ACTION),
        ({"action": None}, ACTION),
        ({"action": ""}, ACTION),
        ({"action": "approve"}, ACTION),
        ({"action": "Continue"}, ACTION),
        ({"action": 1}, ACTION),
        ({"action": ["answer"]}, ACTION),
        ({"action": {"answer": 1}}, ACTION),
        ({"action": "answer"}, ANSWERS),
        ({"action": "answer", "answers": None}, ANSWERS),
        ({"action": "answer", "answers": []}, ANSWERS),
        ({"action": "answer", "answers": "red"}, "answers must be a list of texts"),
        ({"action": "answer", "answers": ["red", 2, "now"]}, "answers must be a list of texts"),
        ({"action": "answer", "answers": {"0": "red"}}, "answers must be a list of texts"),
    ],
)
def test_a_decision_without_the_right_form_is_refused_and_the_question_stays(
    asked: Thread, body: dict[str, Any], detail: str
) -> None:
    response = asked.decide(**body)
    assert response.status_code == 400
    assert response.json() == {"detail": detail}
    assert still_asks(asked)


def test_an_approval_takes_no_answers_and_stays(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("write hello.py")
    found = thread.resume("answer", ["yes"])
    assert one(found, "error") == {
        "message": "the agent asks for approval: use action 'continue' or 'cancel'"
    }
    assert thread.status()["status"] == "interrupted"
    assert kinds(thread.resume("continue")) == ["tool/start", "tool/end", "end"]


def test_after_all_mistakes_the_right_answers_are_taken(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    thread.chat("ask me 3 questions")
    thread.resume("answer", ["red"])
    thread.resume("continue")
    assert thread.decide(action="no").status_code == 400
    found = thread.resume("answer", ["red", "my own animal", "now"])
    assert "Which animal do you like? → my own animal" in said(found)


def test_a_decision_is_refused_if_nothing_waits(alice: httpx.Client) -> None:
    thread = Thread.new(alice)
    for action, answers in (("continue", None), ("cancel", None), ("answer", ["x"])):
        refused = thread.decide(action=action, answers=answers)
        assert refused.status_code == 409
        assert refused.json() == {"detail": "nothing is pending"}
    thread.chat("echo hello")
    assert thread.decide(action="cancel").json() == {"detail": "nothing is pending"}
