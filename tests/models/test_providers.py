"""Which provider a name means, where it is, and what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from caesura.models import providers
from caesura.models.connections import Connections
from caesura.models.failures import ModelError, Unusable
from caesura.models.model import Model
from tests.models.conftest import KEY
from tests.models.samples import ANTHROPIC, OPENAI
from tests.models.wire import Wire, says, streams


def made(name: str, **changes: Any) -> Model:
    usual: dict[str, Any] = {
        "base_url": None,
        "api_key": None,
        "temperature": None,
        "options": {},
        "idle_timeout": 30.0,
        "environ": {},
        "connections": Connections(),
    }
    return providers.make(name, **(usual | changes))


def url_of(model: Model) -> str:
    url: str = model._endpoint._url  # type: ignore[attr-defined]
    return url


@pytest.mark.parametrize("name", providers.PROVIDERS)
def test_a_key_alone_is_enough(name: str) -> None:
    provider = providers.PROVIDERS[name]
    model = made(f"{name}:anything/at-all:7b", environ={provider.key: KEY})
    assert model.label == "anything/at-all:7b"
    assert url_of(model) == provider.url


@pytest.mark.parametrize("name", [name for name, it in providers.PROVIDERS.items() if not it.local])
def test_a_base_url_alone_is_enough(name: str) -> None:
    variable = providers.PROVIDERS[name].addresses[0]
    for given in ({"base_url": "http://localhost:9/v1"}, {"environ": {variable: "http://localhost:9/v1"}}):
        assert url_of(made(f"{name}:x", **given)).startswith("http://localhost:9")


@pytest.mark.parametrize("name", [name for name, it in providers.PROVIDERS.items() if not it.local])
def test_without_both_the_remedy_is_named(name: str) -> None:
    with pytest.raises(Unusable, match=rf"set {providers.PROVIDERS[name].key}$"):
        made(f"{name}:x", environ={providers.PROVIDERS[name].key: "  "})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("example", "http://example:11434/v1"),
        ("example:99", "http://example:99/v1"),
        (":99", "http://127.0.0.1:99/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:99", "http://127.0.0.1:99/v1"),
        ("http://example", "http://example/v1"),
        ("https://example/", "https://example/v1"),
        ("https://example:8443/ollama", "https://example:8443/ollama/v1"),
        ("http://example:99/v1/", "http://example:99/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
        ("::1", "http://[::1]:11434/v1"),
        ("[::]:99", "http://[::1]:99/v1"),
    ],
)
def test_the_host_of_ollama_has_many_forms(host: str, url: str) -> None:
    assert url_of(made("ollama:x", environ={"OLLAMA_HOST": host})) == url


@pytest.mark.parametrize(
    ("name", "given", "url"),
    [
        ("openai", "https://host/v1/", "https://host/v1"),
        ("openai", "https://host/v1/chat/completions", "https://host/v1"),
        ("openai", "host:8000/v1", "http://host:8000/v1"),
        ("openai", "https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
        ("anthropic", "https://host", "https://host"),
        ("anthropic", "https://host/v1", "https://host"),
        ("anthropic", "https://host/anthropic/", "https://host/anthropic"),
    ],
)
def test_a_base_url_may_be_written_in_several_ways(name: str, given: str, url: str) -> None:
    assert url_of(made(f"{name}:x", base_url=given)) == url


@pytest.mark.parametrize(
    "given",
    [
        "ftp://host/v1",
        "https://",
        "http://host:no/v1",
        "http://host:99999/",
        "https://a b/",
        "http://a\nb/",
        "http://[x/",
    ],
)
def test_a_base_url_that_is_none_is_told(given: str) -> None:
    with pytest.raises(Unusable, match="base URL"):
        made("openai:x", base_url=given)


@pytest.mark.parametrize("key", ["two words", "line\r\nX-Evil: 1", "schlüssel"])
def test_a_key_with_strange_characters_is_told_without_it(key: str) -> None:
    with pytest.raises(Unusable) as caught:
        made("openai:x", api_key=key)
    assert key not in str(caught.value)


def test_a_name_may_leave_its_provider_to_be_guessed() -> None:
    found = {
        name: providers.provider_of(name) for name in ("gpt-6", "claude-opus-5", "o3", "kimi-k3", "llama3")
    }
    assert found == {
        "gpt-6": "openai",
        "claude-opus-5": "anthropic",
        "o3": "openai",
        "kimi-k3": "moonshot",
        "llama3": None,
    }
    assert providers.provider_of("kimi:k3") == "moonshot"
    assert providers.provider_of("llama3:8b") is None
    assert made("claude-x", api_key=KEY).label == "claude-x"
    assert made("openai:", api_key=KEY).label == providers.PROVIDERS["openai"].first


def test_a_name_that_means_nothing_is_told() -> None:
    for name in ("llama3:8b", "nobody:x", "x", ""):
        with pytest.raises(Unusable, match="unknown model provider"):
            made(name)
    with pytest.raises(Unusable, match="no name"):
        made("vllm:")


def test_the_first_provider_with_a_key_is_the_servers() -> None:
    assert providers.first_configured({}) is None
    assert providers.first_configured({"OPENAI_API_KEY": " "}) is None
    both = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    assert providers.first_configured(both) == f"openai:{providers.PROVIDERS['openai'].first}"
    assert providers.first_configured({"OLLAMA_HOST": "x"}) == "ollama:gpt-oss:20b"
    assert providers.first_configured({"OLLAMA_API_KEY": "x", "VLLM_BASE_URL": "x"}) is None


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("openai:gpt-4", 8_192),
        ("openai:gpt-4o-mini", 128_000),
        ("gpt-5-mini", 272_000),
        ("openrouter:anthropic/claude-opus-4.6", 1_000_000),
        ("anthropic:claude-sonnet-4-5-20250929", 200_000),
        ("anthropic:claude-sonnet-5-5", 1_000_000),
        ("openai:anything", None),
        ("ollama:gpt-oss:20b", None),
        ("groq:openai/gpt-oss-120b", 131_072),
    ],
)
def test_windows_are_known_by_name(name: str, tokens: int | None) -> None:
    assert providers.context_tokens(name) == tokens


def test_every_first_model_has_a_known_window_or_chooses_it() -> None:
    unknown = [
        name
        for name, it in providers.PROVIDERS.items()
        if it.first and not it.local and providers.context_tokens(f"{name}:{it.first}") is None
    ]
    assert unknown == ["openrouter"]


async def test_the_models_of_a_provider_are_listed(provider: Wire, connections: Connections) -> None:
    async def listed(name: str) -> list[str]:
        return await providers.list_models(
            name, base_url=provider.url, api_key=KEY, environ={}, connections=connections
        )

    provider.answer(says(200, {"data": [{"id": "b"}, {"id": "a"}, {"name": "?"}, 7]}))
    assert await listed("openai:x") == ["b", "a"]
    assert provider.requests[-1].line == "GET /models HTTP/1.1"
    provider.answer(
        says(200, {"data": [{"id": "a"}], "has_more": True, "last_id": "a"}),
        says(200, {"data": [{"id": "b"}], "has_more": False, "last_id": "b"}),
    )
    assert await listed("anthropic:x") == ["a", "b"]
    assert provider.requests[-1].line == "GET /v1/models?limit=1000&after_id=a HTTP/1.1"
    assert provider.requests[-1].headers["x-api-key"] == KEY
    for strange in (b"no", b"7", b'{"data": 3}'):
        provider.answer(says(200, strange))
        with pytest.raises(ModelError):
            await listed("openai:x")
    provider.answer(says(401, {"error": {"message": f"wrong {KEY}"}}))
    with pytest.raises(ModelError) as caught:
        await listed("openai:x")
    assert caught.value.kind == "key"
    assert KEY not in str(caught.value)


async def test_a_name_and_a_password_in_the_url_are_sent_and_not_shown(
    provider: Wire, connections: Connections
) -> None:
    url = provider.url.replace("://", "://me:secret-of-mine@")
    model = made("ollama:x", base_url=f"{url}/v1", connections=connections)
    provider.answer(says(401, {"error": "Basic bWU6c2VjcmV0LW9mLW1pbmU= is wrong"}))
    with pytest.raises(ModelError) as caught:
        await anext(model.stream([]))
    assert provider.requests[-1].headers["authorization"] == "Basic bWU6c2VjcmV0LW9mLW1pbmU="
    assert "secret" not in str(caught.value)
    assert "bWU6" not in str(caught.value)


async def test_samples_are_read_through_every_provider(provider: Wire, connections: Connections) -> None:
    for name, it in providers.PROVIDERS.items():
        sample = ANTHROPIC if it.protocol == "anthropic" else OPENAI
        base = provider.url if it.protocol == "anthropic" else f"{provider.url}/v1"
        provider.answer(streams(sample.events))
        model = made(f"{name}:x", base_url=base, connections=connections)
        assert [piece async for piece in model.stream([])] == sample.pieces
