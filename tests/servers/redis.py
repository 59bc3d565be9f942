"""A Redis of the tests' own."""

from redis import Redis as Client
from redis.exceptions import RedisError

from tests.servers.binaries import need
from tests.servers.server import Server


class Redis(Server):
    """A Redis that keeps nothing: what it held is gone after a restart."""

    name = "Redis"

    def __init__(self) -> None:
        self.program = need("redis-server")
        super().__init__()

    @property
    def url(self) -> str:
        """Where to connect."""
        return f"redis://{self.host}:{self.port}/0"

    def command(self) -> list[str]:
        """How to run the server in the foreground."""
        return [
            str(self.program),
            *("--bind", self.host),
            *("--port", str(self.port)),
            *("--dir", str(self.folder)),
            *("--save", ""),
            *("--appendonly", "no"),
            *("--daemonize", "no"),
        ]

    def answers(self) -> bool:
        """Whether a client gets through."""
        try:
            with Client.from_url(self.url, socket_timeout=5) as client:
                return bool(client.ping())
        except (RedisError, OSError):
            return False

    def flush(self) -> None:
        """Forget everything."""
        with Client.from_url(self.url) as client:
            client.flushall()
