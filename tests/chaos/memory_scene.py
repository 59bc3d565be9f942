"""Turns of a graph in which another graph remembers: their orders, and what they must have come to."""

from __future__ import annotations

from dataclasses import replace

from tests.chaos.engine_life import Orders
from tests.chaos.engine_scene import Place, look, traces
from tests.chaos.memory_graphs import TEXTS


def orders_of(how: str, file: Place) -> Orders:
    return replace(file.orders(how), messages=("one", "two", "three"))


async def check(how: str, orders: Orders) -> None:
    """The turns have ended as those that nobody kills."""
    found = await look(orders)
    told = [[text for text in turn.texts if text] for turn in found]
    assert told == [[text.format(number) for text in TEXTS[how]] for number in (1, 2, 3)], orders
    calls = 2 if how == "twice" else 1
    for number, turn in enumerate(found, 1):
        # If the outcome of a call is unknown, the person was asked, and chose to make it again.
        times = calls + len(turn.unknown)
        assert traces(orders).count(f"jot {number}") in (calls, times), orders
        results = [message.content for message in turn.row.messages or () if message.role == "tool"]
        assert results.count(f"jotted {number}") == calls, orders
