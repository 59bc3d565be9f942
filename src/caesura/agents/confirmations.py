"""What the agent is told when a person has answered a confirmation it asked for in words."""

from __future__ import annotations

from caesura.core.interrupts import Answer
from caesura.core.language import Language

_CONFIRMED: dict[Language, str] = {"en": "Confirmed: go ahead.", "zh": "已确认：请继续。"}
_REFUSED: dict[Language, str] = {"en": "Not confirmed: do not go ahead.", "zh": "未确认：请不要执行。"}


def told(answer: Answer, language: Language) -> str:
    """The user message that the answer becomes: the decision, and what else was filled in."""
    lines = [_REFUSED[language] if answer.refuses else _CONFIRMED[language]]
    lines += [f"{name}: {value}" for name, value in answer.fields.items() if not isinstance(value, bool)]
    if answer.message:
        lines.append(answer.message)
    return "\n".join(lines)


def decision_in(text: str) -> bool | None:
    """Whether a message confirms or refuses, as `told` would have said it; None when it is something else."""
    first = text.strip().partition("\n")[0]
    if first in _CONFIRMED.values():
        return True
    return False if first in _REFUSED.values() else None
