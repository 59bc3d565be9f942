"""Questions to a person, until their answer fits."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from caesura.cli.answers import Asker
from caesura.cli.screen import clean
from caesura.core.answers import Answer
from caesura.core.interrupts import (
    Approval,
    Confirmation,
    Decision,
    Field,
    GraphRequest,
    Interrupt,
    Option,
    Question,
    Questions,
)


class Person:
    """A person who sees the output and types the given lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.seen: list[str] = []
        self.prefilled = ""

    def ask(self, prompt: str, prefill: str = "") -> str:
        """Both the keyboard's and the screen's method."""
        if not prompt.endswith("> "):
            self.seen.append(prompt)
            return ""
        self.prefilled = prefill or self.prefilled
        return next(self._lines)

    def note(self, text: str) -> None:
        self.seen.append(text)

    fault = note


def ask(item: Interrupt, *lines: str, others: int = 0) -> tuple[Answer, Person]:
    person = Person(lines)
    return Asker(person, person).ask(item, others), person  # type: ignore[arg-type]


APPROVAL = Approval(
    "i",
    tool_call_id="c",
    name="write_file",
    args={"path": "a.py", "lines": [1, 2]},
    label="Write",
    description="Writing a.py",
)
SUB_AGENTS = Approval("i", tool_call_id="c", name="web_fetch", agent="crawl_agent", parent="d")
RED, OTHER = Option("Red", "red"), Option("Something else", "__custom__", True)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["y"], Answer("approve")),
        (["Yes"], Answer("approve")),
        (["是"], Answer("approve")),
        (["n"], Answer("reject")),
        (["n not now"], Answer("reject", message="not now")),
        (["a"], Answer("approve", always_allow=True)),
        (["r it is done"], Answer("respond", message="it is done")),
        (["r", "it is done"], Answer("respond", message="it is done")),
        (["r", "", "y"], Answer("approve")),
        (["", "what?", "y"], Answer("approve")),
        (["e", '{"path": "b.py"}'], Answer("edit", args={"path": "b.py"})),
        (["e", "{", "e", "[]", "n"], Answer("reject")),
    ],
    ids=str,
)
def test_each_reply_to_an_approval_becomes_its_decision(lines: list[str], answer: Answer) -> None:
    assert ask(APPROVAL, *lines)[0] == answer


@pytest.mark.parametrize(
    ("decisions", "lines", "answer"),
    [
        (("approve", "reject"), ["e", "r no", "a"], Answer("approve", always_allow=True)),
        (("reject", "edit"), ["y", "a", "n"], Answer("reject")),
        (("respond",), ["y", "n", "/refuse", "a", "e", "r now"], Answer("respond", message="now")),
    ],
    ids=str,
)
def test_only_the_decisions_that_a_graph_allows_are_taken(
    decisions: tuple[Decision, ...], lines: list[str], answer: Answer
) -> None:
    given, person = ask(replace(APPROVAL, decisions=decisions), *lines)
    assert given == answer
    (told,) = set(person.seen[5:])
    assert ("y: do it" in told) == ("approve" in decisions)
    assert ("n (and why)" in told) == ("reject" in decisions)


def test_a_graph_that_asks_without_words_still_says_that_it_asks() -> None:
    asked = GraphRequest("i", description="The agent waits for your answer")
    assert ask(asked, "1")[1].seen == ["? The agent waits for your answer"]


def test_an_approval_shows_everything_that_would_be_done() -> None:
    _, person = ask(APPROVAL, "e", "{}")
    assert person.seen == [
        "? Write: write_file",
        "  » Writing a.py",
        "  path (4 characters): a.py",
        "  lines (5 characters of JSON): [1,2]",
        "write_file: path (4 characters), lines (5 characters of JSON)",
    ]
    assert person.prefilled == '{"path": "a.py", "lines": [1, 2]}'


def test_the_description_of_an_approval_stays_one_short_line() -> None:
    _, person = ask(Approval("i", name="send", description="Send\n  to: bob\x1b[2K" + "x" * 9000), "n")
    assert person.seen[1].startswith("  » Send\\n")
    assert "\x1b" not in person.seen[1]
    assert person.seen[1].endswith("x…")
    assert len(person.seen[1]) < 600


def test_a_value_of_several_lines_is_shown_whole_with_numbers() -> None:
    content = "if x:\n    y \n\x1b[2K\\n\n"
    _, person = ask(Approval("i", name="write_file", args={"content": content}), "n")
    assert person.seen == [
        "? Approval: write_file",
        "  content (20 characters, 3 lines):",
        "       1  if x:",
        r"       2      y\x20",
        r"       3  \x1b[2K\\n",
        "       4  ",
        "write_file: content (20 characters, 3 lines)",
    ]


