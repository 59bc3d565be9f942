"""Chat models of the providers that LangChain knows and Caesura itself does not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain.chat_models import base
from langchain_core.language_models import BaseChatModel

from caesura.models.langchain import LangChainModel
from caesura.models.model import Model


def providers() -> Iterable[str]:
    found: Iterable[str] = base._BUILTIN_PROVIDERS
    return found


def inferred(name: str) -> str | None:
    """The provider of a model that is named without one."""
    if name.lower().startswith("gemini"):
        return "google_vertexai"  # the library's own choice, which it makes with a warning
    return base._attempt_infer_model_provider(name)


def make(provider: str, name: str, arguments: dict[str, Any]) -> Model:
    """Raises `ImportError` if the provider's package is not installed."""
    made: BaseChatModel = base.init_chat_model(name, model_provider=provider, **arguments)
    return LangChainModel(made)


def package(provider: str) -> str:
    """The name under which the provider's package is installed."""
    return base._BUILTIN_PROVIDERS[provider][0].split(".")[0].replace("_", "-")
