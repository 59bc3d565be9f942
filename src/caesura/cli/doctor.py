"""The doctor: checks everything a server needs, reports what is wrong, and says what to do about it.

It creates and changes nothing: what `serve` would create is only reported.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from caesura.agents.aside import Aside
from caesura.cli.files import is_there, obstacle
from caesura.core import shown
from caesura.core.addresses import is_loopback
from caesura.core.errors import NotFound, StartupError
from caesura.core.issuers import Issuer
from caesura.settings import PREFIX, Settings, as_given, secret_of

if TYPE_CHECKING:
    from caesura.agents.loader import Agent, Catalog
    from caesura.cli.database import Seen

#: How many agents are named in one line.
_NAMED = 8


class Finding(NamedTuple):
    """A `note` is about something that the server does not require."""

    state: Literal["ok", "note", "fault"]
    what: str
    text: str


def examine(flags: Mapping[str, Any], call: bool = False, agent: str | None = None) -> int:
    """Print the findings; the exit code is 1 when there is a fault. With `call` models are asked for a word:
    those of an agent, or of all agents."""
    return asyncio.run(_examine(flags, call or agent is not None, agent))


async def _examine(flags: Mapping[str, Any], call: bool, agent: str | None) -> int:
    code = 0
    given = [name for name, value in flags.items() if value is not None]
    async for finding in _findings(flags, call, agent):
        text = shown.line(as_given(finding.text, given))
        print(f"{finding.state:<5}  {finding.what:<9}  {text}", flush=True)
        code = 1 if finding.state == "fault" else code
    return code


async def _findings(flags: Mapping[str, Any], call: bool, agent: str | None) -> AsyncIterator[Finding]:
    for finding in _variables(flags):
        yield finding
    try:
        settings = Settings.load(**flags)
    except StartupError as error:
        yield Finding("fault", "settings", f"{error.message}: correct it, then look again")
        return
    yield Finding("ok", "settings", f"{settings.host}:{settings.port}, log-in: {settings.auth}")
    aside = Aside("caesura-doctor")
    yield await aside.run(_address, settings)
    if settings.registers == "open" and (settings.trusted_proxies or not is_loopback(settings.host)):
        yield Finding("note", "register", "open to whoever reaches the server (CAESURA_REGISTRATION)")
    yield _secret(settings)
    if settings.issuer is not None:
        yield await _issuer(settings.issuer)
    yield await aside.run(_database, settings)
    catalog = _catalog(settings)
    if settings.redis_url is not None:
        mirrored = [item.name for item in catalog.agents() if item.mirrored]
        yield await _redis(settings.redis_url, mirrored)
    server = _model(settings)
    try:
        chosen = None if agent is None else catalog.get(agent)
    except NotFound as error:
        chosen, call = None, False
        remedy = "see the faults of files below" if catalog.faults else "`caesura agents list` names them"
        yield Finding("fault", "agent", f"{error.message}: {remedy}")
    model = server if chosen is None else _models_of(chosen, settings)
    yield model
    if call:
        for finding in await _calls(settings, catalog.agents() if chosen is None else [chosen]):
            yield finding
    yield _search(settings)
    for finding in [*await _sandbox(settings), *_agents(settings, catalog, (server.text, model.text))]:
        yield finding


def _variables(flags: Mapping[str, Any]) -> list[Finding]:
    """A misspelled variable may be why the settings are at fault: they are not asked for the folder."""
    from caesura.cli.variables import unread

    folder = flags.get("agents_dir") or os.environ.get(f"{PREFIX}AGENTS_DIR")
    found = unread(os.environ, Path(folder) if folder else None)
    return [Finding("note", "variables", line) for line in found]


def _address(settings: Settings) -> Finding:
    from caesura.cli.address import occupant

    where = f"{settings.host}:{settings.port}"
    try:
        found = occupant(settings.host, settings.port)
    except StartupError as error:
        return Finding("fault", "address", f"{error.message}: correct CAESURA_HOST or CAESURA_PORT")
    if found is not None:
        return Finding(
            "note", "address", f"{found} listens at {where} already: a second server needs another port"
        )
    return Finding("ok", "address", f"{where} is free" if settings.port else "any port that is free")


def _secret(settings: Settings) -> Finding:
    if settings.auth == "none":
        return Finding("ok", "secret", "not needed: nobody logs in")
    if settings.secret is not None:
        return Finding("ok", "secret", "from CAESURA_SECRET")
    path = settings.data_dir / "secret"
    try:
        if is_there(path):
            secret_of(settings)
            return Finding("ok", "secret", f"from {path}")
    except StartupError as error:
        return Finding("fault", "secret", error.message)
    if reason := obstacle(path):
        return Finding("fault", "secret", f"{path} cannot be made: {reason}")
    return Finding("ok", "secret", _would_make(path))


async def _issuer(issuer: Issuer) -> Finding:
    """Whether the keys can be read with which tokens of another service are checked."""
    from caesura.http.jwks import Unreadable, reader, shown

    if issuer.jwks is None:
        return Finding("ok", "tokens", f"of {issuer.name}, with a shared key")
    try:
        count = len(await reader(issuer.jwks, issuer.algorithms)())
    except Unreadable as error:
        return Finding("fault", "tokens", f"{error}: correct CAESURA_JWT_JWKS, or start what serves it")
    if not count:
        algorithms = ", ".join(issuer.algorithms)
        return Finding(
            "fault", "tokens", f"{shown(issuer.jwks)} has no key for {algorithms} (CAESURA_JWT_ALGORITHMS)"
        )
    return Finding("ok", "tokens", f"of {issuer.name}, {count} key{'' if count == 1 else 's'}")


def _database(settings: Settings) -> Finding:
    from caesura.cli import database
    from caesura.store.open import file_of

    shown = "CAESURA_DATABASE_URL" if settings.database_url else str(settings.data_dir)
    remedy = "make it writable, or name another" if settings.embedded else "start it, or correct the URL"
    kind = "SQLite" if settings.embedded else "PostgreSQL"
    try:
        path = file_of(settings.database)
        if path is not None and (reason := obstacle(path)):
            return Finding("fault", "database", f"{path} cannot be opened: {reason}: {remedy} ({shown})")
        if path is not None and not is_there(path):
            return Finding("ok", "database", f"{kind}, {_would_make(path)}")
        seen = database.look(settings)
    except StartupError as error:
        return Finding("fault", "database", f"{error.message}: {remedy} ({shown})")
    return Finding("ok", "database", f"{kind}, {_contents(seen)}")


def _contents(seen: Seen) -> str:
    from caesura.store import migrate

    if seen.schema is None:
        return "empty: its tables would be made"
    if seen.schema != migrate.newest():
        return f"schema {seen.schema}: it would be brought to {migrate.newest()}"
    return f"{seen.people} people"


def _would_make(path: Path) -> str:
    folder = "" if path.parent.exists() else ", and its folder"
    return f"{path} would be made{folder}"


async def _redis(url: str, mirrored: Sequence[str]) -> Finding:
    from redis.exceptions import RedisError

    from caesura.service import redis_client

    try:
        async with asyncio.timeout(3), redis_client.connect(url, 3) as redis:
            await redis.ping()
    except StartupError as error:
        return Finding("fault", "redis", f"{error.message}: correct it")
    except (RedisError, OSError) as error:
        why = str(error) or "no answer within 3 seconds"
        return Finding("fault", "redis", f"{why}: start it, or correct CAESURA_REDIS_URL")
    use = f", and shows the questions of {', '.join(mirrored)}" if mirrored else ""
    return Finding("ok", "redis", f"answers{use}")


def _model(settings: Settings) -> Finding:
    from caesura.agents.model_names import DEFAULT, DEMO, default_model
    from caesura.agents.models import ModelUnavailable, chat_models
    from caesura.agents.spec import Model
    from caesura.cli.guesses import guess
    from caesura.models.connections import Connections

    name = default_model(os.environ, settings.model)
    try:
        for primary in (DEFAULT, *settings.model_map.values()):
            chat_models(Model(primary=primary), name, os.environ, Connections(os.environ))
    except ModelUnavailable as error:
        return Finding("fault", "model", error.message)
    doubt = guess(settings, name, "caesura")
    if name == DEMO and doubt:
        return Finding("note", "model", f"demo (no AI): {doubt}")
    if name == DEMO:
        keys = "OPENAI_API_KEY, ANTHROPIC_API_KEY, DEEPSEEK_API_KEY or OLLAMA_HOST"
        return Finding("ok", "model", f"demo (no AI); for a real one set {keys}")
    return Finding("note" if doubt else "ok", "model", f"{name}: {doubt}" if doubt else name)


def _models_of(agent: Agent, settings: Settings) -> Finding:
    """The models of this agent, and what they lack."""
    from caesura.agents.model_names import default_model
    from caesura.agents.models import names
    from caesura.agents.shortages import shortage
    from caesura.cli.guesses import guess

    default = default_model(os.environ, settings.model)
    if short := shortage(agent, default, os.environ, settings.model_map):
        return Finding("fault" if short.fatal else "note", "model", str(short))
    if agent.graph is not None:
        return Finding("ok", "model", f"agent {agent.name} is a graph, which makes its own models")
    used = names(agent.spec.model, default, settings.model_map)
    text = f"{', then '.join(used)} (agent {agent.name})"
    doubt = guess(settings, default, "caesura") if used[0] == default else None
    return Finding("note" if doubt else "ok", "model", f"{text}: {doubt}" if doubt else text)


async def _calls(settings: Settings, agents: Sequence[Agent]) -> list[Finding]:
    from caesura.cli import calls

    outcomes = await calls.ask(settings, agents)
    found = []
    for works, text, users, vital in outcomes:
        told = f"{text} ({_some(users)})" if len(outcomes) > 1 else text
        found.append(Finding("ok" if works else "fault" if vital else "note", "call", told))
    graphs = tuple(agent.name for agent in agents if agent.graph is not None)
    if graphs:
        told = f"not called: {_some(graphs)}, because a graph makes its own models"
        found.append(Finding("note", "call", told))
    return found


def _some(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{'agents' if len(names) > 1 else 'agent'} {', '.join(names[:_NAMED])}{rest}"


def _search(settings: Settings) -> Finding:
    if settings.search_url is None:
        return Finding("ok", "search", "no search engine is set: web_search says so (CAESURA_SEARCH_URL)")
    key = "with a key" if settings.search_key is not None else "without a key"
    return Finding("ok", "search", f"{settings.search_kind} at {settings.search_url}, {key}")


async def _sandbox(settings: Settings) -> list[Finding]:
    from caesura.resources import sandbox_of

    try:
        sandbox = sandbox_of(settings)
    except StartupError:
        return [Finding("note", "sandbox", "not looked at: the database URL is at fault")]
    if reason := await sandbox.unavailable():
        return [Finding("note", "sandbox", f"{reason}; everything else works without")]
    works = Finding("ok", "sandbox", "bubblewrap works: agents may run commands")
    return [works, *(Finding("note", "sandbox", text) for text in await sandbox.weaknesses())]


def _catalog(settings: Settings) -> Catalog:
    from caesura.cli.roster import catalog_of

    return catalog_of(settings)


def _agents(settings: Settings, catalog: Catalog, told: Collection[str]) -> list[Finding]:
    """`told` is what was said of models before."""
    from caesura.agents.cautions import cautions
    from caesura.agents.default_agent import lack

    short = [*_shortages(settings, catalog, told)]
    faults = [Finding("fault", "agents", str(fault)) for fault in catalog.faults]
    missing = lack(catalog, settings.default_agent, settings.agents_dir, settings.built_in_agents)
    if missing is not None:
        faults.append(Finding("fault", "agents", missing))
    names, redis = ", ".join(agent.name for agent in catalog.agents()), settings.redis_url is not None
    faults += [finding for finding in short if finding.state == "fault"]
    notes = [finding for finding in short if finding.state == "note"]
    notes += [
        Finding("note", "agents", text) for agent in catalog.agents() for text in cautions(agent, redis)
    ]
    return [*(faults or [Finding("ok", "agents", names)]), *notes]


def _shortages(settings: Settings, catalog: Catalog, told: Collection[str]) -> Iterator[Finding]:
    """What the models of agents lack, if that was not said before."""
    from caesura.agents.model_names import default_model
    from caesura.agents.shortages import shortage

    default = default_model(os.environ, settings.model)
    for agent in catalog.agents():
        found = shortage(agent, default, os.environ, settings.model_map)
        if found is not None and "; ".join(found.reasons) not in told and str(found) not in told:
            yield Finding("fault" if found.fatal else "note", "agents", str(found))
