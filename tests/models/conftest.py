"""Models for tests, on the wire of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import uvloop

from caesura.models.connections import Connections
from caesura.models.model import Model
from caesura.models.providers import make
from tests.models.wire import Wire, wire

KEY = "sk-test-0123456789abcdef"

Make = Callable[..., Model]


@pytest.fixture
async def provider() -> AsyncIterator[Wire]:
    async with wire() as found:
        yield found


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with Connections() as found:
        yield found


@pytest.fixture
def model(provider: Wire, connections: Connections) -> Make:
    def made(name: str = "openai:test", **changes: Any) -> Model:
        usual: dict[str, Any] = {
            "base_url": provider.url if name.startswith("anthropic") else f"{provider.url}/v1",
            "api_key": KEY,
            "temperature": None,
            "options": {},
            "idle_timeout": 30.0,
            "environ": {},
            "connections": connections,
        }
        return make(name, **(usual | changes))

    return made


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The event loop of the server."""
    return {"uvloop": uvloop.new_event_loop}
