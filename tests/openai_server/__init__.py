"""An OpenAI-compatible server on the loopback: it says what a test wrote down, as strict as real ones."""

from tests.openai_server.replies import Broken, Call, Error, Hang, Held, Refusal, Reply, Say
from tests.openai_server.server import Desk, Server

__all__ = ["Broken", "Call", "Desk", "Error", "Hang", "Held", "Refusal", "Reply", "Say", "Server"]
