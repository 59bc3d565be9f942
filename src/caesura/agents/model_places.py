"""The models of an agent in their order, and what its file says about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from caesura.agents.demo.model import LABEL as DEMO_LABEL
from caesura.agents.model_names import DEMO, full_name, provider_of
from caesura.agents.spec import Model as Spec
from caesura.models import providers

#: What a file says that makes a difference between two models of the same name.
_SETTINGS = {"base_url", "api_key_env", "temperature", "options", "idle_timeout"}


class Named(NamedTuple):
    """A model that an agent uses, as its window is known by: `tokens` is None if its size is not known."""

    name: str
    base_url: str | None
    tokens: int | None
    options: Mapping[str, Any]


class Place(NamedTuple):
    """A place in the order of an agent's models. `full` is None for a class of the operator's, and `spec` is
    what the file says about this model."""

    full: str | None
    spec: Spec
    #: Whether the file means this model with what it says about the window.
    first: bool

    @property
    def name(self) -> str:
        """Its name for people."""
        if self.full is None:
            return self.spec.class_ or ""
        return DEMO_LABEL if self.full == DEMO else self.full

    @property
    def identity(self) -> str:
        """What has the same is the same model with the same settings."""
        return f"{self.full or self.spec.class_} {self.spec.model_dump_json(include=_SETTINGS)}"

    def window(self) -> Named:
        full, spec = self.full, self.spec
        if full is None:
            return Named(spec.class_ or "", None, spec.context_tokens, spec.options)
        known = providers.context_tokens(full) if full != DEMO else None
        tokens = spec.context_tokens or known if self.first else known or spec.context_tokens
        answer = providers.answer_tokens(full)
        options = spec.options if answer is None else {"max_tokens": answer, **spec.options}
        return Named(full, spec.base_url, tokens if full != DEMO or self.first else None, options)


def places(model: Spec, default_model: str, replaced: Mapping[str, str]) -> Iterator[Place]:
    """What the file says of the window is about its first model, and about others whose names tell
    nothing."""
    names = [model.primary, *model.fallbacks]
    if model.class_ is not None:
        yield Place(None, model, first=True)
        names = model.fallbacks
    for number, name in enumerate(names):
        full, its = replaced_by(name, model, default_model, replaced)
        first = number == 0 and model.class_ is None and full == full_name(name, default_model)
        yield Place(full, its, first)


def replaced_by(name: str, model: Spec, default: str, replaced: Mapping[str, str]) -> tuple[str, Spec]:
    """The model that is used where a file says `name`, and what the file says about it. The address, the key
    and the options are meant for the provider of the primary model: no other provider gets them, and no
    other address gets a provider's key. Beside a class of the operator's, the options are the class's."""
    full = full_name(name, default, replaced)
    if model.class_ is not None:
        return full, model.model_copy(update={"options": {}})
    if provider_of(full_name(model.primary, default)) == provider_of(full):
        return full, model
    return full, model.model_copy(update={"base_url": None, "api_key_env": None, "options": {}})
