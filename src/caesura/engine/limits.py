"""The bounds of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, unless the name says otherwise."""

    run: float = 300.0
    steps: int = 50
    tool: float = 120.0
    #: Characters of a tool's result. The built-in tools return 256 KiB and notes, such as the exit code.
    tool_output: int = 260 * 1024
    #: Bytes of memory that the results of one turn's tool calls may take, and those of all running turns of a
    #: person in this process.
    results: int = 8 * 1024 * 1024
    results_of_person: int = 32 * 1024 * 1024
    title: float = 10.0
    #: The size of a turn's log in bytes, approximately as stored.
    log: int = 16 * 1024 * 1024
    #: Questions that are asked together: how many, and their total size in bytes.
    questions: int = 100
    question_bytes: int = 1024 * 1024
    #: The bytes of a graph's state that are kept for the next turn.
    graph_state: int = 1024 * 1024
    attempts: int = 3
    backoff: float = 0.5
