"""The Python client: sends requests to a server, and follows its turns even if the connection breaks."""

from caesura.client.artifacts import Artifact, ArtifactDiff, ArtifactEdit, ArtifactEntry, ArtifactVersion
from caesura.client.client import Client
from caesura.client.errors import ClientError, Rewound, Unreachable
from caesura.client.events import ReceivedEvent
from caesura.client.files import File
from caesura.client.values import (
    Agent,
    Conversation,
    Grant,
    Person,
    RunningTool,
    SeenTurn,
    Snapshot,
    StoredInterrupt,
    Tree,
    Turn,
    WritingTool,
)

__all__ = [
    "Agent",
    "Artifact",
    "ArtifactDiff",
    "ArtifactEdit",
    "ArtifactEntry",
    "ArtifactVersion",
    "Client",
    "ClientError",
    "Conversation",
    "File",
    "Grant",
    "Person",
    "ReceivedEvent",
    "Rewound",
    "RunningTool",
    "SeenTurn",
    "Snapshot",
    "StoredInterrupt",
    "Tree",
    "Turn",
    "Unreachable",
    "WritingTool",
]
