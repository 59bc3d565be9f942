"""What a tool gives back: a text of bounded length."""

from __future__ import annotations

#: Characters of the end of a long text that are kept.
_END = 2_000


def bounded(text: str, limit: int) -> str:
    """The text, with its middle left out if it is too long. Its end may say how a command ended."""
    if len(text) <= limit:
        return text
    end = min(_END, limit)
    note = f"[cut: {len(text) - limit} of {len(text)} characters are left out here]"
    return f"{text[: limit - end]}\n{note}\n{text[len(text) - end :]}"
