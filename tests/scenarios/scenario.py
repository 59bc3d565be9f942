"""Scenarios as data: a log, its messages, and the frames that every dialect makes from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from caesura.core import codec
from caesura.core.events import Envelope

LOGS = Path(__file__).parent / "logs"


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    ordinal: int
    log: list[Envelope]
    transcript: list[dict[str, Any]]
    frames: dict[str, list[Any]]
    #: The version that the turn made last of each artifact.
    artifacts: dict[str, int]


def load() -> list[Scenario]:
    return [_scenario(path) for path in sorted(LOGS.glob("*.json"))]


def parse(stream: bytes) -> list[list[Any]]:
    """Frames as `[id, event, data]`, read by the rules of server-sent events."""
    found = []
    for block in stream.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append([_number(fields.get("id")), fields["event"], orjson.loads(fields["data"])])
    return found


def texts(stream: bytes) -> list[str]:
    """The data of frames that have nothing else."""
    blocks = [block for block in stream.decode().split("\n\n") if block]
    assert all(line.startswith("data: ") for block in blocks for line in block.split("\n"))
    return ["\n".join(line.removeprefix("data: ") for line in block.split("\n")) for block in blocks]


def _number(text: str | None) -> int | str | None:
    """An id as a number. Ids such as `4.1`, of one of several frames of an event, stay texts."""
    return int(text) if text is not None and text.isdigit() else text


def _scenario(path: Path) -> Scenario:
    data = orjson.loads(path.read_bytes())
    log = codec.decode(codec.VERSION, orjson.dumps(data["log"]), 1, 1_700_000_000_000)
    about, ordinal, transcript, frames = (data[name] for name in ("about", "ordinal", "transcript", "frames"))
    return Scenario(path.stem, about, ordinal, log, transcript, frames, data.get("artifacts", {}))
