"""The public keys of another service: a JSON Web Key Set in a file or behind a URL.

The set is read when it is first needed, and again when it is old or a token names a key that is not in it.
Attempts have a pause between them, so that nobody can make this server flood the other one. A key that is
not in the set as it is known is none. If the set cannot be read, the keys that are known stay good for a day.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from caesura.agents.aside import Aside
from caesura.core import json_data
from caesura.core.addresses import is_loopback
from caesura.core.errors import Unavailable
from caesura.models import certificates, obstacles

logger = logging.getLogger(__name__)

#: Seconds between two attempts, after which the set is read again, and for which known keys are good.
_PAUSE, _FRESH, _LONGEST = 10.0, 300.0, 24 * 3600.0
#: Seconds and bytes for reading the set, and how many keys of it are used.
_SECONDS, _BYTES, _MOST = 5.0, 256 * 1024, 100
_SMALLEST_RSA = 2048
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "EdDSA": "Ed25519"}
#: The members of a public key. Others, such as those of a private key, are not read.
_MEMBERS = frozenset({"kty", "n", "e", "crv", "x", "y"})

#: Whether this is the signature of these bytes.
Verify = Callable[[bytes, bytes], bool]
Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]
Source = Callable[[], Awaitable[bytes]]


class Unreadable(Exception):
    """The set cannot be read; the message says why, to the operator."""


class Key(NamedTuple):
    """A key for one algorithm."""

    id: str | None
    algorithm: str
    verify: Verify


class KeySet:
    def __init__(self, place: str, algorithms: Sequence[str], spawn: Spawn, *, pause: float = _PAUSE) -> None:
        """`place` is a URL, or the path of a file."""
        self._fetch = reader(place, algorithms)
        self._algorithms, self._spawn, self._pause = algorithms, spawn, pause
        self._keys: list[Key] = []
        self._loading: asyncio.Task[None] | None = None
        self._tried_at = self._read_at = -_LONGEST
        self._failing = False
        #: Changes with the keys.
        self.edition = 0

    async def find(self, id: str | None, algorithm: str) -> list[Key]:
        """The keys that this token may be signed with. Without an id there must be only one. Raises
        `Unavailable` while no key at all is known."""
        self.keep_fresh()
        found = self._fitting(id, algorithm)
        if not found:
            await self._load()
            found = self._fitting(id, algorithm)
        if not self._keys and self._failing:
            raise Unavailable(
                "the keys that tokens are checked with cannot be read now", self._seconds_left()
            )
        return found

    def keep_fresh(self) -> None:
        """Begin to read the set if it is old. Its keys are good enough meanwhile, unless it is too old."""
        age = time.monotonic() - self._read_at
        if age > _FRESH:
            self._begin()
        if age > _LONGEST and self._keys:
            self._replace([])

    async def read(self) -> int:
        """Read the set now. Returns how many keys it has for the algorithms. Raises `Unreadable`."""
        self._tried_at = time.monotonic()
        self._replace(await self._fetch())
        self._read_at = time.monotonic()
        return len(self._keys)

    def _fitting(self, id: str | None, algorithm: str) -> list[Key]:
        found = [key for key in self._keys if key.algorithm == algorithm and id in (None, key.id)]
        return found if id is not None or len(found) == 1 else []

    def _seconds_left(self) -> int:
        """Seconds until the set may be read again."""
        return max(math.ceil(self._tried_at + self._pause - time.monotonic()), 1)

    def _replace(self, keys: list[Key]) -> None:
        self._keys = keys
        self.edition += 1

    async def _load(self) -> None:
        """Read the set, or wait for an attempt that is under way, unless one was made just now."""
        if task := self._begin():
            await asyncio.wait([task])

    def _begin(self) -> asyncio.Task[None] | None:
        # A task of its own: a request that is cancelled must not end it for others.
        if self._loading is None and time.monotonic() - self._tried_at >= self._pause:
            self._loading = self._spawn(self._try())
        return self._loading

    async def _try(self) -> None:
        failed_before, self._failing = self._failing, True
        try:
            if not await self.read():
                logger.warning("CAESURA_JWT_JWKS has no key for %s now", ", ".join(self._algorithms))
            self._failing = False
        except Unreadable as error:
            if not failed_before:
                logger.warning("the keys of CAESURA_JWT_JWKS cannot be read: %s", error)
        else:
            if failed_before:
                logger.warning("the keys of CAESURA_JWT_JWKS can be read again")
        finally:
            self._loading = None


def reader(place: str, algorithms: Sequence[str]) -> Callable[[], Awaitable[list[Key]]]:
    """Reads the set at this place, a URL or the path of a file. Raises `Unreadable`."""
    aside = Aside("caesura-keys")
    source = _remote(place, aside) if "://" in place else _file(Path(place), aside)

    async def read() -> list[Key]:
        return await aside.run(_keys, await source(), algorithms)

    return read


def _file(path: Path, aside: Aside) -> Source:
    def read() -> bytes:
        try:
            with path.open("rb") as file:
                return _small(file.read(_BYTES + 1))
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror}") from error

    return lambda: aside.run(read)


def _remote(url: str, aside: Aside) -> Source:
    told = shown(url)
    direct = is_loopback(urlsplit(url).hostname or "")

    def client() -> Any:
        import httpx

        verify = certificates.context(os.environ)
        return httpx.AsyncClient(verify=verify, trust_env=not direct, timeout=_SECONDS)

    async def fetch() -> bytes:
        await aside.run(import_module, "httpx")
        from httpx import HTTPError, InvalidURL

        # The last two: a proxy of the environment that cannot be used.
        unread = HTTPError, InvalidURL, certificates.Untrusted, OSError, TimeoutError, ValueError, ImportError
        try:
            async with asyncio.timeout(_SECONDS), await aside.run(client) as opened:
                # Not packed: a small answer cannot become a large one. A redirect is not followed.
                asked = opened.stream("GET", url, headers={"Accept-Encoding": "identity"})
                async with asked as response:
                    if response.status_code != 200:
                        raise Unreadable(f"{told} answers {response.status_code}")
                    data = b""
                    async for part in response.aiter_raw(_BYTES):
                        data = _small(data + part)
                    return data
        except unread as error:
            raise Unreadable(f"{told}: {_why(error, url, direct)}") from error

    return fetch


def _why(error: Exception, url: str, direct: bool) -> str:
    from httpx import ConnectError, InvalidURL, TimeoutException

    if isinstance(error, TimeoutException | TimeoutError):
        return f"no answer within {_SECONDS:g} seconds"
    if isinstance(error, ConnectError) and (
        why := obstacles.behind(error, url, {} if direct else os.environ)
    ):
        return why
    if isinstance(error, InvalidURL | ValueError | ImportError):  # its text may have a part of a password
        return "the proxy that the environment names cannot be used"
    return (
        str(error) if isinstance(error, certificates.Untrusted) else f"{type(error).__name__} {error}".strip()
    )


def shown(place: str) -> str:
    """The place of a set, for people: the query of a URL may have a key in it."""
    return place.partition("?")[0] if "://" in place else place


def _small(data: bytes) -> bytes:
    if len(data) > _BYTES:
        raise Unreadable(f"it has more than {_BYTES} bytes")
    return data


def _keys(data: bytes, algorithms: Sequence[str]) -> list[Key]:
    """The usable keys of a set. One that cannot be used does not hide the others."""
    try:
        document = json_data.loads(data)
    except ValueError as error:
        raise Unreadable("it is not JSON") from error
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise Unreadable("it is no JSON Web Key Set: it has no list `keys`")
    items = [item for item in listed[:_MOST] if isinstance(item, dict)]
    return [key for item in items for algorithm in algorithms if (key := _key(item, algorithm))]


def _key(item: dict[str, Any], algorithm: str) -> Key | None:
    from jwt import algorithms, exceptions  # loads `cryptography`, which few servers need

    id = item.get("kid")
    if not _meant_for(item, algorithm) or not (id is None or isinstance(id, str)):
        return None
    method = algorithms.get_default_algorithms()[algorithm]
    try:
        public = method.from_jwk({name: value for name, value in item.items() if name in _MEMBERS})
    except (exceptions.InvalidKeyError, ValueError, TypeError, KeyError, AttributeError) as error:
        logger.warning("a key of CAESURA_JWT_JWKS cannot be used: %s", error)
        return None
    if item["kty"] == "RSA" and public.key_size < _SMALLEST_RSA:
        logger.warning("a key of CAESURA_JWT_JWKS is not used: it has less than %s bits", _SMALLEST_RSA)
        return None
    return Key(id, algorithm, lambda signed, signature: bool(method.verify(signed, public, signature)))


def _meant_for(item: dict[str, Any], algorithm: str) -> bool:
    if item.get("use", "sig") != "sig" or item.get("alg", algorithm) != algorithm:
        return False
    if isinstance(uses := item.get("key_ops"), list) and "verify" not in uses:
        return False
    if algorithm.startswith(("RS", "PS")):
        return item.get("kty") == "RSA"
    kind = "OKP" if algorithm == "EdDSA" else "EC"
    return item.get("kty") == kind and item.get("crv") == _CURVES[algorithm]
