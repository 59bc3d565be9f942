"""The JSON that the native API gives: people, agents and conversations. Times are milliseconds
since 1970, UTC."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from caesura.core.conversations import Conversation as ConversationRow
from caesura.dialects.native.turn_replies import SeenTurn
from caesura.service.agents import Agent as LoadedAgent
from caesura.service.agents import is_demo
from caesura.service.pages import BranchPage, TreePage


class Me(BaseModel):
    user_id: str


class Agent(BaseModel):
    name: str
    description: str
    version: str = Field(description="A hash, which changes with the agent")
    metadata_version: str | None = Field(description="The label that the operator gave it in its file")
    type: Literal["chat_model_agent", "langgraph"]
    sub_agents: list[str]
    is_default: bool
    model: str | None = Field(description="Its model; null if an operator's graph names none")
    demo: bool = Field(description="Whether its model is the demo model, which is no AI")

    @classmethod
    def of(cls, agent: LoadedAgent, default: str, model: str | None) -> Agent:
        return cls(
            name=agent.name,
            description=agent.description,
            version=agent.version,
            metadata_version=agent.metadata.version,
            type=agent.spec.type,
            sub_agents=[link.agent.name for link in agent.sub_agents],
            is_default=agent.name == default,
            model=model,
            demo=is_demo(model),
        )


class Agents(BaseModel):
    agents: list[Agent]


class Conversation(BaseModel):
    id: str
    title: str | None
    agent: str
    status: Literal["idle", "running", "interrupted"]
    active_turn: str | None
    message_count: int
    created_at: int
    updated_at: int

    @classmethod
    def of(cls, row: ConversationRow) -> Conversation:
        status: Literal["idle", "running", "interrupted"] = "running" if row.running else "idle"
        return cls(
            id=row.id,
            title=row.title,
            agent=row.agent,
            status="interrupted" if row.interrupted else status,
            active_turn=row.active_turn,
            message_count=row.message_count,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


class Conversations(BaseModel):
    conversations: list[Conversation]
    total: int
    next: str | None = Field(description="The cursor of the next page; null after the last one")


class Tree(Conversation):
    """A page of a conversation's turns, oldest first."""

    turns: list[SeenTurn]
    next: str | None = Field(description="The cursor of the next page; null after the last one")

    @classmethod
    def of_page(cls, page: TreePage) -> Tree:
        return cls(
            **Conversation.of(page.conversation).model_dump(),
            turns=[SeenTurn.of_seen(item) for item in page.turns],
            next=str(page.next) if page.next is not None else None,
        )


class Read(BaseModel):
    """Up to where the person has read, on whichever device."""

    turn_id: str
    cursor: int
    at: int


class Snapshot(BaseModel):
    """The end of the active branch as it is now, oldest turn first. Later changes are the events after
    `cursor` of `turn`, the newest turn here."""

    conversation: Conversation
    turns: list[SeenTurn]
    turn: str | None
    cursor: int
    before: str | None = Field(description="The cursor of the page before this one; null at the beginning")
    read: Read | None = Field(description="What the person has read last; null if nothing is known")

    @classmethod
    def of_page(cls, page: BranchPage) -> Snapshot:
        newest = page.turns[-1] if page.turns else None
        return cls(
            conversation=Conversation.of(page.conversation),
            turns=[SeenTurn.of_seen(item) for item in page.turns],
            turn=newest.turn.id if newest else None,
            cursor=newest.cursor if newest else 0,
            before=page.before,
            read=Read(**page.read._asdict()) if page.read else None,
        )


class Ticket(BaseModel):
    ticket: str = Field(description="For `?ticket=`: good once, for this person and this stream")
    expires_in: int = Field(description="Seconds")
