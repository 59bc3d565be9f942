"""`caesura serve` with a gauge in its loop. The first argument is the file to which the gauge writes its
figures."""

import socket
import sys
from pathlib import Path

from caesura.cli import main
from caesura.http.server import Server
from tests.hostile.gauge import Gauge


def install(gauge: Gauge) -> None:
    serve = Server.serve

    async def measured(self: Server, sockets: list[socket.socket] | None = None) -> None:
        gauge.begin()
        await serve(self, sockets)

    Server.serve = measured  # type: ignore[method-assign]


if __name__ == "__main__":
    install(Gauge(Path(sys.argv.pop(1))))
    main()
