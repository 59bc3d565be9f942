"""The resources of a server: opened at its start, one on top of the other, and closed in reverse order. The
settings are read here, and passed on as plain arguments."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Collection
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

from sqlalchemy.engine import make_url

from caesura.agents.aside import Aside
from caesura.agents.cautions import cautions
from caesura.agents.default_agent import lack
from caesura.agents.faults import Fault
from caesura.agents.loader import BUILTIN, Agent, Catalog
from caesura.agents.model_names import DEMO, default_model
from caesura.agents.models import ModelUnavailable, chat_models, unmatched
from caesura.agents.shortages import shortage
from caesura.agents.spec import Model
from caesura.agents.tools import hiding
from caesura.agents.tools.disk import Disk
from caesura.agents.tools.registry import standard
from caesura.agents.tools.sandbox import Sandbox
from caesura.agents.tools.share import DiskShare
from caesura.agents.tools.size import Quota
from caesura.agents.tools.web.engine import Endpoint
from caesura.agents.tools.web.web import Web
from caesura.core.addresses import Allowed
from caesura.core.errors import StartupError
from caesura.engine.engine import Engine
from caesura.engine.limits import Limits as RunLimits
from caesura.engine.workspaces import Workspaces
from caesura.http import limits, tracing, tracing_langsmith
from caesura.http.auth import Gate
from caesura.http.context import Context
from caesura.http.jwks import Spawn, Unreadable
from caesura.http.limits import Limits
from caesura.http.metrics import Metrics
from caesura.http.pagination import Pages
from caesura.http.sse import EventStreams
from caesura.http.tokens import Tokens
from caesura.http.vouchers import Vouchers, vouchers
from caesura.log import Log
from caesura.models.connections import Connections as ProviderConnections
from caesura.service.agents import Agents
from caesura.service.people import LOCAL
from caesura.service.service import Service
from caesura.settings import Settings, secret_of
from caesura.store import conversations
from caesura.store.open import file_of, open_database
from caesura.store.shares import Share

logger = logging.getLogger(__name__)

#: Seconds after its start in which a server is asked for little.
_SETTLED = 1.0
#: Modules that a start does without. FastAPI looks at the first when it builds a route.
_FIRST_TURN, _DEMO_RULES = ("pydantic.v1",), "caesura.agents.demo.plan"
#: The agent that leads the others, where the operator has chosen no default agent.
_LEAD = "lead_agent"


async def open_all(settings: Settings, spans: Any, stack: AsyncExitStack) -> Context:
    tokens = Tokens(secret_of(settings), settings.token_hours) if settings.auth == "password" else None
    langsmith = tracing_langsmith.allow(settings.langsmith, os.environ)
    observers = tracing.observers(os.environ, spans, langsmith)
    stack.push_async_callback(tracing.close, observers, spans)
    counted = Metrics()
    database = await open_database(settings.database)
    stack.push_async_callback(database.close)
    log = Log(database, committed=counted.committed)
    stack.push_async_callback(log.close)
    workspaces = settings.data_dir.absolute() / "workspaces"
    disk_share = DiskShare(
        settings.workspace_bytes_per_person,
        workspaces,
        lambda person: database.read(conversations.of_person, person),
        counted.over_share,
    )
    sandbox = sandbox_of(settings, disk_share)
    web = web_of(settings)
    stack.push_async_callback(web.aclose)
    disk = Disk(sandbox.quota, disk_share)
    registry = standard(sandbox, web, disk)
    model = _model(settings)
    catalog = _catalog(settings, registry.names, model)
    catalog.watch()
    stack.callback(catalog.close)
    replaced = _replaced_models(settings, catalog)
    providers = ProviderConnections(os.environ)
    stack.push_async_callback(providers.close)
    engine = Engine(
        database,
        log,
        catalog,
        registry,
        workspaces=workspaces,
        default_model=model,
        replaced_models=replaced,
        environ=os.environ,
        limits=RunLimits(
            run=settings.stream_timeout,
            log=settings.turn_bytes,
            graph_state=settings.graph_state_bytes,
            results=settings.result_bytes,
            results_of_person=settings.result_bytes_per_person or sys.maxsize,
        ),
        history_bytes=settings.history_cache_bytes,
        lease=settings.lease,
        capacity=settings.runs,
        observers=observers,
        connections=providers,
    )
    agents = Agents(catalog, settings.default_agent, model, replaced)
    service = Service(
        database,
        log,
        engine,
        agents,
        Workspaces(workspaces, origin_of(settings), disk_share.forget),
        disconnect_grace=settings.disconnect_grace,
        registration=settings.registers,
        share=Share(
            runs=settings.runs_per_person,
            questions=settings.questions_per_person,
            conversations=settings.conversations_per_person,
            stored_bytes=settings.stored_bytes_per_person,
        ),
        refused=counted.over_share,
        disk=disk,
    )
    if tokens is None:
        await service.people.ensure(LOCAL)
    spawn = engine.spawn
    rates = Limits(
        limits.shared(settings.redis_url, spawn),
        requests=settings.rate_requests,
        runs=settings.rate_runs,
        logins=settings.rate_logins,
        registrations=settings.rate_registrations,
        refused=counted.refused,
    )
    stack.push_async_callback(rates.aclose)
    if settings.redis_url is not None:
        from caesura.service.mirror import Mirror  # Redis' client is slow to import, and rarely needed
        from caesura.service.redis_entries import RedisEntries

        mirror = Mirror(database, RedisEntries(settings.redis_url), agents.mirrored)
        engine.changes.listen(mirror.changed)
        stack.push_async_callback(mirror.aclose)
        spawn(mirror.keep())
    each = settings.streams_per_person or sys.maxsize
    streams = EventStreams(settings.sse_ping_interval, settings.stream_ttl, each)
    gate = Gate(service, tokens, await _vouchers(settings, spawn), settings.root_path)
    service.start()
    spawn(gate.watch(streams))
    spawn(_tell_of(sandbox))
    spawn(_prepare(model))
    stack.callback(streams.abort)
    stack.push_async_callback(service.drain, settings.drain)
    return Context(
        service=service,
        gate=gate,
        limits=rates,
        streams=streams,
        pages=Pages(settings.default_page_size, settings.max_page_size),
        metrics=counted,
        default_on_disconnect=settings.on_disconnect,
        lead_agent=_lead_agent(settings),
        origins=settings.origins,
        root=settings.root_path,
    )


async def _vouchers(settings: Settings, spawn: Spawn) -> Vouchers | None:
    """Tokens of the service that vouches for people. A file of keys is read now, so that its faults are told
    now; a URL is not, because its server may start later than this one."""
    issuer = settings.issuer
    if issuer is None:
        return None
    if issuer.key is not None and issuer.key == secret_of(settings):
        raise StartupError("CAESURA_JWT_KEY must not be the secret of this server: it could sign as anybody")
    accepted, keys = vouchers(issuer, spawn)
    if keys is not None and not issuer.remote:
        try:
            count = await keys.read()
        except Unreadable as error:
            raise StartupError(f"CAESURA_JWT_JWKS: {error}") from error
        if not count:
            told = f"{issuer.jwks} has no key for {', '.join(issuer.algorithms)}"
            raise StartupError(f"CAESURA_JWT_JWKS: {told}")
    return accepted


def sandbox_of(settings: Settings, share: DiskShare | None = None) -> Sandbox:
    """The sandbox for commands. It hides the server's own files from them, wherever they are."""
    hide = hiding.hidden(settings.data_dir, settings.agents_dir, files=[file_of(settings.database)])
    quota = Quota(bytes=settings.workspace_bytes)
    return Sandbox(quota=quota, hide=hide, at_once=settings.sandboxes, share=share)


