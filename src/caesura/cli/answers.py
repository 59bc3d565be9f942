"""Answers: asks the person at the terminal until their answer fits the interrupt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, assert_never

from caesura.cli.screen import one_line
from caesura.core import described, json_data, shown
from caesura.core.answers import Answer, check, deciding
from caesura.core.errors import BadAnswer
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

REFUSE = "/refuse"
_YES, _NO = ("y", "yes", "是", "好"), ("n", "no", "否", "不")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
#: Up to this many arguments are listed with their sizes before the person decides. More are counted.
_FEW = 10
#: More characters of a description are not shown: all arguments follow it.
_LONGEST_DESCRIPTION = 500


class _Choice(NamedTuple):
    """One way to decide about a tool call."""

    decision: Decision
    prompt: str
    help: str


_CHOICES = (
    _Choice("approve", "[y]es", "y: do it"),
    _Choice("reject", "[n]o", "n (and why): do not"),
    _Choice("edit", "[e]dit", "e: change it first"),
    _Choice("respond", "[r]espond", "r (and what): say this instead"),
    _Choice("approve", "[a]lways", "a: do it, and do not ask for this tool again on this branch"),
)


class Listener(Protocol):
    """Where an answer comes from."""

    def ask(self, prompt: str, prefill: str = "") -> str: ...


class Teller(Protocol):
    """Where questions are shown."""

    def ask(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def fault(self, text: str) -> None: ...


class _Refused(Exception):
    """The person refuses to answer, perhaps with a reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Asker:
    def __init__(self, teller: Teller, listener: Listener) -> None:
        self._teller, self._listener = teller, listener

    def ask(self, item: Interrupt, others: int = 0) -> Answer:
        """A decision that fits. An answer that does not fit is reported, and asked for again. `others` calls
        of the same tool wait, too."""
        if item.parent is not None:
            self._teller.ask(f"{one_line(item.agent)} asks:")
        while True:
            try:
                return check(item, self._decision_on(item, others))
            except BadAnswer as error:
                self._teller.fault(error.message)

    def _decision_on(self, item: Interrupt, others: int) -> Answer:
        try:
            return self._ask(item, others)
        except _Refused as refused:
            return Answer("reject", message=refused.reason)

    def _ask(self, item: Interrupt, others: int) -> Answer:
        match item:
            case Approval():
                return self._approval(item, others)
            case Questions():
                return self._questions(item)
            case Confirmation():
                return self._confirmation(item)
            case GraphRequest():
                return self._graph(item)
            case unreachable:
                assert_never(unreachable)

    # --- approvals

    def _approval(self, item: Approval, others: int) -> Answer:
        tool = one_line(item.name)
        self._teller.ask(f"? {shown.line(item.label) or 'Approval'}: {tool}")
        if told := shown.line(item.description[: _LONGEST_DESCRIPTION + 1]).strip():
            cut = len(item.description) > _LONGEST_DESCRIPTION
            self._teller.ask(f"  » {told}{'…' if cut else ''}")
        for name, value in item.args.items():
            self._argument(name, value)
        if item.unknown:
            self._teller.ask("It was begun before a crash: nobody knows whether it was done. Do it (again)?")
        if others:
            wait = "1 more call waits" if others == 1 else f"{others} more calls wait"
            self._teller.ask(f"{wait} for {tool}: always allows {'it' if others == 1 else 'them'} too")
        # The arguments may have scrolled the question out of sight.
        self._teller.ask(f"{tool}: {_summary(item.args)}")
        offered = [choice for choice in _CHOICES if choice.decision in item.decisions]
        prompt = " ".join(choice.prompt for choice in offered)
        while True:
            word, _, rest = self._listener.ask(f"{prompt} > ").partition(" ")
            answer = self._decision(item, word.lower(), rest.strip())
            if answer is not None and answer.decision in item.decisions:
                return answer
            self._teller.note(" · ".join(choice.help for choice in offered))

    def _argument(self, name: str, value: object) -> None:
        """Show the whole argument. Each line begins with our mark, which no value can contain."""
        if not isinstance(value, str) or len(value.splitlines()) < 2:
            text = one_line(value) if isinstance(value, str) else shown.data(value)
            return self._teller.ask(f"  {_sized(name, value)}: {text}")
        self._teller.ask(f"  {_sized(name, value)}:")
        for number, line in enumerate(value.split("\n"), 1):
            self._teller.ask(f"  {number:>6}  {one_line(line, indented=True)}")
        return None

    def _decision(self, item: Approval, word: str, rest: str) -> Answer | None:
        if word in _YES:
            return Answer("approve")
        if word in _NO or word == REFUSE:
            return Answer("reject", message=rest)
        if word in ("a", "always"):
            return Answer("approve", always_allow=True)
        if word in ("r", "respond") and "respond" in item.decisions:
            return Answer("respond", message=rest or self._listener.ask("say instead > "))
        if word in ("e", "edit") and "edit" in item.decisions:
            return self._edit(item)
        return None

    def _edit(self, item: Approval) -> Answer:
        written = self._listener.ask("arguments > ", shown.json(json.dumps(item.args, ensure_ascii=False)))
        try:
            args = json.loads(written)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(f"this is not JSON: {error}") from error
        if not isinstance(args, dict):
            raise BadAnswer("arguments are an object: {…}")
        return Answer("edit", args=args)

    # --- questions

    def _questions(self, item: Questions) -> Answer:
        refuse = f"; {REFUSE} answers nothing" if "reject" in item.decisions else ""
        self._teller.note(f"Answer with a number, or in your own words if allowed{refuse}.")
        return Answer("answers", answers=tuple(self._question(question) for question in item.questions))

    def _question(self, question: Question) -> str:
        self._tell(question.question)
        self._list([_label(option) for option in question.options])
        values = [option.value for option in question.options]
        free = not values or any(option.allow_custom for option in question.options)
        while True:
            text = self._line("> ")
            if (chosen := _chosen(text, values)) is not None:
                return self._own_words(question.options[values.index(chosen)])
            if text and free and not (values and _is_number(text)):
                return text
            self._teller.fault(_choice(question.options))

    def _own_words(self, option: Option) -> str:
        """Such an option stands for any text. An empty line takes the option's own value."""
        return (option.allow_custom and self._line("in your own words > ")) or option.value

    # --- forms

    def _confirmation(self, item: Confirmation) -> Answer:
        if item.reason:
            self._tell(item.reason)
        else:
            self._teller.ask(f"? {shown.line(item.description or item.label)}")
        decide, fields = deciding(item.fields), dict[str, Any]()
        for field in item.fields:
            if (value := self._field(field)) is not None:
                fields[field.name] = value
            if value is False and field.name in decide:
                raise _Refused("")
        return Answer("fields", fields=fields)

    def _field(self, field: Field) -> Any:
        optional = "" if field.required else " (optional, Enter skips)"
        self._teller.ask(f"  {one_line(field.label or field.name)}{optional}")
        self._list([one_line(option) for option in field.options])
        while True:
            text = self._line("[y/n] > " if field.type == "confirm" else "> ")
            value = _value(field, text)
            if value is not None or not (text or field.required):
                return value
            self._teller.fault(_wanted(field))

    # --- interrupts of graphs

    def _graph(self, item: GraphRequest) -> Answer:
        if isinstance(item.value, str) and item.value.strip():
            self._tell(item.value)
        elif isinstance(item.value, dict) and item.value:
            self._teller.ask(f"? {one_line(item.agent) or 'The graph'} asks:")
            for name, value in item.value.items():
                self._argument(name, value)
        elif item.value in (None, "", {}, []):
            self._teller.ask(f"? {shown.line(item.description) or 'An answer is needed'}")
        else:
            self._teller.ask(f"? {shown.data(item.value)}")
        while not (text := self._line("[y]es [n]o, or an answer (a text, or JSON) > ")):
            self._teller.fault('an answer is needed: "" is the empty text')
        if text in _offered(item.value):
            return Answer("value", value=text)
        word, _, reason = text.partition(" ")
        if word.lower() in _NO:
            # Passed on as a text, a no would be true for most graphs.
            raise _Refused(reason.strip())
        return Answer("value", value=True if text.lower() in _YES else _json_or_text(text))

    def _line(self, prompt: str) -> str:
        text = self._listener.ask(prompt)
        word, _, reason = text.partition(" ")
        if word == REFUSE:
            raise _Refused(reason.strip())
        return text

    def _list(self, options: Sequence[str]) -> None:
        for number, option in enumerate(options, 1):
            self._teller.ask(f"    {number}. {option}")

    def _tell(self, question: str) -> None:
        """Show a question, which may have several lines."""
        first, *rest = question.rstrip().split("\n")
        self._teller.ask(f"? {one_line(first)}")
        for line in rest:
            self._teller.ask(f"  {one_line(line, indented=True)}")


