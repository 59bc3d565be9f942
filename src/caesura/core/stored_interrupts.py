"""Stored interrupts: an interrupt with its status, and with its answer once there is one."""

from __future__ import annotations

from dataclasses import dataclass

from caesura.core.answers import Answer
from caesura.core.interrupts import Interrupt, Status


@dataclass(frozen=True, slots=True)
class StoredInterrupt:
    """`graph_id` is the interrupt's name inside the graph that asked."""

    interrupt: Interrupt
    turn: int
    graph_id: str
    status: Status
    answer: Answer | None
    created_at: int
    turn_id: str = ""
    conversation_id: str = ""
