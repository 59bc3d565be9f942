"""The tool that asks the person: one or more texts, each with options to choose from or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, WithJsonSchema

from caesura.agents import context
from caesura.agents.tools.tool import Description, Tool, ToolError, structured
from caesura.core import interrupts
from caesura.core.answers import Answer
from caesura.core.interrupts import Option, Question, Questions
from caesura.core.language import Language

MOST_QUESTIONS = 20
MOST_OPTIONS = 50
_LONGEST = 4000

_OPTION = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "description": "What the person sees"},
        "value": {"type": "string", "description": "What you get back"},
        "allow_custom": {"type": "boolean", "description": "The person may write an answer of their own"},
    },
    "required": ["label", "value"],
}
_QUESTIONS = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_QUESTIONS,
    "items": {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "options": {"type": "array", "maxItems": MOST_OPTIONS, "items": _OPTION},
        },
        "required": ["question"],
    },
}


class Arguments(BaseModel):
    # The schema accepts anything: `parse` explains faults better than a schema does.
    questions: Annotated[Any, WithJsonSchema(_QUESTIONS)] = Field(description="What to ask, all at once")


def tool() -> Tool:
    description = "Ask the person one or more questions and wait for the answers."
    made = structured(ask_user, description, Arguments)
    return Tool("ask_user", made, describe, repeatable=True, asks=True, only_asks=True)


async def ask_user(questions: Any) -> str:
    run = context.current()
    parsed = parse(questions)
    label, description, _ = describe({"questions": list(parsed)}, run.language)
    args = {"questions": [interrupts.question_dict(question) for question in parsed]}
    item = Questions("", name="ask_user", args=args, label=label, description=description, questions=parsed)
    return result(parsed, run.ask(item))


def describe(args: Mapping[str, Any], language: Language) -> Description:
    questions = args.get("questions")
    count = len(questions) if isinstance(questions, list) else 1
    if language == "zh":
        return Description("用户问答", f"Agent 提出了 {count} 个问题")
    return Description("Questions", f"The agent asks {count} question{'' if count == 1 else 's'}")


def result(questions: tuple[Question, ...], answer: Answer) -> str:
    """The answers as the model reads them."""
    if answer.decision == "reject":
        reason = f": {answer.message}" if answer.message else "."
        return f"The person declined to answer{reason}"
    pairs = zip(questions, answer.answers, strict=False)
    return "\n".join(f"{question.question} → {_shown(question, value)}" for question, value in pairs)


def parse(questions: Any) -> tuple[Question, ...]:
    """The questions, or a `ToolError` that tells the model what is wrong with them."""
    items = _decoded(questions)
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_QUESTIONS:
        raise ToolError(f"questions must be a list of 1 to {MOST_QUESTIONS} questions")
    return tuple(_question(item, f"questions[{index}]") for index, item in enumerate(items))


def asked(value: Any) -> tuple[Question, ...]:
    """The questions of `{"questions": […]}`; none for anything else."""
    try:
        return parse(value["questions"]) if isinstance(value, Mapping) and "questions" in value else ()
    except ToolError:
        return ()


def _decoded(questions: Any) -> Any:
    """Some models send the list as JSON in a text."""
    if not isinstance(questions, str):
        return questions
    try:
        return orjson.loads(questions)
    except orjson.JSONDecodeError:
        return questions


def _question(item: Any, place: str) -> Question:
    if not isinstance(item, dict):
        raise ToolError(f"{place} must be an object with question and options")
    text = _text(item.get("question"), f"{place}.question")
    options = item.get("options") or []
    if not isinstance(options, list) or len(options) > MOST_OPTIONS:
        raise ToolError(f"{place}.options must be a list of at most {MOST_OPTIONS} options")
    made = tuple(_option(option, f"{place}.options[{index}]") for index, option in enumerate(options))
    if len({option.value for option in made}) != len(made):
        raise ToolError(f"{place}.options: the values must differ from one another")
    return Question(text, made)


def _option(item: Any, place: str) -> Option:
    if isinstance(item, str):
        item = {"label": item, "value": item}
    if not isinstance(item, dict):
        raise ToolError(f"{place} must be an object with label and value")
    value = _text(item.get("value", item.get("label")), f"{place}.value")
    label = _text(item.get("label", value), f"{place}.label")
    return Option(label, value, item.get("allow_custom") is True)


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST:
        raise ToolError(f"{place} must be a text of 1 to {_LONGEST} characters")
    return value


def _shown(question: Question, value: str) -> str:
    label = next((option.label for option in question.options if option.value == value), value)
    return value if label == value else f"{value} ({label})"