def _offered(value: Any) -> list[str]:
    """The texts that a graph offers as answers. Each of them is itself, whatever else it would mean."""
    if not isinstance(value, dict):
        return []
    lists = [value[name] for name in ("choices", "options") if isinstance(value.get(name), list)]
    return [item for offered in lists for item in offered if isinstance(item, str)]


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _label(option: Option) -> str:
    """What an option says, and what it sends if that is something else."""
    label = one_line(option.label)
    if option.allow_custom:
        return f"{label} (or in your own words)"
    same = option.label.strip().casefold() == option.value.strip().casefold()
    return label if same else f"{label} (sends: {one_line(option.value)})"


def _summary(args: Mapping[str, object]) -> str:
    if len(args) > _FEW:
        size = described.size(json_data.dumps(args).decode(), "en")
        return f"{len(args):,} arguments, {size} in all"
    return ", ".join(_sized(name, value) for name, value in args.items()) or "no arguments"


def _sized(name: str, value: object) -> str:
    """`content (1,234 characters, 3 lines)`. A name that could look like more than a name is quoted."""
    known = name if _NAME.fullmatch(name) else shown.data(name)
    if isinstance(value, str):
        return f"{known} ({described.size(value, 'en')})"
    return f"{known} ({described.size(json_data.dumps(value).decode(), 'en')} of JSON)"