def test_the_name_of_an_argument_cannot_pass_for_a_size() -> None:
    args = {"a (1 character), b": "x", "c\n\u202e": "y"}
    _, person = ask(Approval("i", name="look", args=args), "n")
    assert person.seen[-1] == r'look: "a (1 character), b" (1 character), "c\n\u202e" (1 character)'
    many = {f"a{number}": "x" for number in range(1000)}
    _, person = ask(Approval("i", name="look", args=many), "n")
    assert person.seen[-1].startswith("look: 1,000 arguments, ")


def test_arguments_to_edit_are_json_without_anything_that_misleads() -> None:
    _, person = ask(Approval("i", name="x", args={"a": "中\u202e\x9b"}), "e", "{}")
    assert person.prefilled == r'{"a": "中\u202e\u009b"}'


def test_the_question_of_an_agent_is_escaped() -> None:
    question = Question("a\r\u202eb\nc", (Option("Red\x1b[2K", "red"),))
    _, person = ask(Questions("i", questions=(question,)), "1")
    assert person.seen[1:] == [r"? a\r\u202eb", "  c", r"    1. Red\x1b[2K (sends: red)"]
    form = Confirmation("i", reason="Sure?\x9b", fields=(Field("a", "select", options=("x\r",)),))
    assert ask(form, "1")[1].seen == [r"? Sure?\x9b", "  a (optional, Enter skips)", r"    1. x\r"]
    assert ask(GraphRequest("i", value=["\u202e"]), "1")[1].seen == [r'? ["\u202e"]']
    assert ask(GraphRequest("i", value={"a\n": "\u202e"}, agent="x"), "1")[1].seen == [
        "? x asks:",
        r'  "a\n" (1 character): \u202e',
    ]


def test_an_option_shows_what_it_sends_if_its_label_says_something_else() -> None:
    options = (Option("No, keep it", "Yes, delete it\x1b[2K"), Option("Later", "later"))
    _, person = ask(Questions("i", questions=(Question("Delete?", options),)), "2")
    assert person.seen[2:] == [r"    1. No, keep it (sends: Yes, delete it\x1b[2K)", "    2. Later"]


def test_a_call_with_an_unknown_outcome_is_pointed_out() -> None:
    _, person = ask(Approval("i", name="execute", unknown=True), "n")
    assert any("before a crash" in line for line in person.seen)


@pytest.mark.parametrize(
    ("options", "lines", "answer"),
    [
        ((RED, OTHER), ["1"], "red"),
        ((RED, OTHER), ["red"], "red"),
        ((RED, OTHER), ["mauve"], "mauve"),
        ((RED, OTHER), ["2", "mauve"], "mauve"),
        ((RED, OTHER), ["2", ""], "__custom__"),
        ((RED, OTHER), ["", "7", "0", "2", "7"], "7"),
        ((Option("Seven", "7"), OTHER), ["7"], "7"),
        ((), ["7"], "7"),
        ((RED,), ["2", "mauve", "", "1"], "red"),
        ((), ["", "whatever"], "whatever"),
    ],
    ids=str,
)
def test_a_question_is_answered_by_number_or_in_own_words(
    options: tuple[Option, ...], lines: list[str], answer: str
) -> None:
    item = Questions("i", questions=(Question("Which?", options),))
    assert ask(item, *lines)[0] == Answer("answers", answers=(answer,))


def test_a_number_that_no_option_has_is_refused() -> None:
    item = Questions("i", questions=(Question("How many?", (RED, OTHER)),))
    answer, person = ask(item, "3", "1")
    assert answer == Answer("answers", answers=("red",))
    assert person.seen[-1] == (
        "type a number from 1 to 2; to answer with a number that is not listed, type 2 first"
    )


def test_an_approval_says_that_always_holds_for_the_calls_that_wait() -> None:
    told = [ask(APPROVAL, "a", others=others)[1].seen[-2] for others in (1, 2)]
    assert told == [
        "1 more call waits for write_file: always allows it too",
        "2 more calls wait for write_file: always allows them too",
    ]


def test_several_questions_get_one_answer_and_may_be_refused() -> None:
    item = Questions("i", questions=(Question("Which?", (RED,)), Question("Why?")))
    assert ask(item, "1", "so")[0] == Answer("answers", answers=("red", "so"))
    assert ask(item, "1", "/refuse")[0] == Answer("reject")
    assert ask(item, "1", "/refuse none of your business")[0] == Answer(
        "reject", message="none of your business"
    )


