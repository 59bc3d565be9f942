"""A server on the loopback that speaks Anthropic's messages: it says what a test wrote down, as strict as the
real one."""

from tests.anthropic_server.replies import Answer, Broken, Error, Hang, Refusal, Reply, Thought, Use
from tests.anthropic_server.server import Desk, Server

__all__ = [
    "Answer",
    "Broken",
    "Desk",
    "Error",
    "Hang",
    "Refusal",
    "Reply",
    "Server",
    "Thought",
    "Use",
]
