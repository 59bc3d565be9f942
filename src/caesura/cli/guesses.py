"""Names of models that are guessed."""

from __future__ import annotations

import os

from caesura.agents.model_names import DEMO
from caesura.models.providers import PROVIDERS, provider_of
from caesura.settings import Settings


def guess(settings: Settings, model: str, program: str) -> str | None:
    """What to do if only an address tells which provider is meant: a server of one's own has other models.
    None if the name of the server's model is no guess."""
    if settings.model is None and model == DEMO:
        return _unnamed(program)
    provider = PROVIDERS.get(provider_of(model) or "")
    if settings.model is not None or provider is None or os.environ.get(provider.key, "").strip():
        return None
    address = next((name for name in provider.addresses if os.environ.get(name, "").strip()), None)
    listed = f"`{program} models` lists what is offered there, CAESURA_MODEL chooses"
    return f"its name is a guess, because only {address} is set: {listed}" if address else None


def _unnamed(program: str) -> str | None:
    """What to do if there is a key or an address of a provider that has no usual model."""
    for name, provider in PROVIDERS.items():
        for variable in (provider.key, *provider.addresses):
            if provider.first is None and os.environ.get(variable, "").strip():
                chosen = f"CAESURA_MODEL={name}:… chooses one (`{program} models --model {name}` lists them)"
                return f"{variable} is set, but that names no model, so the demo answers: {chosen}"
    return None
