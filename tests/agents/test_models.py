"""Chat models by name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.chat_models import base
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_deepseek import ChatDeepSeek
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

from caesura.agents.demo.model import DemoModel
from caesura.agents.models import PROVIDERS, ModelUnavailable, chat_models, default_model, label, wrong_name
from caesura.agents.spec import Model

KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "DEEPSEEK_API_KEY": "sk-d"}


def one(environ: dict[str, str] | None = None, default: str = "demo", **fields: object) -> BaseChatModel:
    return chat_models(Model.model_validate(fields), default, KEYS if environ is None else environ)[0]


def test_without_any_key_the_default_is_the_demo_model() -> None:
    assert default_model({}) == "demo"
    assert isinstance(one({}, default_model({})), DemoModel)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (KEYS, "openai:gpt-4o"),
        ({"ANTHROPIC_API_KEY": "a", "DEEPSEEK_API_KEY": "d"}, "anthropic:claude-sonnet-4-5"),
        ({"DEEPSEEK_API_KEY": "d", "OLLAMA_HOST": "h"}, "deepseek:deepseek-v4-flash"),
        ({"OLLAMA_HOST": "127.0.0.1:11434"}, "ollama:llama3.2"),
        ({"OPENAI_API_KEY": ""}, "demo"),
    ],
)
def test_the_default_is_the_model_of_the_first_provider_with_a_key(
    environ: dict[str, str], expected: str
) -> None:
    assert default_model(environ) == expected
    assert default_model(environ, "demo") == "demo"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "deepseek"])
def test_the_default_models_are_known_to_their_libraries(provider: str) -> None:
    profiles = importlib.import_module(f"langchain_{provider}.data._profiles")
    assert PROVIDERS[provider].first in profiles._PROFILES


def test_every_provider_is_known_to_langchain() -> None:
    assert set(PROVIDERS) <= set(base._BUILTIN_PROVIDERS)


def test_openai_reports_usage_leaves_retries_to_the_engine_and_takes_the_base_url() -> None:
    model = one(
        {"OPENAI_API_KEY": "sk-o", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, primary="openai:gpt-4o"
    )
    assert isinstance(model, ChatOpenAI)
    assert (model.stream_usage, model.max_retries, model.request_timeout) == (True, 0, 120.0)
    assert model.openai_api_base == "http://127.0.0.1:9/v1"
    assert label(model) == "gpt-4o"


def test_base_url_key_and_temperature_of_the_file_override_the_environment() -> None:
    environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": "http://wrong/v1", "MINE": "right"}
    model = one(environ, primary="gpt-4o", base_url="http://right/v1", api_key_env="MINE", temperature=0.5)
    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_base == "http://right/v1"
    assert model.openai_api_key is not None
    assert not isinstance(model.openai_api_key, str)
    assert callable(model.openai_api_key) or model.openai_api_key.get_secret_value() == "right"
    assert model.temperature == 0.5


def test_the_other_providers_are_set_up_the_same_way() -> None:
    claude, deepseek = one(primary="claude-sonnet-4-5"), one(primary="deepseek:deepseek-v4-flash")
    assert isinstance(claude, ChatAnthropic)
    assert claude.max_retries == 0
    assert isinstance(deepseek, ChatDeepSeek)
    assert (deepseek.max_retries, deepseek.stream_usage) == (0, True)
    ollama = one({"OLLAMA_HOST": "http://127.0.0.1:9"}, primary="ollama:llama3:8b")
    assert isinstance(ollama, ChatOllama)
    assert (ollama.model, ollama.base_url) == ("llama3:8b", "http://127.0.0.1:9")


def test_fallbacks_follow_the_primary() -> None:
    model = Model(primary="openai:gpt-4o", fallbacks=["deepseek:deepseek-v4-flash", "default"])
    found = chat_models(model, "demo", KEYS)
    assert [type(item) for item in found] == [ChatOpenAI, ChatDeepSeek, DemoModel]


def test_a_replaced_name_is_another_model_as_primary_as_fallback_and_as_default() -> None:
    model = Model(primary="gpt-4o", fallbacks=["default", "openai:gpt-4o", "gpt-4o-mini"])
    replaced = {"gpt-4o": "demo", "deepseek:deepseek-v4-flash": "gpt-4o-mini", "gpt-4o-mini": "default"}
    found = chat_models(model, "deepseek:deepseek-v4-flash", KEYS, replaced=replaced)
    assert [label(item) for item in found] == [
        "demo (no AI)",
        "gpt-4o-mini",
        "gpt-4o",
        "deepseek-v4-flash",
    ]


def test_what_a_file_says_about_a_model_is_kept_for_the_same_provider_alone() -> None:
    model = Model(
        primary="gpt-4o",
        temperature=0.5,
        base_url="http://127.0.0.1:9/v1",
        api_key_env="MINE",
        options={"seed": 7},
    )
    environ = KEYS | {"MINE": "my-own-key"}
    (same,) = chat_models(model, "demo", environ, replaced={"gpt-4o": "openai:gpt-5-mini"})
    assert isinstance(same, ChatOpenAI)
    assert (same.model_name, same.openai_api_base, same.seed) == ("gpt-5-mini", "http://127.0.0.1:9/v1", 7)
    (other,) = chat_models(model, "demo", environ, replaced={"gpt-4o": "deepseek:deepseek-v4-flash"})
    assert isinstance(other, ChatDeepSeek)
    assert other.temperature == 0.5
    assert "127.0.0.1" not in str(other.api_base)
    assert other.api_key is not None
    assert other.api_key.get_secret_value() == KEYS["DEEPSEEK_API_KEY"]
    assert isinstance(chat_models(model, "demo", {}, replaced={"gpt-4o": "demo"})[0], DemoModel)


def test_the_error_for_a_missing_key_names_it() -> None:
    with pytest.raises(ModelUnavailable, match="model openai:gpt-4o needs a key: set OPENAI_API_KEY"):
        one({}, primary="openai:gpt-4o")
    with pytest.raises(ModelUnavailable, match="needs a key: set MINE"):
        one(KEYS, primary="openai:gpt-4o", api_key_env="MINE")


def test_the_error_for_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    base._get_chat_model_creator.cache_clear()
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    with pytest.raises(ModelUnavailable, match="make setup EXTRAS=anthropic"):
        one(primary="anthropic:claude-sonnet-4-5")
    with pytest.raises(ModelUnavailable, match="pip install langchain-groq"):
        one(primary="groq:llama3-8b")


def test_options_of_the_demo_model_are_checked() -> None:
    assert one(options={"delay": 0}).delay == 0  # type: ignore[attr-defined]
    with pytest.raises(ModelUnavailable, match="does not take these options"):
        one(options={"speed": 9})


def test_an_operators_class_is_made_with_its_options() -> None:
    own: dict[str, Any] = {"class": "caesura.agents.demo.model:DemoModel", "options": {"delay": 0.5}}
    model = one({}, **own, temperature=1.0)
    assert isinstance(model, DemoModel)
    assert (model.delay, model.temperature) == (0.5, 1.0)
    missing: dict[str, Any] = {"class": "nowhere.at_all:Model"}
    with pytest.raises(ModelUnavailable, match="cannot be used"):
        one({}, **missing)


@pytest.mark.parametrize("name", ["demo", "default", "gpt-4o", "openai:any", "ollama:llama3:8b", "groq:x"])
def test_good_names(name: str) -> None:
    assert wrong_name(name) is None


def test_the_demo_model_says_that_it_is_no_ai() -> None:
    assert label(DemoModel()) == "demo (no AI)"


def test_the_folder_of_the_agents_is_packaged() -> None:
    folder = Path(importlib.import_module("caesura.agents").__path__[0]) / "builtin"
    names = ("approval-agent", "assistant", "crawl_agent", "lead_agent", "search_agent")
    assert sorted(path.stem for path in folder.glob("*.yaml")) == list(names)
