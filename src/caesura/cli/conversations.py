"""Conversations and their turns, as lines with their ids."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from datetime import datetime

from caesura.cli.screen import one_line
from caesura.client import Client, Conversation, Turn

#: How many are listed at most, and how many characters of a message.
MANY, _WORDS = 20, 60
_STATES = {"idle": "", "running": "  (running)", "interrupted": "  (waits for an answer)"}


async def newest(client: Client, words: str = "") -> tuple[list[Conversation], bool]:
    """The newest conversations, or those with these words in their title, and whether there are more."""
    listed: list[Conversation] = []
    async with aclosing(client.conversations(query=words)) as found:
        async for conversation in found:
            if len(listed) == MANY:
                return listed, True
            listed.append(conversation)
    return listed, False


def lines(items: Sequence[Conversation], current: str | None) -> list[str]:
    """For each its number, the id, when something was last said, the agent, the title, and what it waits
    for."""
    agents = [one_line(item.agent) for item in items]
    wide = max(map(len, agents), default=0)
    return [
        f"{_mark(item, current)} {number:>2}  {item.id}  {_time(item)}  {agent:<{wide}}  {_title(item)}"
        for number, (item, agent) in enumerate(zip(items, agents, strict=True), 1)
    ]


def _mark(item: Conversation, current: str | None) -> str:
    return "*" if item.id == current else " "


def _time(item: Conversation) -> str:
    return datetime.fromtimestamp(item.updated_at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _title(item: Conversation) -> str:
    title = one_line(item.title) if item.title else "(no title yet)"
    return f"{title}{_STATES[item.status]}"


def turn_line(turn: Turn) -> str:
    """The id, the status and the first words of the message."""
    words = turn.content if len(turn.content) <= _WORDS else f"{turn.content[:_WORDS]}…"
    return f"{turn.id}  {turn.status:<7}  {one_line(words)}"
