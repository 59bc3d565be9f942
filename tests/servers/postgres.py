"""A PostgreSQL of the tests' own."""

import signal
from pathlib import Path

import psycopg
from psycopg import sql

from tests.servers.binaries import need
from tests.servers.server import Server

USER = "caesura"


class Postgres(Server):
    """A PostgreSQL with a fresh cluster, full durability and trust on the loopback."""

    name = "PostgreSQL"
    graceful = signal.SIGINT
    # SIGKILL would leave its children to find out by themselves; this is its own word for a crash.
    brutal = signal.SIGQUIT

    def __init__(self) -> None:
        self.program = need("postgres")
        self.initdb = need("initdb")
        super().__init__()

    @property
    def data(self) -> Path:
        """The cluster's folder."""
        return self.folder / "data"

    @property
    def url(self) -> str:
        """The maintenance database."""
        return self.database_url("postgres")

    def database_url(self, name: str) -> str:
        """Where to connect for the database of that name."""
        return f"postgresql://{USER}@{self.host}:{self.port}/{name}"

    def prepare(self) -> None:
        """Make the cluster."""
        self.run(
            [
                str(self.initdb),
                f"--pgdata={self.data}",
                f"--username={USER}",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ]
        )

    def command(self) -> list[str]:
        """How to run the server in the foreground."""
        settings = {
            "listen_addresses": self.host,
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "max_connections": "200",
        }
        flags = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return [str(self.program), "-D", str(self.data), *flags]

    def answers(self) -> bool:
        """Whether a client gets through."""
        try:
            with psycopg.connect(self.url, connect_timeout=5):
                return True
        except psycopg.OperationalError:
            return False

    def create_database(self, name: str) -> str:
        """Make an empty database and say where it is."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            # To copy files takes half of the time that writing them to the log takes, which 15 and later do.
            how = sql.SQL("strategy file_copy" if connection.info.server_version >= 150_000 else "")
            connection.execute(sql.SQL("create database {} {}").format(sql.Identifier(name), how))
        return self.database_url(name)

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
        statement = sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name))
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement)
