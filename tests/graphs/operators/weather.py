"""A ReAct agent with a memory of its own, as LangChain's first pages show it."""

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver


@tool
def get_weather(city: str) -> str:
    """Get the weather for a city."""
    return f"It's always sunny in {city}!"


graph = create_agent(
    ChatOpenAI(model="gpt-4o-mini"),
    tools=[get_weather],
    system_prompt="You are a helpful assistant.",
    checkpointer=MemorySaver(),
)
