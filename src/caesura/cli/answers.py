"""Answers: an interrupt put to the person at the terminal, until what they say fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, assert_never

from caesura.core import interrupts, plain
from caesura.core.errors import BadAnswer
from caesura.core.interrupts import Answer, Field, Interrupt, Option, Question

REFUSE = "/refuse"
_YES, _NO = ("y", "yes", "是", "好"), ("n", "no", "否", "不")


class Listener(Protocol):
    """Where a line comes from."""

    def line(self, prompt: str, prefill: str = "") -> str: ...


class Teller(Protocol):
    """Where questions are shown."""

    def line(self, text: str, style: str = "") -> None: ...
    def heading(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...
    def fault(self, text: str) -> None: ...


class _Refused(Exception):
    """The person does not want to answer."""


class Asker:
    def __init__(self, teller: Teller, listener: Listener) -> None:
        self._teller, self._listener = teller, listener

    def ask(self, item: Interrupt) -> Answer:
        """A decision that fits. What does not is said, and asked for again."""
        while True:
            try:
                return interrupts.check(item, self._ask(item))
            except BadAnswer as error:
                self._teller.fault(error.message)
            except _Refused:
                return Answer("reject")

    def _ask(self, item: Interrupt) -> Answer:
        match item.kind:
            case "approval":
                return self._approval(item)
            case "questions":
                return self._questions(item)
            case "confirmation":
                return self._confirmation(item)
            case "graph":
                return self._graph(item)
            case unreachable:
                assert_never(unreachable)

    # --- may this be done?

    def _approval(self, item: Interrupt) -> Answer:
        self._teller.heading(f"? {item.label or 'Approval'}: {item.description or item.name}")
        for name, value in item.args.items():
            shown = value if isinstance(value, str) else plain.dumps(value).decode()
            self._teller.line(f"    {name}: {shown}")
        if item.unknown:
            self._teller.note("It was begun before a crash: nobody knows whether it was done. Do it (again)?")
        while True:
            word, _, rest = self._listener.line("[y]es [n]o [e]dit [r]espond [a]lways > ").partition(" ")
            if (answer := self._decision(item, word.lower(), rest.strip())) is not None:
                return answer
            self._teller.note(
                "y: do it · n (and why): do not · e: change it first · r (and what): say this instead · "
                "a: do it, and do not ask for this tool again on this branch"
            )

    def _decision(self, item: Interrupt, word: str, rest: str) -> Answer | None:
        if word in _YES:
            return Answer("approve")
        if word in _NO or word == REFUSE:
            return Answer("reject", message=rest)
        if word in ("a", "always"):
            return Answer("approve", always_allow=True)
        if word in ("r", "respond"):
            return Answer("respond", message=rest or self._listener.line("say instead > "))
        if word in ("e", "edit"):
            return self._edit(item)
        return None

    def _edit(self, item: Interrupt) -> Answer:
        written = self._listener.line("arguments > ", json.dumps(item.args, ensure_ascii=False))
        try:
            args = json.loads(written)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(f"this is not JSON: {error}") from error
        if not isinstance(args, dict):
            raise BadAnswer("arguments are an object: {…}")
        return Answer("edit", args=args)

    # --- which is it?

    def _questions(self, item: Interrupt) -> Answer:
        self._teller.note(f"Answer with a number or in your own words; {REFUSE} answers nothing.")
        return Answer("answers", answers=tuple(self._question(question) for question in item.questions))

    def _question(self, question: Question) -> str:
        self._teller.heading(f"? {question.question}")
        self._list([_label(option) for option in question.options])
        values = [option.value for option in question.options]
        free = not values or any(option.allow_custom for option in question.options)
        while True:
            text = self._line("> ")
            if (chosen := _chosen(text, values)) is not None:
                return self._own_words(question.options[values.index(chosen)])
            if text and free:
                return text
            self._teller.fault(f"a number from 1 to {len(values)}" if values else "an answer is needed")

    def _own_words(self, option: Option) -> str:
        """Such an option stands for any text; an empty line takes it as it is."""
        return (option.allow_custom and self._line("in your own words > ")) or option.value

    # --- a form

    def _confirmation(self, item: Interrupt) -> Answer:
        self._teller.heading(f"? {item.reason or item.description or item.label}")
        fields = {field.name: self._field(field) for field in item.fields}
        return Answer("fields", fields={name: value for name, value in fields.items() if value is not None})

    def _field(self, field: Field) -> Any:
        label = field.label or field.name
        self._list(field.options)
        while True:
            text = self._line(f"{label}{' [y/n]' if field.type == 'confirm' else ''} > ")
            value = _value(field, text)
            if value is not None or not (text or field.required):
                return value
            self._teller.fault("yes or no" if field.type == "confirm" else "an answer is needed")

    # --- whatever a graph asks

    def _graph(self, item: Interrupt) -> Answer:
        asked = item.value if isinstance(item.value, str) else json.dumps(item.value, ensure_ascii=False)
        self._teller.heading(f"? {asked}")
        text = self._line("answer (a text, or JSON) > ")
        try:
            return Answer("value", value=json.loads(text))
        except (ValueError, RecursionError):
            return Answer("value", value=text)

    def _line(self, prompt: str) -> str:
        text = self._listener.line(prompt)
        if text == REFUSE:
            raise _Refused
        return text

    def _list(self, options: Sequence[str]) -> None:
        for number, option in enumerate(options, 1):
            self._teller.line(f"    {number}. {option}")


def _label(option: Option) -> str:
    return f"{option.label} (or in your own words)" if option.allow_custom else option.label


def _chosen(text: str, values: Sequence[str]) -> str | None:
    """By its number, or by itself."""
    # Python reads no number of thousands of digits.
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= len(values):
        return values[int(text) - 1]
    return text if text in values else None


def _value(field: Field, text: str) -> Any:
    """What a field is given; None when this is no value for it."""
    if field.type == "confirm":
        return True if text.lower() in _YES else False if text.lower() in _NO else None
    if field.type == "select":
        return _chosen(text, field.options)
    return text or None
