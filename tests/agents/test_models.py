"""Chat models by name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from caesura.agents import imports
from caesura.agents.demo.model import DemoModel
from caesura.agents.model_names import default_model, wrong_name
from caesura.agents.model_places import Named
from caesura.agents.models import Lack, ModelUnavailable, chat_models, lack, ready
from caesura.agents.spec import Model
from caesura.core import installs
from caesura.core.messages import Message
from caesura.models import model as protocol
from caesura.models import providers
from caesura.models.client import Client
from caesura.models.connections import Connections
from caesura.models.langchain import LangChainModel
from caesura.models.model import Piece, Schema, Text
from caesura.models.providers import PROVIDERS
from tests.spoken import reply, user

KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "DEEPSEEK_API_KEY": "sk-d"}


def every(
    model: Model, environ: dict[str, str], default: str = "demo", replaced: dict[str, str] | None = None
) -> list[protocol.Model]:
    return chat_models(model, default, environ, Connections(), replaced=replaced or {})


def one(environ: dict[str, str] | None = None, default: str = "demo", **fields: object) -> protocol.Model:
    return every(Model.model_validate(fields), KEYS if environ is None else environ, default)[0]


def windows(replaced: dict[str, str] | None = None, **given: Any) -> list[Named]:
    found = ready(Model(**given), "demo", KEYS, Connections(), replaced=replaced or {})
    return [item.window for item in found]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the built-in clients are made with."""
    seen: list[dict[str, Any]] = []
    make = providers.make

    def noted(full_name: str, **given: Any) -> protocol.Model:
        seen.append({"name": full_name, **given})
        return make(full_name, **given)

    monkeypatch.setattr(providers, "make", noted)
    return seen


def test_the_window_of_a_model_is_what_the_file_says_or_its_name_tells() -> None:
    def sizes(replaced: dict[str, str] | None = None, **given: Any) -> list[int | None]:
        return [item.tokens for item in windows(replaced, **given)]

    assert sizes() == [None]
    assert sizes(primary="openai:gpt-4") == [8_192]
    assert sizes(primary="openai:gpt-4", context_tokens=4_000) == [4_000]
    assert sizes(primary="openai:mine", fallbacks=["openai:gpt-4", "ollama:x"], context_tokens=4_000) == [
        4_000,
        8_192,
        4_000,
    ]
    assert sizes({"openai:gpt-4": "openai:gpt-4o"}, primary="openai:gpt-4", context_tokens=4_000) == [128_000]
    assert sizes({"openai:gpt-4": "demo"}, primary="openai:gpt-4", context_tokens=4_000) == [None]
    (claude,) = windows(primary="anthropic:claude-sonnet-5")
    assert claude.options == {"max_tokens": 32_000}
    (less,) = windows(primary="anthropic:claude-sonnet-5", options={"max_tokens": 9})
    assert less.options == {"max_tokens": 9}


def test_without_any_key_the_default_is_the_demo_model() -> None:
    assert default_model({}) == "demo"
    assert isinstance(one({}, default_model({})), DemoModel)


@pytest.mark.parametrize(
    ("environ", "provider"),
    [
        (KEYS, "openai"),
        ({"ANTHROPIC_API_KEY": "a", "DEEPSEEK_API_KEY": "d"}, "anthropic"),
        ({"DEEPSEEK_API_KEY": "d", "OLLAMA_HOST": "h"}, "deepseek"),
        ({"OLLAMA_HOST": "127.0.0.1:11434"}, "ollama"),
    ],
)
def test_the_default_is_the_model_of_the_first_provider_with_a_key(
    environ: dict[str, str], provider: str
) -> None:
    assert default_model(environ) == f"{provider}:{PROVIDERS[provider].first}"
    assert default_model(environ, "demo") == "demo"
    assert default_model({"OPENAI_API_KEY": ""}) == "demo"


def test_a_built_in_client_is_made_of_what_the_file_says(made: list[dict[str, Any]]) -> None:
    environ = {"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": "http://wrong/v1", "MINE": "right"}
    model = one(
        environ,
        primary="gpt-4o",
        base_url="http://right/v1",
        api_key_env="MINE",
        temperature=0.5,
        options={"seed": 7},
        idle_timeout=5.0,
    )
    assert isinstance(model, Client)
    assert model.label == "gpt-4o"
    (given,) = made
    assert isinstance(given.pop("connections"), Connections)
    assert given == {
        "name": "openai:gpt-4o",
        "base_url": "http://right/v1",
        "api_key": "right",
        "temperature": 0.5,
        "options": {"seed": 7},
        "idle_timeout": 5.0,
        "environ": environ,
        "window": 128_000,
        "key_variable": "MINE",
    }


def test_without_a_word_in_the_file_the_environment_counts(made: list[dict[str, Any]]) -> None:
    assert isinstance(one(primary="anthropic:anything"), Client)
    assert (made[0]["base_url"], made[0]["api_key"], made[0]["idle_timeout"]) == (None, None, 60.0)


