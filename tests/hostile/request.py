"""One request, as the bytes on the wire, and the manner in which they are sent."""

from dataclasses import dataclass, field, replace
from typing import Literal

#: `whole` waits for the response. `short` reads only briefly, for requests whose end is ambiguous. `cut`
#: sends `part` of the request and disconnects. `slow` sends it in small pieces.
Manner = Literal["whole", "short", "cut", "slow"]
Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class Request:
    what: str
    method: str = "GET"
    target: bytes = b"/"
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    manner: Manner = "whole"
    part: float = 1.0
    #: The whole message, if it cannot be built from the fields above.
    raw: bytes | None = None
    #: Whether the request must be refused: its target belongs to somebody else, or to nobody.
    refused: bool = False
    #: The person who sends the request; "" if unknown.
    person: str = ""
    #: Requests that are sent after this one, in the same write.
    then: tuple["Request", ...] = field(default=())

    def with_headers(self, *headers: Header) -> "Request":
        return replace(self, headers=(*self.headers, *headers))

    @property
    def message(self) -> bytes:
        if self.raw is not None:
            return self.raw
        named = {name.lower() for name, _ in self.headers}
        headers = list(self.headers)
        if b"host" not in named:
            headers.insert(0, (b"Host", b"127.0.0.1"))
        if not named & {b"content-length", b"transfer-encoding"} and (self.body or self.method == "POST"):
            headers.append((b"Content-Length", b"%d" % len(self.body)))
        lines = [b"%s %s HTTP/1.1" % (self.method.encode(), self.target)]
        lines += [b"%s: %s" % header for header in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body

    @property
    def large(self) -> bool:
        return any(len(item.body) > 64 * 1024 for item in (self, *self.then))

    def __str__(self) -> str:
        message = self.message
        shown = message if len(message) < 900 else message[:700] + b" ... " + message[-100:]
        return f"{self.what} [{self.manner}, {len(message)} bytes] {shown!r}"
