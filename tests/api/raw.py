"""Raw sockets: requests that no ordinary client would send."""

import json
import re
import socket
from contextlib import suppress
from typing import Any, NamedTuple

GET = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def connect(port: int, buffer: int | None = None, host: str = "127.0.0.1") -> socket.socket:
    """A connection from this loopback address; `buffer` is the size of the receive buffer in bytes."""
    made = socket.socket()
    made.bind((host, 0))
    made.settimeout(30)
    if buffer is not None:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.connect(("127.0.0.1", port))
    return made


def push(connection: socket.socket, data: bytes) -> None:
    """Send all data, even if the server closes the connection."""
    with suppress(ConnectionError):
        connection.sendall(data)


def rest(connection: socket.socket) -> bytes:
    """All bytes until the server closes the connection."""
    seen = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            seen += piece
    return seen


def answers(data: bytes) -> list[Answer]:
    """The responses in these bytes; each has a Content-Length."""
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        found.append(Answer(int(first.split()[1]), headers, data[:length]))
        data = data[length:]
    return found


def ask(port: int, *requests: bytes) -> list[Answer]:
    """Send these bytes and read until the connection is closed."""
    with connect(port) as connection:
        for request in requests:
            push(connection, request)
        return answers(rest(connection))


def first(connection: socket.socket) -> Answer:
    """One answer of a connection that stays open."""
    seen = b""
    while not (found := re.search(rb"content-length: (\d+)\r\n(?:.*\r\n)*?\r\n", seen)) or len(
        seen
    ) < found.end() + int(found[1]):
        piece = connection.recv(65536)
        assert piece, seen
        seen += piece
    (answer,) = answers(seen)
    return answer
