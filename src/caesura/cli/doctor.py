"""The doctor: looks at everything a server needs, says what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, NamedTuple

from caesura.core.errors import CaesuraError, NotFound, StartupError
from caesura.settings import Settings, secret_of


class Finding(NamedTuple):
    """A `note` is something that the server can do without."""

    state: Literal["ok", "note", "fault"]
    what: str
    text: str


def examine(flags: Mapping[str, Any]) -> int:
    """Print the findings; the exit code is 1 when there is a fault."""
    return asyncio.run(_examine(flags))


async def _examine(flags: Mapping[str, Any]) -> int:
    code = 0
    async for finding in _findings(flags):
        print(f"{finding.state:<5}  {finding.what:<9}  {finding.text}", flush=True)
        code = 1 if finding.state == "fault" else code
    return code


async def _findings(flags: Mapping[str, Any]) -> AsyncIterator[Finding]:
    try:
        settings = Settings.load(**flags)
    except StartupError as error:
        yield Finding("fault", "settings", f"{error.message}: correct it, then look again")
        return
    yield Finding("ok", "settings", f"{settings.host}:{settings.port}, log-in: {settings.auth}")
    yield _secret(settings)
    yield await _database(settings)
    if settings.redis_url is not None:
        yield await _redis(settings.redis_url)
    yield _model(settings)
    yield await _sandbox()
    for finding in _agents(settings):
        yield finding


def _secret(settings: Settings) -> Finding:
    if settings.auth == "none":
        return Finding("ok", "secret", "not needed: nobody logs in")
    try:
        secret_of(settings)
    except StartupError as error:
        return Finding("fault", "secret", error.message)
    kept = "CAESURA_SECRET" if settings.secret is not None else str(settings.data_dir / "secret")
    return Finding("ok", "secret", f"from {kept}")


async def _database(settings: Settings) -> Finding:
    from caesura.store import users
    from caesura.store.open import open_database

    shown = "CAESURA_DATABASE_URL" if settings.database_url else str(settings.data_dir)
    try:
        database = await open_database(settings.database, beside=True)
    except CaesuraError as error:
        remedy = "make it writable, or name another" if settings.embedded else "start it, or correct the URL"
        return Finding("fault", "database", f"{error.message}: {remedy} ({shown})")
    try:
        count = len(await database.read(users.listing))
    finally:
        await database.close()
    return Finding("ok", "database", f"{'SQLite' if settings.embedded else 'PostgreSQL'}, {count} people")


async def _redis(url: str) -> Finding:
    from redis.asyncio import Redis
    from redis.exceptions import RedisError

    try:
        async with Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as redis:
            await redis.ping()
    except (RedisError, OSError, ValueError) as error:
        return Finding("fault", "redis", f"{error}: start it, or correct CAESURA_REDIS_URL")
    return Finding("ok", "redis", "answers")


def _model(settings: Settings) -> Finding:
    from caesura.agents.models import DEMO, ModelUnavailable, chat_models, default_model
    from caesura.agents.spec import Model

    name = default_model(os.environ, settings.model)
    try:
        chat_models(Model(), name, os.environ)
    except ModelUnavailable as error:
        return Finding("fault", "model", error.message)
    if name == DEMO:
        keys = "OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY or OLLAMA_HOST"
        return Finding("ok", "model", f"demo (no AI); for a real one set {keys}")
    return Finding("ok", "model", name)


async def _sandbox() -> Finding:
    from caesura.agents.tools.sandbox import Sandbox

    if reason := await Sandbox().unavailable():
        return Finding("note", "sandbox", f"{reason}; everything else works without")
    return Finding("ok", "sandbox", "bubblewrap works: agents may run commands")


def _agents(settings: Settings) -> list[Finding]:
    from caesura.agents.loader import Catalog
    from caesura.agents.tools.registry import standard

    catalog = Catalog(settings.agents_dir, standard().names)
    faults = [Finding("fault", "agents", str(fault)) for fault in catalog.faults]
    try:
        catalog.get(settings.default_agent)
    except NotFound as error:
        remedy = "correct CAESURA_DEFAULT_AGENT"
        faults.append(Finding("fault", "agents", f"{error.message}: {remedy}"))
    names = ", ".join(agent.name for agent in catalog.agents())
    return faults or [Finding("ok", "agents", names)]
