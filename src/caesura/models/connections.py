"""The connections to providers: one pool for each process."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Self

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Connections:
    """Costs nothing until the first call. `environ` names proxies and certificates."""

    def __init__(self, environ: Mapping[str, str] = _NOTHING) -> None:
        self._environ = environ

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection, also those that are in use."""