FORM = Confirmation(
    "i",
    reason="Please confirm.",
    fields=(
        Field("confirm", "confirm", "Go ahead", True),
        Field("where", "select", "Where", False, ("staging", "production")),
        Field("note", "text", "Note"),
    ),
)


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        (["y", "2", "now"], {"confirm": True, "where": "production", "note": "now"}),
        (["y", "moon", "staging", ""], {"confirm": True, "where": "staging"}),
    ],
    ids=str,
)
def test_a_form_is_filled_in(lines: list[str], fields: dict[str, object]) -> None:
    assert ask(FORM, *lines)[0] == Answer("fields", fields=fields)


def test_questions_that_may_not_be_refused_are_asked_until_they_are_answered() -> None:
    item = Questions("i", decisions=("answers",), questions=(Question("Colour?", (RED,)),))
    answer, person = ask(item, "/refuse", "1")
    assert answer == Answer("answers", answers=("red",))
    assert "'reject' does not fit: this interrupt takes 'answers'" in person.seen
    assert not any("/refuse" in line for line in person.seen)


def test_a_no_to_a_field_that_confirms_refuses_at_once() -> None:
    assert ask(FORM, "", "perhaps", "n")[0] == Answer("reject")
    extra = Confirmation("i", fields=(*FORM.fields, Field("quick", "confirm", "Quickly")))
    filled = {"confirm": True, "quick": False}
    assert ask(extra, "y", "", "", "n")[0] == Answer("fields", fields=filled)


def test_a_form_says_what_may_be_left_out_and_which_numbers_there_are() -> None:
    _, person = ask(FORM, "y", "3", "", "")
    assert [line for line in person.seen if "optional" in line] == [
        "  Where (optional, Enter skips)",
        "  Note (optional, Enter skips)",
    ]
    assert "  Go ahead" in person.seen
    assert "type a number from 1 to 2" in person.seen


def test_a_text_that_a_graph_offers_is_sent_as_it_is() -> None:
    item = GraphRequest("i", value={"question": "Again?", "choices": ["no", "1", "true", 2]})
    for text in ("no", "1", "true"):
        assert ask(item, text)[0] == Answer("value", value=text)
    assert ask(item, "2")[0] == Answer("value", value=2)
    assert ask(item, "n not now")[0] == Answer("reject", message="not now")
    assert ask(GraphRequest("i", value={"options": ["yes"]}), "yes")[0] == Answer("value", value="yes")


def test_an_interrupt_of_a_graph_is_answered_with_json_or_text() -> None:
    item = GraphRequest("i", value={"pick": [1, 2]})
    assert ask(item, '{"n": 1}')[0] == Answer("value", value={"n": 1})
    assert ask(item, "plain words")[0] == Answer("value", value="plain words")


def test_a_number_of_thousands_of_digits_is_not_an_option() -> None:
    item = Questions("i", questions=(Question("Which?", (RED,)),))
    answer, person = ask(item, "1" * 5_000, "1")
    assert answer == Answer("answers", answers=("red",))
    assert person.seen[-1] == "type 1"


def test_endlessly_nested_arguments_are_refused() -> None:
    answer, person = ask(APPROVAL, "e", "[" * 100_000, "n")
    assert answer == Answer("reject")
    assert any(line.startswith("this is not JSON") for line in person.seen)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["n"], Answer("reject")),
        (["No too risky"], Answer("reject", message="too risky")),
        (["/refuse too risky"], Answer("reject", message="too risky")),
        (["否"], Answer("reject")),
        (["y"], Answer("value", value=True)),
        (["", "nothing"], Answer("value", value="nothing")),
        (['"no"'], Answer("value", value="no")),
        (["false"], Answer("value", value=False)),
        (['{"a": 1}'], Answer("value", value={"a": 1})),
    ],
    ids=str,
)
def test_a_no_to_an_interrupt_of_a_graph_rejects_it(lines: list[str], answer: Answer) -> None:
    assert ask(GraphRequest("i", value="Delete all rows?"), *lines)[0] == answer


def test_two_commands_that_differ_look_different() -> None:
    commands = ("echo \\▌", "echo \\u258c")
    asked = [Approval("i", name="execute", args={"command": command}) for command in commands]
    first, second = (ask(item, "n")[1].seen[1].partition(": ")[2] for item in asked)
    assert clean(first) == r"echo \\\u258c"
    assert clean(second) == r"echo \\u258c"


def test_a_question_of_a_sub_agent_names_it() -> None:
    _, person = ask(SUB_AGENTS, "y")
    assert person.seen[0] == "crawl_agent asks:"
    _, person = ask(APPROVAL, "y")
    assert "asks:" not in person.seen[0]