def _choice(options: Sequence[Option]) -> str:
    """What can be typed at a question, said after something that cannot. A number is meant for an option."""
    if not options:
        return "an answer is needed"
    own = next((number for number, option in enumerate(options, 1) if option.allow_custom), None)
    also = f"; to answer with a number that is not listed, type {own} first" if own is not None else ""
    return f"{_any_of(len(options))}{also}"


def _any_of(count: int) -> str:
    return "type 1" if count == 1 else f"type a number from 1 to {count}"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _chosen(text: str, values: Sequence[str]) -> str | None:
    """The chosen value, named by its number or by itself."""
    # Python does not parse numbers of thousands of digits.
    if _is_number(text) and len(text) < 10 and 1 <= int(text) <= len(values):
        return values[int(text) - 1]
    return text if text in values else None


def _wanted(field: Field) -> str:
    """What the person should type, said after something that is not valid."""
    if field.type == "confirm":
        return f"yes or no, or {REFUSE} and why"
    return _any_of(len(field.options)) if field.type == "select" else "an answer is needed"


def _value(field: Field, text: str) -> Any:
    """The value of a field; None if the text is not valid for it."""
    if field.type == "confirm":
        return True if text.lower() in _YES else False if text.lower() in _NO else None
    if field.type == "select":
        return _chosen(text, field.options)
    return text or None
