"""Chat models by name: the demo model, models of providers, and an operator's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from caesura.agents import imports
from caesura.agents.demo.model import DemoModel
from caesura.agents.faults import Path as FieldPath
from caesura.agents.model_names import DEMO, NOTHING_REPLACED, provider_of, wrong_name
from caesura.agents.model_places import Named, Place, places, replaced_by
from caesura.agents.spec import Model as Spec
from caesura.core import installs
from caesura.core.errors import CaesuraError
from caesura.core.messages import Message
from caesura.models import providers
from caesura.models.connections import Connections
from caesura.models.failures import Unusable
from caesura.models.model import Model, Piece, Schema
from caesura.models.providers import PROVIDERS


class ModelUnavailable(CaesuraError):
    """The model cannot be used"""

    code = "model_unavailable"


class Ready(NamedTuple):
    """A model that is ready to be called, and its window."""

    model: Model
    window: Named


class Tried(NamedTuple):
    """A model of an agent that was made, or why it cannot be used. What has the same `identity` is the same
    model with the same settings."""

    name: str
    identity: str
    made: Model | ModelUnavailable


def ready(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    connections: Connections,
    model_class: type[Any] | None = None,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[Ready]:
    """The primary model and its fallbacks. One that cannot be used, for example because its key is missing,
    is left out. If none is left, `ModelUnavailable` says what is missing.

    `model_class` is the class that `model.class` names, if the catalog has already imported it. `replaced`
    are the names in whose place the operator wants another model.
    """
    found, missing = list[Ready](), list[str]()
    for place in places(model, default_model, replaced):
        made = _made(place, environ, connections, model_class)
        if isinstance(made, ModelUnavailable):
            missing.append(made.message)
        else:
            found.append(Ready(made, place.window()))
    if not found:
        raise ModelUnavailable("; ".join(dict.fromkeys(missing)))
    return found


def tried(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    connections: Connections,
    model_class: type[Any] | None = None,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[Tried]:
    """The primary model and its fallbacks, also those that cannot be used."""
    return [
        Tried(place.name, place.identity, _made(place, environ, connections, model_class))
        for place in places(model, default_model, replaced)
    ]


def chat_models(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    connections: Connections,
    model_class: type[Any] | None = None,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[Model]:
    """Those that are `ready`."""
    return [item.model for item in ready(model, default_model, environ, connections, model_class, replaced)]


class Lack(NamedTuple):
    """Models of an agent that cannot be used: why, each once, and the field of the file that names it.
    `none_left` is whether the agent has no other model, so that every turn of it fails."""

    reasons: Mapping[str, FieldPath]
    none_left: bool


def lack(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> Lack:
    """Look at the models of an agent without calling one. A class of the operator's is not looked at: to make
    a model of it may take long."""
    connections, reasons, left = Connections(environ), dict[str, FieldPath](), 0
    for number, place in enumerate(places(model, default_model, replaced)):
        try:
            if place.full is not None:
                _named(place.full, place.spec, environ, connections)
        except ModelUnavailable as error:
            field = ("fallbacks", number - 1) if number else ("primary",)
            reasons.setdefault(error.message, ("spec", "model", *field))
        else:
            left += 1
    return Lack(reasons, not left)


async def offered(
    model: Spec,
    default_model: str,
    environ: Mapping[str, str],
    connections: Connections,
    replaced: Mapping[str, str] = NOTHING_REPLACED,
) -> list[str]:
    """The names of the models that the provider of the first model offers. Raises `ModelUnavailable` or a
    `ModelError`."""
    if model.class_ is not None:
        raise ModelUnavailable(f"{model.class_} is a class of your own, which lists no models")
    full, its = replaced_by(model.primary, model, default_model, replaced)
    if full == DEMO:
        raise ModelUnavailable("the demo model has no provider: set a key, or name a model with --model")
    provider = providers.provider_named(full)
    if provider is None and (wrong := wrong_name(full)):
        raise ModelUnavailable(f"{wrong[0]} ({wrong[1]})")
    provider = provider or provider_of(full)
    if provider not in PROVIDERS:
        raise ModelUnavailable(f"{provider} is reached through LangChain, which lists no models")
    try:
        return await providers.list_models(
            provider,
            base_url=its.base_url,
            api_key=_key(full, its, environ),
            environ=environ,
            connections=connections,
            key_variable=its.api_key_env,
        )
    except Unusable as error:
        raise ModelUnavailable(str(error)) from error


def unmatched(replaced: Mapping[str, str], models: Iterable[Spec], default: str) -> list[str]:
    """The names to be replaced that neither a model of these nor the default has."""
    written = {default}.union(*([model.primary, *model.fallbacks] for model in models))
    return [name for name in replaced if name not in written]


def named(model: Spec, default_model: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> str:
    """The name of the model that replies first, for people."""
    return next(places(model, default_model, replaced)).name


def names(model: Spec, default_model: str, replaced: Mapping[str, str] = NOTHING_REPLACED) -> list[str]:
    """The names of the model that replies first and of its fallbacks, for people."""
    return [place.name for place in places(model, default_model, replaced)]


def _made(
    place: Place, environ: Mapping[str, str], connections: Connections, model_class: type[Any] | None
) -> Model | ModelUnavailable:
    try:
        if place.full is None:
            return _own(place.spec, model_class)
        return _named(place.full, place.spec, environ, connections, place.window().tokens)
    except ModelUnavailable as error:
        return error


def _named(
    full: str,
    model: Spec,
    environ: Mapping[str, str],
    connections: Connections,
    window: int | None = None,
) -> Model:
    if full == DEMO:
        demo: Model = _construct(DemoModel, model.options, full)
        return demo
    if wrong := wrong_name(full):
        raise ModelUnavailable(f"{wrong[0]} ({wrong[1]})")
    provider, bare = provider_of(full), full.partition(":")[2] or full
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
            window=window,
            key_variable=model.api_key_env,
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
            f"model {full} needs another package: {installs.add_package(langchain_models.package(provider))}"
        ) from error
    except Exception as error:  # a provider's package has errors of its own, also for a missing key
        raise ModelUnavailable(f"model {full} cannot be set up: {_first_line(error)}") from error


def _own(model: Spec, model_class: type[Any] | None) -> Model:
    target = model.class_ or ""
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
    except Exception as error:  # an operator's class fails in its own ways
        told = f"{type(error).__name__}: {_first_line(error)}"
        raise ModelUnavailable(f"model {name} cannot be set up: {told}") from error


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
