"""The Python client: asks a server, and follows its turns through whatever happens to the connection."""

from caesura.client.client import Client
from caesura.client.errors import ClientError, Rewound, Unreachable
from caesura.client.events import Told
from caesura.client.values import (
    Agent,
    Asked,
    Conversation,
    Grant,
    RunningTool,
    SeenTurn,
    Snapshot,
    Tree,
    Turn,
)

__all__ = [
    "Agent",
    "Asked",
    "Client",
    "ClientError",
    "Conversation",
    "Grant",
    "Rewound",
    "RunningTool",
    "SeenTurn",
    "Snapshot",
    "Told",
    "Tree",
    "Turn",
    "Unreachable",
]
