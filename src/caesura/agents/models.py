"""Chat models by name: the demo model, models of providers, and an operator's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from caesura.agents import imports
from caesura.agents.demo.model import LABEL, DemoModel
from caesura.agents.faults import did_you_mean
from caesura.agents.spec import Model as Spec
from caesura.core.errors import CaesuraError
from caesura.core.messages import Message
from caesura.models import providers
from caesura.models.connections import Connections
from caesura.models.failures import Unusable
from caesura.models.model import Model, Piece, Schema
from caesura.models.providers import PROVIDERS

DEMO, DEMO_LABEL = "demo", LABEL
DEFAULT = "default"
NOTHING_REPLACED: Mapping[str, str] = MappingProxyType({})


class ModelUnavailable(CaesuraError):
    """The model cannot be used"""

    code = "model_unavailable"


def default_model(environ: Mapping[str, str], configured: str | None = None) -> str:
    """The server's model: the configured model, else that of the first provider with an API key, else
    `demo`."""
    if configured and configured != DEFAULT:
        return configured
    return providers.first_configured(environ) or DEMO


def chat_models(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    connections: Connections,
    model_class: type[Any] | None = None,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[Model]:
    """The primary model and its fallbacks, ready to be called; `ModelUnavailable` says what is missing.

    `model_class` is the class that `model.class` names, if the catalog has already imported it. `replaced`
    are the names in whose place the operator wants another model.
    """
    names = model.fallbacks if model.class_ is not None else [model.primary, *model.fallbacks]
    named = [_replaced(name, model, default_model, replaced) for name in names]
    made = [_named(full, its, environ, connections) for full, its in named]
    return made if model.class_ is None else [_own(model.class_, model, model_class), *made]


def full_name(name: str, default: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The model that is used where a file says `name`."""
    written = default if name == DEFAULT else name
    found = replaced.get(written, written)
    return default if found == DEFAULT else found


def unmatched(replaced: Mapping[str, str], models: Iterable[Spec], default: str) -> list[str]:
    """The names to be replaced that neither a model of these nor the default has."""
    written = {default}.union(*([model.primary, *model.fallbacks] for model in models))
    return [name for name in replaced if name not in written]


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
            close = "LangChain may know it: in Caesura's own folder, make setup EXTRAS=langchain"
        return f"unknown model provider: {provider}", close or f"for a local model write ollama:{name}"
    if not colon and _inferred(name) is None:
        return f"unknown model: {name}", f"write provider:name, such as openai:{name}, or demo"
    return None


def named(model: Spec, default_model: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The name of the model that replies first, for people."""
    if model.class_ is not None:
        return model.class_
    full = full_name(model.primary, default_model, replaced)
    return DEMO_LABEL if full == DEMO else full


def _replaced(name: str, model: Spec, default: str, replaced: Mapping[str, str]) -> tuple[str, Spec]:
    """The model that is used where a file says `name`, and what the file says about it. The address, the key
    and the options are meant for the provider of the primary model: no other provider gets them, and no
    other address gets a provider's key. Beside a class of the operator's, the options are the class's."""
    full = full_name(name, default, replaced)
    if model.class_ is not None:
        return full, model.model_copy(update={"options": {}})
    if _provider(full_name(model.primary, default)) == _provider(full):
        return full, model
    return full, model.model_copy(update={"base_url": None, "api_key_env": None, "options": {}})


def _provider(full: str) -> str:
    if (built_in := providers.provider_of(full)) is not None:
        return built_in
    prefix, colon, _ = full.partition(":")
    return prefix if colon or full == DEMO else _inferred(full) or ""


def _named(full: str, model: Spec, environ: Mapping[str, str], connections: Connections) -> Model:
    if full == DEMO:
        demo: Model = _construct(DemoModel, model.options, full)
        return demo
    if wrong := wrong_name(full):
        raise ModelUnavailable(f"{wrong[0]} ({wrong[1]})")
    provider, bare = _provider(full), full.partition(":")[2] or full
    key = _key(full, model, environ)
    if provider not in PROVIDERS:
        return _of_langchain(provider, bare, full, model, key)
    try:
        return providers.make(
            f"{provider}:{bare}",
            base_url=model.base_url,
            api_key=key,
            temperature=model.temperature,
            options=dict(model.options),
            idle_timeout=model.idle_timeout,
            environ=environ,
            connections=connections,
        )
    except Unusable as error:
        raise ModelUnavailable(str(error)) from error


def _key(full: str, model: Spec, environ: Mapping[str, str]) -> str | None:
    """The key that the file names."""
    if model.api_key_env is None:
        return None
    key = environ.get(model.api_key_env, "").strip()
    if not key:
        raise ModelUnavailable(f"model {full} needs a key: set {model.api_key_env}")
    return key


def _of_langchain(provider: str, bare: str, full: str, model: Spec, key: str | None) -> Model:
    from caesura.agents import langchain_models  # with LangChain, which few need

    given = {"temperature": model.temperature, "base_url": model.base_url, "api_key": key}
    arguments = {name: value for name, value in given.items() if value is not None}
    try:
        return langchain_models.make(provider, bare, arguments | model.options)
    except ImportError as error:
        raise ModelUnavailable(
            f"model {full} needs another package: pip install {langchain_models.package(provider)}"
        ) from error
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(f"model {full} cannot be set up: {_first_line(error)}") from error


def _own(target: str, model: Spec, model_class: type[Any] | None) -> Model:
    try:
        found = model_class or imports.chat_model_class(target, None)
    except imports.ImportFault as error:
        raise ModelUnavailable(f"model class {target} cannot be used: {error}") from error
    options = dict(model.options)
    if model.temperature is not None:
        options.setdefault("temperature", model.temperature)
    made = _construct(found, options, target)
    if imports.is_langchain(found):
        from caesura.models.langchain import LangChainModel

        return LangChainModel(made)
    return made if isinstance(getattr(made, "label", None), str) else _Labelled(made, found.__name__)


class _Labelled:
    """An operator's model without a name of its own."""

    def __init__(self, model: Model, label: str) -> None:
        self._model, self.label = model, label

    def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        return self._model.stream(messages, tools)


def _construct(model_class: type[Any], options: dict[str, Any], name: str) -> Any:
    try:
        return model_class(**options)
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(f"model {name} does not take these options: {_first_line(error)}") from error


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


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
