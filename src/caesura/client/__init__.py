"""The Python client: asks a server, and follows its turns through whatever happens to the connection."""

from caesura.client.client import Client
from caesura.client.errors import ClientError, Rewound, Unreachable
from caesura.client.values import Agent, Asked, Conversation, RunningTool, SeenTurn, Snapshot, Tree, Turn

__all__ = [
    "Agent",
    "Asked",
    "Client",
    "ClientError",
    "Conversation",
    "Rewound",
    "RunningTool",
    "SeenTurn",
    "Snapshot",
    "Tree",
    "Turn",
    "Unreachable",
]
