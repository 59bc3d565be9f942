"""Providers: what each is called, where it is, which variable holds its key, and which protocol it speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from caesura.models import addresses, windows
from caesura.models.client import Client, Speech
from caesura.models.connections import Connections
from caesura.models.endpoint import Endpoint
from caesura.models.failures import ModelError, Unusable
from caesura.models.model import Model

#: The most models of a list.
_LISTED = 2_000
#: What may be wrong with a base URL.
_USUAL_PATH = "the base URL of an OpenAI-compatible server usually ends in /v1"
_HEADER = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Provider:
    """`key` is the variable of the key; a `local` provider may go without. `addresses` are the variables of
    the base URL, `url` is the usual one. `first` is the model to use when only the key, or the address of a
    local provider, is configured. `returns_reasoning`: see `ChatCompletions`."""

    key: str
    addresses: tuple[str, ...]
    url: str
    first: str | None = None
    protocol: Literal["openai", "anthropic"] = "openai"
    local: bool = False
    returns_reasoning: bool = False


#: In the order in which a server without a configured model looks for one. Names of models age: change them
#: here.
PROVIDERS: dict[str, Provider] = {
    "openai": Provider(
        "OPENAI_API_KEY", ("OPENAI_BASE_URL", "OPENAI_API_BASE"), "https://api.openai.com/v1", "gpt-6.1-terra"
    ),
    "anthropic": Provider(
        "ANTHROPIC_API_KEY",
        ("ANTHROPIC_BASE_URL",),
        "https://api.anthropic.com",
        "claude-sonnet-5-5",
        protocol="anthropic",
    ),
    "deepseek": Provider(
        "DEEPSEEK_API_KEY",
        ("DEEPSEEK_BASE_URL", "DEEPSEEK_API_BASE"),
        "https://api.deepseek.com",
        "deepseek-flash",
        returns_reasoning=True,
    ),
    "ollama": Provider(
        "OLLAMA_API_KEY", ("OLLAMA_HOST",), "http://127.0.0.1:11434/v1", "gpt-oss:20b", local=True
    ),
    "openrouter": Provider(
        "OPENROUTER_API_KEY", ("OPENROUTER_BASE_URL",), "https://openrouter.ai/api/v1", "openrouter/auto"
    ),
    "groq": Provider(
        "GROQ_API_KEY", ("GROQ_BASE_URL",), "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"
    ),
    "mistral": Provider(
        "MISTRAL_API_KEY", ("MISTRAL_BASE_URL",), "https://api.mistral.ai/v1", "mistral-medium-latest"
    ),
    "moonshot": Provider(
        "MOONSHOT_API_KEY",
        ("MOONSHOT_BASE_URL",),
        "https://api.moonshot.ai/v1",
        "kimi-k3",
        returns_reasoning=True,
    ),
    "qwen": Provider(
        "DASHSCOPE_API_KEY",
        ("DASHSCOPE_BASE_URL", "DASHSCOPE_API_BASE"),
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "qwen3.8-max",
    ),
    "xai": Provider("XAI_API_KEY", ("XAI_BASE_URL",), "https://api.x.ai/v1", "grok-4.3"),
    "together": Provider("TOGETHER_API_KEY", ("TOGETHER_BASE_URL",), "https://api.together.xyz/v1"),
    "vllm": Provider("VLLM_API_KEY", ("VLLM_BASE_URL",), "http://127.0.0.1:8000/v1", local=True),
    "lmstudio": Provider("LMSTUDIO_API_KEY", ("LMSTUDIO_BASE_URL",), "http://127.0.0.1:1234/v1", local=True),
}

#: Other names of providers.
ALIASES = {"dashscope": "qwen", "kimi": "moonshot", "mistralai": "mistral", "lm_studio": "lmstudio"}

#: What the names of models begin with that are written without a provider.
_BEGINNINGS = {
    "openai": ("gpt-", "chatgpt-", "o1", "o3", "o4"),
    "anthropic": ("claude",),
    "deepseek": ("deepseek",),
    "xai": ("grok",),
    "moonshot": ("kimi", "moonshot"),
    "mistral": ("mistral", "magistral", "codestral", "ministral"),
    "qwen": ("qwen",),
}


def provider_of(full_name: str) -> str | None:
    """The provider of a model, which its name may leave to be guessed. None if it is none of these."""
    prefix, colon, _ = full_name.partition(":")
    if colon:
        return provider_named(prefix)
    for provider, beginnings in _BEGINNINGS.items():
        if full_name.lower().startswith(beginnings):
            return provider
    return None


def provider_named(name: str) -> str | None:
    """The provider that is called so; None if it is none of these."""
    found = ALIASES.get(name, name)
    return found if found in PROVIDERS else None


def first_configured(environ: Mapping[str, str]) -> str | None:
    """The model of the first provider that the environment has a key or an address for."""
    for name, provider in PROVIDERS.items():
        variables = provider.addresses if provider.local else (provider.key, *provider.addresses)
        if provider.first and any(environ.get(variable, "").strip() for variable in variables):
            return f"{name}:{provider.first}"
    return None


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
    window: int | None = None,
    key_variable: str | None = None,
) -> Model:
    """The model that `provider:name` names. An `api_key` and a `base_url` that are given come before those of
    the environment. `window` is the size of the model's window, if it is known. `key_variable` is the
    variable that the `api_key` comes from. Raises `Unusable`."""
    name, provider, model = _named(full_name)
    options = dict(options)
    headers = _special(provider, options)
    place = _place(name, provider, base_url, api_key, environ, f"model {full_name}", key_variable)
    endpoint = _endpoint(provider, place, headers, idle_timeout, connections)
    speech: Speech
    if provider.protocol == "anthropic":
        from caesura.models.anthropic import Messages  # few servers speak both protocols

        speech = Messages(model, temperature, options, headers["anthropic-version"], window)
    else:
        from caesura.models.openai import ChatCompletions

        speech = ChatCompletions(model, temperature, options, provider.returns_reasoning)
    return Client(model, endpoint, speech)


async def list_models(
    full_name: str,
    *,
    base_url: str | None,
    api_key: str | None,
    environ: Mapping[str, str],
    connections: Connections,
    idle_timeout: float = 30.0,
    key_variable: str | None = None,
) -> list[str]:
    """The names of the models that the provider of this model offers, in its order; a provider's name alone
    will do. Raises `Unusable` or a `ModelError`."""
    name = provider_named(full_name) or provider_of(full_name)
    if name is None:
        raise Unusable(f"unknown model provider: {full_name.partition(':')[0]}")
    provider = PROVIDERS[name]
    place = _place(name, provider, base_url, api_key, environ, f"provider {name}", key_variable)
    endpoint = _endpoint(provider, place, _special(provider, {}), idle_timeout, connections)
    found: list[str] = []
    path = "/v1/models?limit=1000" if provider.protocol == "anthropic" else "/models"
    while path:
        page = await endpoint.get(path)
        entries = page.get("data") if isinstance(page, dict) else page
        if not isinstance(entries, list):
            raise ModelError("broken", f"{endpoint.host} answered with something that is no list of models")
        found += [
            entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)
        ]
        last = page.get("last_id") if isinstance(page, dict) and page.get("has_more") else None
        more = isinstance(last, str) and provider.protocol == "anthropic" and len(found) < _LISTED
        path = f"/v1/models?limit=1000&after_id={quote(str(last), safe='')}" if more and entries else ""
    return found[:_LISTED]


def context_tokens(full_name: str) -> int | None:
    """The size of this model's window, if it is known. Local servers choose it themselves."""
    provider = provider_of(full_name)
    if provider is not None and PROVIDERS[provider].local:
        return None
    return windows.tokens(full_name.partition(":")[2] or full_name)


