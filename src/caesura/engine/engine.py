"""The engine put together: agents made ready, a runner, and the supervisor that owns its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from caesura.agents.loader import Catalog
from caesura.agents.tools.registry import Registry
from caesura.agents.tools.share import DiskShare
from caesura.engine.build import Builder
from caesura.engine.history import BYTES as HISTORY_BYTES
from caesura.engine.history import History
from caesura.engine.limits import Limits
from caesura.engine.runner import Runner
from caesura.engine.supervisor import Supervisor
from caesura.log import Log
from caesura.store.database import Database


class Engine:
    def __init__(
        self,
        database: Database,
        log: Log,
        catalog: Catalog,
        registry: Registry,
        *,
        workspaces: Path,
        default_model: str,
        environ: Mapping[str, str],
        limits: Limits | None = None,
        lease: float = 15.0,
        poll: float = 1.0,
        callbacks: Sequence[Any] = (),
        history_bytes: int = HISTORY_BYTES,
        disk_share: DiskShare | None = None,
        capacity: int = 500,
    ) -> None:
        """`callbacks` are LangChain's: they watch every model and tool call. `history_bytes` bounds what is
        kept in memory of conversations that go on. `disk_share` is that of the registry's tools. `capacity`
        is how many turns run at once."""
        self.catalog = catalog
        self.registry = registry
        self.builder = Builder(catalog, registry, database, default_model, environ)
        self.supervisor = Supervisor(database, lease=lease, poll=poll, capacity=capacity)
        self.workspaces = workspaces
        self.disk_share = disk_share or DiskShare()
        self.runner = Runner(
            database,
            log,
            self.builder,
            workspaces,
            limits or Limits(),
            self.supervisor.spawn,
            callbacks,
            History(database, history_bytes),
        )

    def start(self) -> None:
        """Begin to work, first of all on what a process that died has left."""
        self.supervisor.start(self.runner)

    async def drain(self, grace: float = 5.0) -> None:
        """Let go of all runs, so that the next process goes on with them."""
        await self.supervisor.drain(grace)
