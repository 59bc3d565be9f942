"""A service that vouches for people: it signs tokens with a JOSE library that is not the server's, and serves
its public keys on loopback."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

ISSUER, AUDIENCE = "https://login.example.org/", "chat"
ALGORITHMS = ["HS256", "HS384", "HS512", "RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"]


def rsa(kid: str | None = "first", bits: int = 2048) -> RSAKey:
    return RSAKey.generate_key(bits, {"kid": kid} if kid else None, private=True)


def ec(kid: str, curve: str = "P-256") -> ECKey:
    return ECKey.generate_key(curve, {"kid": kid}, private=True)


def ed(kid: str) -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": kid}, private=True)


def claims(**changes: Any) -> dict[str, Any]:
    """Good claims, with these changes; None leaves one out."""
    now = int(time.time())
    good = {"iss": ISSUER, "aud": AUDIENCE, "sub": "carol", "iat": now, "exp": now + 300}
    return {name: value for name, value in (good | changes).items() if value is not None}


def signed(key: Key, algorithm: str = "RS256", header: dict[str, Any] | None = None, **changes: Any) -> str:
    named = {"kid": key.kid} if key.kid else {}
    full = {"alg": algorithm, **named, **(header or {})}
    content = json.dumps(claims(**changes)).encode()
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    return jws.serialize_compact(full, content, key, registry=registry)


def shared(secret: str) -> OctKey:
    return OctKey.import_key(secret)


def public(*keys: Key, **members: Any) -> bytes:
    return json.dumps({"keys": [{**key.as_dict(private=False), **members} for key in keys]}).encode()


class KeyServer:
    """`body` is what it gives, and `status` how; `asked` counts the requests."""

    def __init__(self, body: bytes) -> None:
        self.body, self.status, self.asked = body, 200, 0
        self.called, self.pause = threading.Event(), threading.Event()
        self.pause.set()
        self.url = ""


@contextmanager
def key_server(body: bytes) -> Iterator[KeyServer]:
    state = KeyServer(body)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked += 1
            state.called.set()
            state.pause.wait(30)
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(state.body)))
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            try:
                self.wfile.write(state.body)
            except OSError:
                return  # the reader has left

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}/keys.json"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            state.pause.set()
            server.shutdown()
            thread.join()