def answer_tokens(full_name: str) -> int | None:
    """How many tokens of the window a request keeps free for the answer, if its protocol demands that."""
    provider = provider_of(full_name)
    if provider is None or PROVIDERS[provider].protocol != "anthropic":
        return None
    from caesura.models import anthropic

    return anthropic.most_tokens(full_name.partition(":")[2] or full_name)


class _Place(NamedTuple):
    """Where a provider is, with the key for it."""

    url: str
    key: str | None
    #: The value of a header Authorization, from a name and a password in the URL.
    basic: str | None
    secrets: tuple[str, ...]


def _named(full_name: str) -> tuple[str, Provider, str]:
    provider = provider_of(full_name)
    if provider is None:
        raise Unusable(f"unknown model provider: {full_name.partition(':')[0]}")
    prefix, colon, rest = full_name.partition(":")
    model = rest if colon else prefix
    found = model.strip() or PROVIDERS[provider].first
    if not found:
        raise Unusable(f"model {full_name} has no name: write {provider}:name")
    return provider, PROVIDERS[provider], found


def _place(
    name: str,
    provider: Provider,
    base_url: str | None,
    api_key: str | None,
    environ: Mapping[str, str],
    what: str,
    key_variable: str | None,
) -> _Place:
    """`what` wants to be reached there, in the words of a message. `key_variable` has the `api_key`."""
    variable = next((name for name in provider.addresses if environ.get(name, "").strip()), None)
    own = (base_url or "").strip()
    written = own or (environ[variable].strip() if variable else None)
    key = (api_key or "").strip() or environ.get(provider.key, "").strip()
    if not key and not written and not provider.local:
        raise Unusable(f"{what} needs a key: set {provider.key}")
    if key and not _HEADER.fullmatch(key):
        checked = (key_variable if (api_key or "").strip() else None) or provider.key
        raise Unusable(f"the key of {what} has characters that no key has: check {checked}")
    try:
        address = addresses.read(written or provider.url, name)
    except addresses.NoAddress as error:
        named = variable if variable and not own else f"the base URL of {what}"
        raise Unusable(f"{named} {error}") from None
    return _Place(address.url, key or None, address.basic, address.secrets)


