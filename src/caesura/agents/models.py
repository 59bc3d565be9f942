"""Chat models by name: the demo model, models of providers, and an operator's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any

from langchain_core.language_models import BaseChatModel

from caesura.agents import arguments, imports
from caesura.agents.demo.model import DemoModel
from caesura.agents.faults import did_you_mean
from caesura.agents.spec import Model
from caesura.core.errors import CaesuraError

DEMO = "demo"
DEMO_LABEL: str = DemoModel.model_fields["model_name"].default
DEFAULT = "default"
NOTHING_REPLACED: Mapping[str, str] = MappingProxyType({})
_TIMEOUT = 120.0


class ModelUnavailable(CaesuraError):
    """The model cannot be used"""

    code = "model_unavailable"


@dataclass(frozen=True, slots=True)
class Provider:
    """What Caesura knows about a provider; `first` is the model to use when only an API key is configured."""

    key: str | None
    url: str
    first: str
    arguments: dict[str, Any] = field(default_factory=dict)


arguments.install()

_PATIENCE = {"max_retries": 0, "timeout": _TIMEOUT}
_OPENAI_LIKE = {"stream_usage": True, **_PATIENCE}

#: In the order in which a server without a configured model looks for one.
PROVIDERS: dict[str, Provider] = {
    "openai": Provider("OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-4o", _OPENAI_LIKE),
    "anthropic": Provider("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-4-5", _PATIENCE),
    "deepseek": Provider("DEEPSEEK_API_KEY", "DEEPSEEK_API_BASE", "deepseek-v4-flash", _OPENAI_LIKE),
    "ollama": Provider(None, "OLLAMA_HOST", "llama3.2", {"client_kwargs": {"timeout": _TIMEOUT}}),
}


def default_model(environ: Mapping[str, str], configured: str | None = None) -> str:
    """The server's model: the configured model, else that of the first provider with an API key, else
    `demo`."""
    if configured and configured != DEFAULT:
        return configured
    for name, provider in PROVIDERS.items():
        if environ.get(provider.key or provider.url):
            return f"{name}:{provider.first}"
    return DEMO


def chat_models(
    model: Model,
    default_model: str,
    environ: Mapping[str, str],
    model_class: type[BaseChatModel] | None = None,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[BaseChatModel]:
    """The primary model and its fallbacks, ready to be called; `ModelUnavailable` says what is missing.

    `model_class` is the class that `model.class` names, if the catalog has already imported it. `replaced`
    are the names in whose place the operator wants another model.
    """
    names = model.fallbacks if model.class_ is not None else [model.primary, *model.fallbacks]
    named = [_replaced(name, model, default_model, replaced) for name in names]
    made = [_named(full, its, environ) for full, its in named]
    return made if model.class_ is None else [_own(model.class_, model, model_class), *made]


def full_name(name: str, default: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The model that is used where a file says `name`."""
    written = default if name == DEFAULT else name
    found = replaced.get(written, written)
    return default if found == DEFAULT else found


def unmatched(replaced: Mapping[str, str], models: Iterable[Model], default: str) -> list[str]:
    """The names to be replaced that neither a model of these nor the default has."""
    written = {default}.union(*([model.primary, *model.fallbacks] for model in models))
    return [name for name in replaced if name not in written]


def wrong_name(name: str) -> tuple[str, str] | None:
    """What is wrong with a model's name, and the remedy; None for a good one."""
    if name in (DEMO, DEFAULT):
        return None
    provider, colon, _ = name.partition(":")
    if colon and provider not in _langchain()._BUILTIN_PROVIDERS:
        local = any(character.isdigit() for character in provider)  # llama3:8b, qwen2.5:7b
        close = "" if local else did_you_mean(provider, _langchain()._BUILTIN_PROVIDERS)
        return f"unknown model provider: {provider}", close or f"for a local model write ollama:{name}"
    if not colon and _inferred(name) is None:
        return f"unknown model: {name}", f"write provider:name, such as openai:{name}, or demo"
    return None


def named(model: Model, default_model: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The name of the model that replies first, for people."""
    if model.class_ is not None:
        return model.class_
    full = full_name(model.primary, default_model, replaced)
    return DEMO_LABEL if full == DEMO else full


def label(model: BaseChatModel) -> str:
    """The model's name for people."""
    for attribute in ("model_name", "model"):
        if isinstance(name := getattr(model, attribute, None), str):
            return name
    return type(model).__name__


def _replaced(name: str, model: Model, default: str, replaced: Mapping[str, str]) -> tuple[str, Model]:
    """The model that is used where a file says `name`, and what the file says about it. The address, the key
    and the options of another provider are not handed on: they are not meant for this one."""
    written, full = full_name(name, default), full_name(name, default, replaced)
    if written == full or _provider(written) == _provider(full):
        return full, model
    return full, Model(temperature=model.temperature)


def _provider(full: str) -> str:
    prefix, colon, _ = full.partition(":")
    return prefix if colon or full == DEMO else _inferred(full) or ""


def _named(full: str, model: Model, environ: Mapping[str, str]) -> BaseChatModel:
    if full == DEMO:
        return _construct(DemoModel, model.options, full)
    if wrong := wrong_name(full):
        raise ModelUnavailable(f"{wrong[0]} ({wrong[1]})")
    provider, bare = _provider(full), full.partition(":")[2] or full
    arguments = _arguments(provider, full, model, environ)
    try:
        made: BaseChatModel = _langchain().init_chat_model(bare, model_provider=provider, **arguments)
    except ImportError as error:
        raise ModelUnavailable(f"model {full} needs another package: {_install(provider)}") from error
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(f"model {full} cannot be set up: {_first_line(error)}") from error
    return made


def _own(target: str, model: Model, model_class: type[BaseChatModel] | None) -> BaseChatModel:
    try:
        found = model_class or imports.chat_model_class(target, None)
    except imports.ImportFault as error:
        raise ModelUnavailable(f"model class {target} cannot be used: {error}") from error
    options = dict(model.options)
    if model.temperature is not None:
        options.setdefault("temperature", model.temperature)
    return _construct(found, options, target)


def _construct(model_class: type[BaseChatModel], options: dict[str, Any], name: str) -> BaseChatModel:
    try:
        return model_class(**options)
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(f"model {name} does not take these options: {_first_line(error)}") from error


def _arguments(provider: str, full: str, model: Model, environ: Mapping[str, str]) -> dict[str, Any]:
    known = PROVIDERS.get(provider)
    arguments = dict(known.arguments) if known else {}
    if model.temperature is not None:
        arguments["temperature"] = model.temperature
    if url := model.base_url or (known and environ.get(known.url)):
        arguments["base_url"] = url
    if key := _key(known, full, model, environ):
        arguments["api_key"] = key
    return arguments | model.options


def _key(known: Provider | None, full: str, model: Model, environ: Mapping[str, str]) -> str | None:
    variable = model.api_key_env or (known.key if known else None)
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key:
        raise ModelUnavailable(f"model {full} needs a key: set {variable}")
    return key


def _install(provider: str) -> str:
    if provider in PROVIDERS:
        return f"in Caesura's own folder, make setup EXTRAS={provider}"
    return f"pip install {_langchain()._BUILTIN_PROVIDERS[provider][0].split('.')[0].replace('_', '-')}"


def _inferred(name: str) -> str | None:
    if name.lower().startswith("gemini"):
        return "google_vertexai"  # the library's own choice, which it makes with a warning
    provider: str | None = _langchain()._attempt_infer_model_provider(name)
    return provider


def _langchain() -> ModuleType:
    from langchain.chat_models import base  # takes a moment to load: not for the demo model

    return base


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
