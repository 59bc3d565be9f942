"""The web as one thing that a server opens and closes: its tools, and their connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from caesura.agents.aside import Aside
from caesura.agents.tools.tool import Tool
from caesura.agents.tools.web import fetch, search
from caesura.agents.tools.web.engine import Endpoint, Hit
from caesura.agents.tools.web.extract import Text
from caesura.core.addresses import Allowed

if TYPE_CHECKING:
    from caesura.agents.tools.web.fetcher import Fetcher, Page
    from caesura.agents.tools.web.network import Resolve
    from caesura.agents.tools.web.reader import Reader
    from caesura.agents.tools.web.searcher import Searcher


class _Parts(NamedTuple):
    searcher: Searcher
    fetcher: Fetcher
    reader: Reader


class Web:
    """Nothing is loaded, connected or started before a tool is called: the library for connections is large,
    and many servers never need it."""

    def __init__(
        self,
        endpoint: Endpoint | None = None,
        allowed: Allowed | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._endpoint, self._allowed, self._resolve = endpoint, allowed, resolve
        self._made: _Parts | None = None
        self._making = asyncio.Lock()

    def tools(self) -> list[Tool]:
        return [search.tool(self), fetch.tool(self, self)]

    async def search(self, query: str, person: str) -> list[Hit]:
        return await (await self._parts()).searcher.search(query, person)

    async def fetch(self, text: str, person: str) -> Page:
        return await (await self._parts()).fetcher.fetch(text, person)

    async def read(self, page: Page, person: str) -> Text:
        return await (await self._parts()).reader.read(page, person)

    def check(self, text: str) -> None:
        self._made = self._made or self._make()
        self._made.fetcher.check(text)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._made is not None:
            await self._made.searcher.aclose()
            await self._made.fetcher.aclose()

    async def _parts(self) -> _Parts:
        async with self._making:
            if self._made is None:
                made = await Aside("caesura-web").run(self._make)
                if self._made is None:  # `check` may have been quicker
                    self._made = made
            return self._made

    def _make(self) -> _Parts:
        from caesura.agents.tools.web.fetcher import Fetcher
        from caesura.agents.tools.web.reader import Reader
        from caesura.agents.tools.web.searcher import Searcher

        return _Parts(Searcher(self._endpoint), Fetcher(self._allowed, self._resolve), Reader())
