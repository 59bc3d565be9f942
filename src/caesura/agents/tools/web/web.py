"""The web as one thing that a server opens and closes: its tools, and their connections."""

from __future__ import annotations

from caesura.agents.tools.tool import Tool
from caesura.agents.tools.web import fetch, search
from caesura.agents.tools.web.engine import Endpoint
from caesura.agents.tools.web.fetcher import Fetcher
from caesura.agents.tools.web.network import Resolve
from caesura.agents.tools.web.reader import Reader
from caesura.agents.tools.web.searcher import Searcher
from caesura.core.addresses import Allowed


class Web:
    """Nothing is connected or started before a tool is called."""

    def __init__(
        self,
        endpoint: Endpoint | None = None,
        allowed: Allowed | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._searcher = Searcher(endpoint)
        self._fetcher, self._reader = Fetcher(allowed, resolve), Reader()

    def tools(self) -> list[Tool]:
        return [search.tool(self._searcher), fetch.tool(self._fetcher, self._reader)]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._searcher.aclose()
        await self._fetcher.aclose()
