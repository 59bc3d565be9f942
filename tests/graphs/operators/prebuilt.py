"""The same with LangGraph's older function, which many graphs still use."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.prebuilt import create_react_agent


@tool
def get_weather(city: str) -> str:
    """Get the weather for a city."""
    return f"It's always sunny in {city}!"


graph = create_react_agent(
    ChatOpenAI(model="gpt-4o-mini"),
    tools=[get_weather],
    prompt="You are a helpful assistant.",
    checkpointer=MemorySaver(),
)
