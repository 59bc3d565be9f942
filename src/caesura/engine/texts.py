"""Texts that the engine itself shows to a model or a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caesura.agents.tools import ask_user
from caesura.core import answers, described, json_data
from caesura.core.answers import Answer
from caesura.core.interrupts import Confirmation, Interrupt, Questions
from caesura.core.language import Language

#: The members in which graphs usually put the words of a question.
_WORDS = ("question", "message", "prompt", "instruction", "description", "text", "title", "info", "task")


def no_such_tool(name: str, known: Sequence[str]) -> str:
    return f"There is no tool named {name!r}. The tools are: {', '.join(known) or 'none'}."


def broken_arguments(raw: str) -> str:
    return f"The arguments were not valid JSON, so nothing was done: {raw}"


def refused_arguments(reason: str) -> str:
    return f"Nothing was done: {reason}."


def refused(message: str) -> str:
    reason = f" They said: {message}" if message else ""
    return f"Not done: the person refused this call.{reason}"


def left_unknown(message: str) -> str:
    reason = f" They said: {message}" if message else ""
    return f"Unknown: the server stopped during this call, and the person chose not to run it again.{reason}"


def too_slow(seconds: float) -> str:
    return f"The tool did not end within {seconds:g} seconds and was stopped; it may have had an effect."


def tool_failed(error_id: str) -> str:
    return f"The tool failed ({error_id})."


def changed_meanwhile() -> str:
    return "Not done: others changed it again and again meanwhile. Read it, and try again."


def results_full(most: int) -> str:
    return f"the results of the tool calls of one turn may take {_size(most)} of memory together"


def results_of_person_full(most: int) -> str:
    return (
        f"the results in all turns that run for this person may take {_size(most)} of memory together,"
        " so try again when others have ended"
    )


def left_out(characters: int, why: str) -> str:
    return f"[left out: all {characters} characters of the result; {why}]"


def cut_off(language: Language) -> str:
    """Stands at the end of an answer for which the model's window had no more room."""
    if language == "zh":
        return "（回答在此中断：对话对模型来说太长了。）"
    return "(The answer is cut off here: the conversation is too long for the model.)"


def cut_short(language: Language) -> str:
    """Stands at the end of an answer that has come to the greatest number of tokens for an answer."""
    if language == "zh":
        return "（回答在此中断：已达到模型单次回答的长度上限。）"
    return "(The answer is cut off here: it is as long as the model may write.)"


def unknown_outcome(description: str, language: Language) -> str:
    """The note comes first, so that the description cannot forge it or push it out of sight."""
    if language == "zh":
        return f"（服务中断，不知道此操作是否已执行。要再次执行吗？）{description}"
    return f"(The server stopped meanwhile: it may already be done. Run it again?) {description}"


def changed_since(description: str, language: Language) -> str:
    """The note comes first, as above."""
    if language == "zh":
        return f"（文件在您批准后已被改动，因此没有写入。仍要写入吗？）{description}"
    return f"(The file has changed since it was shown, so nothing was written. Write it now?) {description}"


def answered(item: Interrupt, given: Answer, language: Language) -> str:
    """An answer as an agent reads it that has not the tool that asked. Empty for a mere approval."""
    if isinstance(item, Confirmation):
        return confirmation(item, given, language)
    if isinstance(item, Questions):
        return ask_user.result(item.questions, given)
    if given.decision == "reject":
        return refused(given.message)
    words = json_data.dumps(given.value).decode() if given.decision == "value" else given.message
    return f"The person answered: {words}" if words else ""


def confirmation(item: Confirmation, answer: Answer, language: Language) -> str:
    """A person's answer to a confirmation, as the agent reads it. The decision comes first: what the person
    wrote beside it cannot turn it into another one."""
    refused, known = answers.refuses(item, answer), answers.deciding(item.fields)
    rest = {name: value for name, value in answer.fields.items() if name not in known and value is not None}
    details = "; ".join(f"{name}: {_value(value, language)}" for name, value in rest.items())
    if language == "zh":
        said = "我不同意，请不要继续。" if refused else "我确认，请继续。"
    else:
        said = "No, I refuse. Do not go ahead." if refused else "Yes, I confirm. Go ahead."
    return " ".join(part for part in (said, details, answer.message) if part)


def _value(value: object, language: Language) -> str:
    if isinstance(value, bool):
        return ("是" if value else "否") if language == "zh" else ("yes" if value else "no")
    return str(value)


def graph_question(value: Any, language: Language) -> tuple[str, str]:
    """The label and the description of what an operator's own graph asks. Neither is ever empty."""
    label = "提问" if language == "zh" else "Question"
    if value is None or value == "" or value in ({}, []):
        return label, "智能体正在等待您的回答" if language == "zh" else "The agent waits for your answer"
    if isinstance(value, str):
        return label, described.sentence(label, described.text(value, language), language)
    name = _words_in(value)
    if name is None:
        return label, described.sentence(label, described.data(value, language), language)
    words = described.text(value[name], language)
    if len(value) == 1:
        return label, described.sentence(label, words, language)
    rest = described.data({other: held for other, held in value.items() if other != name}, language)
    return label, described.sentence(
        label, words._replace(text=f"{words.text} {rest.text}"), language, rest.size
    )


def _words_in(value: Any) -> str | None:
    """The member that holds the words of a question, if there is one."""
    if not isinstance(value, dict):
        return None
    return next((name for name in _WORDS if isinstance(value.get(name), str) and value[name].strip()), None)


def confirm_label(language: Language) -> str:
    return "确认" if language == "zh" else "Confirmation"


def _size(count: int) -> str:
    return f"{count // (1024 * 1024)} MiB" if count % (1024 * 1024) == 0 else f"{count} bytes"
