"""Names of models that are guessed."""

from __future__ import annotations

import os

from caesura.models.providers import PROVIDERS, provider_of
from caesura.settings import Settings


def guess(settings: Settings, model: str, program: str) -> str | None:
    """What to do if only an address tells which provider is meant: a server of one's own has other models.
    None if the name of the server's model is no guess."""
    provider = PROVIDERS.get(provider_of(model) or "")
    if settings.model is not None or provider is None or os.environ.get(provider.key, "").strip():
        return None
    address = next((name for name in provider.addresses if os.environ.get(name, "").strip()), None)
    listed = f"`{program} models` lists what is offered there, CAESURA_MODEL chooses"
    return f"its name is a guess, because only {address} is set: {listed}" if address else None
