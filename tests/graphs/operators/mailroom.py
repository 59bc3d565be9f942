"""An agent whose tool calls a person reviews, with LangChain's middleware."""

import os
from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver


def leave(line: str) -> None:
    with Path(os.environ["OUTBOX"]).open("a") as file:
        file.write(line + "\n")


@tool
def send_mail(to: str, subject: str = "hello") -> str:
    """Send a mail."""
    leave(f"mail {to} {subject}")
    return f"sent to {to}"


@tool
def delete_mail(number: int) -> str:
    """Delete a mail."""
    leave(f"delete {number}")
    return f"deleted {number}"


def make_graph():  # type: ignore[no-untyped-def]
    return create_agent(
        ChatOpenAI(model="gpt-4o-mini"),
        tools=[send_mail, delete_mail],
        middleware=[
            HumanInTheLoopMiddleware(
                interrupt_on={
                    "send_mail": True,
                    "delete_mail": {"allowed_decisions": ["approve", "reject"]},
                },
                description_prefix="Please review",
            )
        ],
        checkpointer=MemorySaver(),
    )
