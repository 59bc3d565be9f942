"""Empty databases, one of them always made ahead: PostgreSQL takes a tenth of a second for each."""

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self
from uuid import uuid4

import psycopg

from tests.servers.postgres import Postgres


class Databases:
    """Hands out empty databases of one server, and drops them when they come back."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._behind_the_scenes = ThreadPoolExecutor(max_workers=1, thread_name_prefix="databases")
        self._spare = self._make_ahead()

    def take(self) -> str:
        """The name of a database nobody has used."""
        try:
            return self._spare.result()
        except psycopg.Error:
            # The last test broke the server while the spare was being made.
            return self._make()
        finally:
            self._spare = self._make_ahead()

    def give_back(self, name: str) -> None:
        """Drop it before long; if the server is broken by then, it goes with the server."""
        self._behind_the_scenes.submit(self._server.drop_database, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._behind_the_scenes.shutdown(cancel_futures=True)

    def _make_ahead(self) -> Future[str]:
        return self._behind_the_scenes.submit(self._make)

    def _make(self) -> str:
        name = f"test_{uuid4().hex}"
        self._server.create_database(name)
        return name