def _special(provider: Provider, options: dict[str, Any]) -> dict[str, str]:
    """The headers that a protocol has of its own. The options that stand for them are taken out."""
    if provider.protocol != "anthropic":
        return {}
    from caesura.models import anthropic

    version = str(options.pop("anthropic_version", anthropic.VERSIONS[0]))
    if version not in anthropic.VERSIONS:
        raise Unusable(f"anthropic_version is one of {', '.join(anthropic.VERSIONS)}, not {version[:40]!r}")
    headers = {"anthropic-version": version}
    beta = options.pop("anthropic_beta", None)
    if beta:
        listed = ",".join(map(str, beta)) if isinstance(beta, list) else str(beta)
        if not _HEADER.fullmatch(listed):
            raise Unusable("anthropic_beta has characters that no name of a beta has")
        headers["anthropic-beta"] = listed
    return headers


def _endpoint(
    provider: Provider,
    place: _Place,
    headers: dict[str, str],
    idle_timeout: float,
    connections: Connections,
) -> Endpoint:
    sent = dict(headers)
    if place.basic:
        sent["Authorization"] = place.basic
    if place.key and provider.protocol == "anthropic":
        sent["x-api-key"] = place.key
    elif place.key:
        sent["Authorization"] = f"Bearer {place.key}"
    secrets = (*((place.key,) if place.key else ()), *place.secrets)
    is_usual = provider.protocol != "openai" or place.url == provider.url
    doubt = "" if is_usual or place.url.endswith("/v1") else _USUAL_PATH
    return Endpoint(connections, place.url, sent, secrets, idle_timeout, doubt)
