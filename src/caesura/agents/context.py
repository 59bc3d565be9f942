"""What a tool may know about the run it works in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caesura.core.language import Language


@dataclass(frozen=True, slots=True)
class RunContext:
    """Given to a graph as `context=`; `extra` is the engine's own."""

    conversation_id: str
    turn_id: str
    user_id: str
    agent: str
    language: Language
    workspace: Path
    extra: Any = None
