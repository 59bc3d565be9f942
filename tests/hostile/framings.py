"""Framings: messages whose end is ambiguous, or that may not be HTTP at all."""

from collections.abc import Callable

Framing = Callable[[bytes, bytes, bytes, bytes], bytes]
"""From method, target, other headers (each with its end of line) and body to the message."""

_CHUNKED = b"Transfer-Encoding: chunked\r\n"
_LINES: dict[str, bytes] = {
    "a negative length": b"Content-Length: -1\r\n",
    "a length with a plus": b"Content-Length: +2\r\n",
    "a length in hex": b"Content-Length: 0x2\r\n",
    "a length with an underscore": b"Content-Length: 1_0\r\n",
    "a length that is no number": b"Content-Length: two\r\n",
    "a length in other digits": "Content-Length: ٢\r\n".encode(),
    "an empty length": b"Content-Length: \r\n",
    "a length of many digits": b"Content-Length: " + b"9" * 30 + b"\r\n",
    "a length of very many digits": b"Content-Length: " + b"9" * 6000 + b"\r\n",
    "a length of many zeros": b"Content-Length: " + b"0" * 500 + b"2\r\n",
    "a list of lengths": b"Content-Length: 2, 2\r\n",
    "a length that is too small": b"Content-Length: 1\r\n",
    "a length that is too large": b"Content-Length: 500\r\n",
    "a length over the limit": b"Content-Length: 1048577\r\n",
    "the same length twice": b"Content-Length: 2\r\nContent-Length: 2\r\n",
    "two lengths": b"Content-Length: 2\r\nContent-Length: 5\r\n",
    "a length and chunks": b"Content-Length: 2\r\n" + _CHUNKED,
    "chunks and a length": _CHUNKED + b"Content-Length: 2\r\n",
    "chunks that are none": _CHUNKED,
    "chunks twice": _CHUNKED + _CHUNKED,
    "chunks in chunks": b"Transfer-Encoding: chunked, chunked\r\n",
    "chunks and identity": b"Transfer-Encoding: chunked, identity\r\n",
    "identity": b"Transfer-Encoding: identity\r\n",
    "gzip and chunks": b"Transfer-Encoding: gzip, chunked\r\n",
    "an unknown coding": b"Transfer-Encoding: xchunked\r\n",
    "a coding with a tab": b"Transfer-Encoding:\tchunked\r\n",
    "a coding with an odd sign": b"Transfer-Encoding: \x0bchunked\r\n",
    "a coding before the colon": b"Transfer-Encoding : chunked\r\n",
    "a folded header": b"X-Folded: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n",
    "a folded length": b"Content-Length:\r\n 2\r\n",
    "a header without a colon": b"nonsense\r\n",
    "a header without a name": b": x\r\n",
    "a header with a space in its name": b"X Y: z\r\n",
    "a header with NUL": b"X: a\x00b\r\n",
    "a header name that is not ASCII": b"X-\xff: y\r\n",
    "a header with a bare CR": b"X: a\rb\r\n",
    "a header with a bare LF": b"X: a\nY: b\n",
    "a header of 100 kB": b"X: " + b"x" * 100_000 + b"\r\n",
    "20,000 headers": b"X: y\r\n" * 20_000,
    "two hosts": b"Host: a\r\nHost: b\r\n",
    "a space before a header": b" X: y\r\n",
}
_CHUNKS: dict[str, bytes] = {
    "good chunks": b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "no last chunk": b"2\r\n{}\r\n",
    "a negative chunk": b"-2\r\n{}\r\n0\r\n\r\n",
    "a chunk in odd digits": b"0x2\r\n{}\r\n0\r\n\r\n",
    "a huge chunk": b"ffffffffffffffff\r\n{}",
    "a chunk of too many digits": b"f" * 40 + b"\r\n{}",
    "a chunk that is too short": b"5\r\n{}\r\n0\r\n\r\n",
    "a chunk that is too long": b"1\r\n{}\r\n0\r\n\r\n",
    "chunks with extensions": b"2;" + b"a=b;" * 3000 + b'c="d\r\n{}\r\n0\r\n\r\n',
    "chunks with trailers": b"2\r\n{}\r\n0\r\nAuthorization: x\r\nContent-Length: 5\r\n\r\n",
    "chunks with endless trailers": b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 20_000,
    "many small chunks": b"1\r\n \r\n" * 5000 + b"2\r\n{}\r\n0\r\n\r\n",
    "chunks over the limit": b"10000\r\n"
    + b"x" * 65536
    + b"\r\n"
    + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 17,
    "empty lines": b"\r\n\r\n\r\n",
}
_VERSIONS = (
    b"HTTP/1.0",
    b"HTTP/0.9",
    b"HTTP/2.0",
    b"HTTP/3",
    b"http/1.1",
    b"HTTP/1.10",
    b"HTTP/11",
    b"",
    b"\xff",
    b"FTP/1",
)


def _with_lines(lines: bytes) -> Framing:
    return lambda method, target, headers, body: (
        b"%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s" % (method, target, headers, lines, body)
    )


def _with_chunks(chunks: bytes) -> Framing:
    return lambda method, target, headers, body: (
        b"%s %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s" % (method, target, headers, _CHUNKED, chunks)
    )


def _with_version(version: bytes) -> Framing:
    return lambda method, target, headers, body: (
        b"%s %s %s\r\nHost: x\r\n%s\r\n" % (method, target, version, headers)
    )


def _always(message: bytes) -> Framing:
    return lambda method, target, headers, body: message


FRAMINGS: tuple[tuple[str, Framing], ...] = (
    *((name, _with_lines(lines)) for name, lines in _LINES.items()),
    *((name, _with_chunks(chunks)) for name, chunks in _CHUNKS.items()),
    *((f"the version {version!r}", _with_version(version)) for version in _VERSIONS),
    ("no host", lambda method, target, headers, body: b"%s %s HTTP/1.1\r\n\r\n" % (method, target)),
    (
        "bare line feeds",
        lambda method, target, headers, body: b"%s %s HTTP/1.1\nHost: x\n\n" % (method, target),
    ),
    (
        "empty lines first",
        lambda method, target, headers, body: b"\r\n\n\r\n%s %s HTTP/1.1\r\n\r\n" % (method, target),
    ),
    ("spaces first", lambda method, target, headers, body: b"  %s %s HTTP/1.1\r\n\r\n" % (method, target)),
    ("a method of 5,000 letters", lambda method, target, headers, body: b"X" * 5000 + b" / HTTP/1.1\r\n\r\n"),
    ("a method that is not ASCII", _always(b"G\xcbT / HTTP/1.1\r\n\r\n")),
    ("a TLS hello", _always(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 200)),
    ("HTTP/2", _always(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")),
    ("nothing but zeros", _always(b"\x00" * 1000)),
    ("an SSH greeting", _always(b"SSH-2.0-x\r\n")),
    ("a proxy header", _always(b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\n\r\n")),
    ("an answer", _always(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    ("a line without an end", _always(b"GET /" + b"a" * 100_000)),
    ("headers without an end", _always(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 3000)),
    ("nothing", _always(b"\r\n")),
)