def test_fallbacks_follow_the_primary() -> None:
    model = Model(primary="openai:gpt-4o", fallbacks=["deepseek:deepseek-x", "default"])
    assert [item.label for item in every(model, KEYS)] == ["gpt-4o", "deepseek-x", "demo (no AI)"]


def test_the_address_the_key_and_the_options_are_for_the_provider_of_the_primary(
    made: list[dict[str, Any]],
) -> None:
    model = Model(
        primary="openai:gpt-4o",
        fallbacks=["openai:gpt-4o-mini", "anthropic:claude-x"],
        base_url="https://models.example/v1",
        api_key_env="OWN_KEY",
        options={"top_p": 0.5},
        temperature=0.1,
    )
    every(model, {**KEYS, "OWN_KEY": "sk-own"})
    own = ("https://models.example/v1", "sk-own", {"top_p": 0.5}, 0.1)
    assert [(item["base_url"], item["api_key"], item["options"], item["temperature"]) for item in made] == [
        own,
        own,
        (None, None, {}, 0.1),
    ]


def test_a_replaced_name_is_another_model_as_primary_as_fallback_and_as_default() -> None:
    model = Model(primary="gpt-4o", fallbacks=["default", "openai:gpt-4o", "gpt-4o-mini"])
    replaced = {"gpt-4o": "demo", "deepseek:deepseek-x": "gpt-4o-mini", "gpt-4o-mini": "default"}
    found = every(model, KEYS, "deepseek:deepseek-x", replaced)
    assert [item.label for item in found] == ["demo (no AI)", "gpt-4o-mini", "gpt-4o", "deepseek-x"]


def test_what_a_file_says_about_a_model_is_kept_for_the_same_provider_alone(
    made: list[dict[str, Any]],
) -> None:
    model = Model(
        primary="gpt-4o",
        temperature=0.5,
        base_url="http://127.0.0.1:9/v1",
        api_key_env="MINE",
        options={"seed": 7},
    )
    environ = KEYS | {"MINE": "my-own-key"}
    every(model, environ, replaced={"gpt-4o": "openai:gpt-5-mini"})
    every(model, environ, replaced={"gpt-4o": "deepseek:deepseek-x"})
    same, other = made
    assert (same["name"], same["base_url"], same["options"]) == (
        "openai:gpt-5-mini",
        "http://127.0.0.1:9/v1",
        {"seed": 7},
    )
    assert (other["name"], other["base_url"], other["api_key"]) == ("deepseek:deepseek-x", None, None)
    assert (other["temperature"], other["options"]) == (0.5, {})
    assert isinstance(every(model, {}, replaced={"gpt-4o": "demo"})[0], DemoModel)


def test_the_error_for_a_missing_key_names_it() -> None:
    with pytest.raises(ModelUnavailable, match="model openai:gpt-4o needs a key: set OPENAI_API_KEY"):
        one({}, primary="openai:gpt-4o")
    with pytest.raises(ModelUnavailable, match="needs a key: set MINE"):
        one(KEYS, primary="openai:gpt-4o", api_key_env="MINE")


def test_a_model_that_cannot_be_used_is_left_out_with_its_window() -> None:
    only = {"OPENAI_API_KEY": "sk-o"}
    both = Model(primary="openai:gpt-4", fallbacks=["deepseek:deepseek-x"])
    assert [item.label for item in every(both, only)] == ["gpt-4"]
    assert [item.label for item in every(both, {"DEEPSEEK_API_KEY": "d"})] == ["deepseek-x"]
    falls = Model(primary="openai:gpt-4", fallbacks=["anthropic:claude-sonnet-5", "demo"])
    (found,) = ready(falls, "demo", {}, Connections())
    assert isinstance(found.model, DemoModel)
    assert found.window.name == "demo"
    with pytest.raises(ModelUnavailable, match=r"set OPENAI_API_KEY; model deepseek:deepseek-x .*DEEPSEEK"):
        every(both, {})


def test_what_the_models_of_an_agent_lack_is_told_without_making_an_own_class() -> None:
    needs = "model openai:gpt-4 needs a key: set OPENAI_API_KEY"
    first, second = ("spec", "model", "primary"), ("spec", "model", "fallbacks", 0)
    assert lack(Model(primary="openai:gpt-4"), "demo", {}) == Lack({needs: first}, True)
    assert lack(Model(primary="openai:gpt-4", fallbacks=["demo"]), "demo", {}) == Lack({needs: first}, False)
    assert lack(Model(primary="openai:gpt-4"), "demo", KEYS) == Lack({}, False)
    assert lack(Model(primary="openai:gpt-4"), "demo", {}, {"openai:gpt-4": "demo"}) == Lack({}, False)
    own = Model.model_validate({"class": "nowhere:Nothing", "fallbacks": ["openai:gpt-4"]})
    assert lack(own, "demo", {}) == Lack({needs: second}, False)


