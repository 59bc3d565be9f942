"""Models of providers: listed, and asked for a word."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from caesura.agents.loader import Catalog
from caesura.agents.model_names import DEFAULT, default_model
from caesura.agents.models import ModelUnavailable, chat_models, offered
from caesura.agents.spec import Model as Spec
from caesura.agents.tools.registry import standard
from caesura.core import shown
from caesura.core.errors import CaesuraError
from caesura.core.messages import Message
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.model import Model, Reasoning, Text, Usage
from caesura.settings import Settings

T = TypeVar("T")

#: The seconds that a reply to the doctor may take, and how many of its characters are told.
_SECONDS, _TOLD = 120.0, 60
_USUAL_PATH = "that of an OpenAI-compatible server usually ends in /v1"
_QUESTION = "Reply with one word: ready"


def listing(agent: str | None, model: str | None, agents_dir: str | None) -> None:
    """Print the names of what is offered, and on standard error how to use one."""
    settings = Settings.load(agents_dir=agents_dir, model=model)
    found = asyncio.run(_explained(_offered(settings, agent), remedy_for_list))
    for name in found:
        print(shown.line(name))
    print(f"{len(found)} models; CAESURA_MODEL=provider:name chooses the server's", file=sys.stderr)


async def ask(settings: Settings, agent: str | None) -> str:
    """Ask the configured model for a word, and say what came of it. Raises `ModelUnavailable`."""
    return await _explained(_asked(settings, agent), remedy)


async def _offered(settings: Settings, agent: str | None) -> list[str]:
    async with Connections(os.environ) as connections:
        default = default_model(os.environ, settings.model)
        return await offered(_spec(settings, agent), default, os.environ, connections, settings.model_map)


async def _asked(settings: Settings, agent: str | None) -> str:
    async with Connections(os.environ) as connections, asyncio.timeout(_SECONDS):
        default = default_model(os.environ, settings.model)
        spec = _spec(settings, agent)
        found = chat_models(spec, default, os.environ, connections, replaced=settings.model_map)
        return await _word_of(found[0])


def _spec(settings: Settings, agent: str | None) -> Spec:
    if agent is None:
        return Spec(primary=DEFAULT)
    return Catalog(settings.agents_dir, standard().names).get(agent).spec.model


async def _word_of(model: Model) -> str:
    began, first = time.monotonic(), 0.0
    said, counts = "", dict[str, int]()
    async with aclosing(model.stream([Message("user", _QUESTION)])) as pieces:
        async for piece in pieces:
            first = first or time.monotonic() - began
            if isinstance(piece, Text):
                said += piece.text
            elif isinstance(piece, Usage):
                counts = piece.counts
            elif isinstance(piece, Reasoning):
                continue
            if len(said) > _TOLD:
                break
    if not said.strip():
        raise ModelError("broken", f"{model.label} answered without a word")
    told = said.strip() if len(said.strip()) <= _TOLD else f"{said.strip()[:_TOLD]}…"
    tokens = f", {counts['input_tokens']} tokens in, {counts.get('output_tokens', 0)} out" if counts else ""
    return f'{model.label} answered "{told}" after {first:.2f} s{tokens}'


async def _explained(work: Awaitable[T], remedy: Callable[[ModelError], str]) -> T:
    try:
        return await work
    except ModelError as error:
        raise ModelUnavailable(f"{error}: {remedy(error)}") from error
    except CaesuraError:
        raise
    except TimeoutError as error:
        raise ModelUnavailable(f"the model did not come to an end in {_SECONDS:g} s: try again") from error
    except Exception as error:  # a model of a library or of an operator fails in its own ways
        name = type(error).__name__
        raise ModelUnavailable(f"the model failed with {name}: look at its own documentation") from error


def remedy_for_list(error: ModelError) -> str:
    """What an operator can do if there is no list of models."""
    if error.kind in ("missing", "broken"):
        return f"this address has no list of models: correct the base URL ({_USUAL_PATH})"
    return remedy(error)


def remedy(error: ModelError) -> str:
    """What an operator can do about a failure."""
    said = str(error)
    match error.kind:
        case "key":
            return "correct the key, or look at the account behind it"
        case "missing":
            names = "correct the model's name (`caesura models` lists what is offered)"
            return f"{names} or the base URL ({_USUAL_PATH})"
        case "request":
            return "correct model.options and model.temperature"
        case "context":
            return "set model.context_tokens"
        case "busy" | "provider":
            return "try again later, or name a fallback"
        case "silent" | "broken":
            return "look at the provider, or raise model.idle_timeout"
        case "connection" if "certificate" in said or "secure" in said or "authorities" in said:
            return "name the authority's file in SSL_CERT_FILE, or correct the base URL (http or https)"
        case "connection" if "prox" in said:
            return "correct HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY"
        case "connection":
            return "start it, or correct the base URL"
