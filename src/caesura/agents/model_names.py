"""Names of models: which model each stands for, whose it is, and what may be wrong with one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from caesura.agents import imports
from caesura.agents.faults import did_you_mean
from caesura.core import installs
from caesura.models import providers
from caesura.models.providers import PROVIDERS

DEMO, DEFAULT = "demo", "default"
NOTHING_REPLACED: Mapping[str, str] = MappingProxyType({})


def default_model(environ: Mapping[str, str], configured: str | None = None) -> str:
    """The server's model: the configured model, else that of the first provider with an API key, else
    `demo`."""
    if configured and configured != DEFAULT:
        return configured
    return providers.first_configured(environ) or DEMO


def full_name(name: str, default: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The model that is used where a file says `name`."""
    written = default if name == DEFAULT else name
    found = replaced.get(written, written)
    return default if found == DEFAULT else found


def wrong_name(name: str) -> tuple[str, str] | None:
    """What is wrong with a model's name, and the remedy; None for a good one."""
    if name in (DEMO, DEFAULT):
        return None
    if providers.provider_of(name) is not None:
        return None
    provider, colon, _ = name.partition(":")
    if colon and provider not in (known := _langchain_providers()):
        local = any(character.isdigit() for character in provider)  # llama3:8b, qwen2.5:7b
        close = "" if local else did_you_mean(provider, {*PROVIDERS, *known})
        if not (close or local or imports.has_langchain()):
            close = f"LangChain may know it, if you install it: {installs.add_extra('langchain')}"
        return f"unknown model provider: {provider}", close or f"for a local model write ollama:{name}"
    if not colon and _inferred(name) is None:
        return f"unknown model: {name}", f"write provider:name, such as openai:{name}, or demo"
    return None


def provider_of(full: str) -> str:
    """The provider of a model; empty if it cannot be told."""
    if (built_in := providers.provider_of(full)) is not None:
        return built_in
    prefix, colon, _ = full.partition(":")
    return prefix if colon or full == DEMO else _inferred(full) or ""


def _inferred(name: str) -> str | None:
    """The provider that LangChain knows for a model that is named without one."""
    if not imports.has_langchain():
        return None
    from caesura.agents import langchain_models

    return langchain_models.inferred(name)


def _langchain_providers() -> Iterable[str]:
    if not imports.has_langchain():
        return ()
    from caesura.agents import langchain_models

    return langchain_models.providers()
