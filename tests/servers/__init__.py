"""Throw-away servers of the tests' own, on free loopback ports."""

from tests.servers.binaries import Missing
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis

__all__ = ["Missing", "Postgres", "Redis"]
