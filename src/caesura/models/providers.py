"""Providers: what each is called, where it is, which variable holds its key, and which protocol it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from caesura.models.connections import Connections
from caesura.models.failures import Unusable
from caesura.models.model import Model

Protocol = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class Provider:
    """`key` is the variable of the key; None if the provider needs none. `address` is the variable of the
    base URL. `first` is the model to use when only the key, or the address, is configured."""

    key: str | None
    address: str
    url: str
    first: str
    protocol: Protocol = "openai"


#: In the order in which a server without a configured model looks for one.
PROVIDERS: dict[str, Provider] = {
    "openai": Provider("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1", "gpt-4o"),
    "anthropic": Provider(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "https://api.anthropic.com",
        "claude-sonnet-4-5",
        "anthropic",
    ),
}


def make(
    full_name: str,
    *,
    base_url: str | None,
    api_key: str | None,
    temperature: float | None,
    options: dict[str, Any],
    idle_timeout: float,
    environ: Mapping[str, str],
    connections: Connections,
) -> Model:
    """The model that `provider:name` names. An `api_key` and a `base_url` that are given come before those of
    the environment. Raises `Unusable`."""
    raise Unusable(f"unknown model provider: {full_name.partition(':')[0]}")


def context_tokens(full_name: str) -> int | None:
    """The size of this model's window, if it is known."""
    return None