@pytest.mark.parametrize(
    ("environ", "model", "told"),
    [
        ({"OPENAI_API_KEY": "k\nk"}, {}, "the key of model openai:x has .*: check OPENAI_API_KEY"),
        ({"MINE": "k\nk"}, {"api_key_env": "MINE"}, "the key of model openai:x has .*: check MINE"),
        ({"OPENAI_BASE_URL": "no address"}, {}, "^OPENAI_BASE_URL is no address"),
        (
            {"OPENAI_BASE_URL": "http://a", "OPENAI_API_KEY": "k"},
            {"base_url": "http://:x"},
            "^the base URL of model openai:x",
        ),
    ],
    ids=["key", "key of the file", "address", "address of the file"],
)
def test_what_is_wrong_is_told_by_what_was_set(
    environ: dict[str, str], model: dict[str, str], told: str
) -> None:
    with pytest.raises(ModelUnavailable, match=told):
        one(environ, primary="openai:x", **model)


def test_other_providers_come_through_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain.chat_models import base

    assert wrong_name("perplexity:sonar") is None
    base._get_chat_model_creator.cache_clear()
    with pytest.raises(ModelUnavailable, match=r"another package: .* -m pip install langchain-perplexity"):
        one(primary="perplexity:sonar")
    monkeypatch.setattr(base, "_BUILTIN_PROVIDERS", {**base._BUILTIN_PROVIDERS, "mine": ("x", "X", None)})
    seen: list[Any] = []

    def init(name: str, **given: Any) -> Any:
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

        seen.append((name, given))
        return GenericFakeChatModel(messages=iter([]))

    monkeypatch.setattr(base, "init_chat_model", init)
    model = one({"MINE": "key"}, primary="mine:a:b", temperature=0.5, api_key_env="MINE", options={"x": 1})
    assert isinstance(model, LangChainModel)
    assert seen == [("a:b", {"model_provider": "mine", "temperature": 0.5, "api_key": "key", "x": 1})]


def test_without_langchain_its_providers_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "has_langchain", lambda: False)
    wrong = wrong_name("perplexity:sonar")
    assert wrong is not None
    assert wrong[0] == "unknown model provider: perplexity"
    assert wrong[1].endswith(f": {installs.add_extra('langchain')}")
    assert wrong_name("gemini-pro") is not None
    assert wrong_name("openai:anything") is None


def test_options_of_the_demo_model_are_checked() -> None:
    assert one(options={"delay": 0})._options.delay == 0  # type: ignore[attr-defined]
    with pytest.raises(ModelUnavailable, match="does not take these options"):
        one(options={"speed": 9})


class Parrot:
    """A model of our protocol without a label."""

    def __init__(self, temperature: float, word: str = "again") -> None:
        self._said = f"{word} {temperature}"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Schema] = ()
    ) -> AsyncGenerator[Piece, None]:
        yield Text(self._said)


async def test_an_operators_class_is_made_with_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parrots", sys.modules[__name__])
    own: dict[str, Any] = {"class": "parrots:Parrot", "options": {"word": "hello"}}
    model = one({}, **own, temperature=1.0)
    assert model.label == "Parrot"
    assert (await reply(model, [user("hi")])).content == "hello 1.0"
    with pytest.raises(ModelUnavailable, match="does not take these options"):
        one({}, **own | {"options": {"words": 2}})
    missing: dict[str, Any] = {"class": "nowhere.at_all:Model"}
    with pytest.raises(ModelUnavailable, match="cannot be used"):
        one({}, **missing)


def test_an_operators_class_of_langchain_comes_through_the_adapter() -> None:
    target = "langchain_core.language_models.fake_chat_models:FakeListChatModel"
    own: dict[str, Any] = {"class": target, "options": {"responses": ["x"]}}
    assert isinstance(one({}, **own), LangChainModel)


def test_something_else_is_no_model_class() -> None:
    for target, said in (("pathlib:Path", "is no chat model"), ("os:getcwd", "is not a class")):
        with pytest.raises(imports.ImportFault, match=said):
            imports.chat_model_class(target, None)


@pytest.mark.parametrize("name", ["demo", "default", "gpt-4o", "openai:any", "ollama:llama3:8b", "groq:x"])
def test_good_names(name: str) -> None:
    assert wrong_name(name) is None


def test_the_demo_model_says_that_it_is_no_ai() -> None:
    assert DemoModel().label == "demo (no AI)"


def test_the_folder_of_the_agents_is_packaged() -> None:
    folder = Path(importlib.import_module("caesura.agents").__path__[0]) / "builtin"
    names = ("approval-agent", "assistant", "crawl_agent", "lead_agent", "search_agent")
    assert sorted(path.stem for path in folder.glob("*.yaml")) == list(names)