def web_of(settings: Settings) -> Web:
    """The web that agents may search and read."""
    endpoint = None
    if settings.search_url is not None:
        key = settings.search_key.get_secret_value() if settings.search_key is not None else None
        endpoint = Endpoint(settings.search_url, settings.search_kind, key)
    return Web(endpoint, Allowed(settings.fetch_allow))


def origin_of(settings: Settings) -> str:
    """An identifier of the database that stays the same when the data folder is moved."""
    path = file_of(settings.database)
    if path is None:
        url = make_url(settings.database)
        return f"{url.host}:{url.port}/{url.database}"
    folder = settings.data_dir.absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


async def _tell_of(sandbox: Sandbox) -> None:
    """Log which protections of the sandbox work on this machine, and which do not."""
    if reason := await sandbox.unavailable():
        logger.warning("%s", reason)
        return
    logger.info("commands run in a sandbox: no network, a read-only system, the workspace alone")
    for weakness in await sandbox.weaknesses():
        logger.warning("sandbox: %s", weakness)


async def _prepare(model: str) -> None:
    """Load what a first turn needs, soon after the start, when usually nobody waits for the server."""
    modules = [*_FIRST_TURN, *((_DEMO_RULES,) if model == DEMO else ())]
    await asyncio.sleep(_SETTLED)
    await Aside("caesura-prepare").run(lambda: [import_module(name) for name in modules])


def _catalog(settings: Settings, tools: Collection[str], model: str) -> Catalog:
    if settings.agents_dir is not None and not settings.agents_dir.is_dir():
        raise StartupError(f"CAESURA_AGENTS_DIR: there is no folder {settings.agents_dir}")

    started = False

    def loaded(agent: Agent) -> None:
        if started:
            logger.info("agent %s was loaded again from %s", agent.name, agent.path.name)
        if found := shortage(agent, model, os.environ, settings.model_map):
            logger.warning("%s", found)
        for caution in cautions(agent, redis=settings.redis_url is not None):
            logger.warning("%s", caution)

    catalog = Catalog(
        settings.agents_dir,
        tools,
        builtin=BUILTIN if settings.built_in_agents else None,
        report=_warn,
        environ=os.environ,
        loaded=loaded,
    )
    started = True
    if missing := lack(catalog, settings.default_agent, settings.agents_dir, settings.built_in_agents):
        raise StartupError(missing)
    return catalog


def _lead_agent(settings: Settings) -> str:
    chosen = "default_agent" in settings.model_fields_set or not settings.built_in_agents
    return settings.default_agent if chosen else _LEAD


def _model(settings: Settings) -> str:
    name = default_model(os.environ, settings.model)
    try:
        chat_models(Model(), name, os.environ, ProviderConnections(os.environ))
    except ModelUnavailable as error:
        # Without the setting the model follows from a provider's variable, which the message names.
        where = "CAESURA_MODEL: " if settings.model is not None else ""
        raise StartupError(f"{where}{error.message} (or CAESURA_MODEL=demo)") from error
    return name


def _replaced_models(settings: Settings, catalog: Catalog) -> dict[str, str]:
    default = default_model(os.environ, settings.model)
    for name, model in settings.model_map.items():
        try:
            chat_models(Model(primary=model), default, os.environ, ProviderConnections(os.environ))
        except ModelUnavailable as error:
            raise StartupError(f"CAESURA_MODEL_MAP: {name}={model}: {error.message}") from error
    for name in unmatched(settings.model_map, (agent.spec.model for agent in catalog.agents()), default):
        logger.warning("CAESURA_MODEL_MAP: no agent names the model %s", name)
    return settings.model_map


def _warn(fault: Fault) -> None:
    logger.warning("an agent file is at fault: %s", fault)
