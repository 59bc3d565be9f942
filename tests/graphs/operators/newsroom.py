"""A graph with a state of its own, a subgraph, and a question to a person."""

import operator
import os
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

model = ChatOpenAI(model="gpt-4o-mini", temperature=0)


class Research(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    topic: str
    notes: Annotated[list[str], operator.add]


class News(Research):
    draft: str


def search(state: Research) -> dict[str, Any]:
    found = model.invoke([SystemMessage("You collect facts."), HumanMessage(state["topic"])])
    return {"messages": [found], "notes": [found.text]}


research = StateGraph(Research).add_node(search).add_edge(START, "search").compile()


def understand(state: News) -> dict[str, Any]:
    return {"topic": state["messages"][-1].text}


async def write(state: News) -> dict[str, Any]:
    facts = f"{state['topic']}: {'; '.join(state['notes'])}"
    draft = await model.ainvoke([SystemMessage("You write one sentence."), HumanMessage(facts)])
    return {"messages": [draft], "draft": draft.text}


def review(state: News) -> Command[Literal["publish", "__end__"]]:
    decision = interrupt({"question": "Publish this?", "draft": state["draft"]})
    if decision is False:
        return Command(update={"messages": [AIMessage("It is not published.")]}, goto="__end__")
    draft = state["draft"] if decision is True else decision
    return Command(update={"draft": draft}, goto="publish")


def publish(state: News) -> dict[str, Any]:
    with Path(os.environ["OUTBOX"]).open("a") as file:
        file.write(f"publish {state['draft']}\n")
    return {"messages": [AIMessage(f"Published: {state['draft']}")]}


builder = StateGraph(News)
builder.add_node("understand", understand)
builder.add_node("research", research)
builder.add_node("write", write)
builder.add_node("review", review)
builder.add_node("publish", publish)
builder.add_edge(START, "understand")
builder.add_edge("understand", "research")
builder.add_edge("research", "write")
builder.add_edge("write", "review")
builder.add_edge("publish", END)

graph = builder.compile(checkpointer=InMemorySaver())
