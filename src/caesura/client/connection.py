"""The connection: sends requests and opens streams, and retries them if that is safe."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from caesura.client import trust
from caesura.client.errors import ClientError, Unreachable, refusal
from caesura.client.patience import Patience, Waiting
from caesura.core import json_data, urls
from caesura.models import certificates

_REFUSED_FOR_NOW = (429, 503)
_LOST_ON_THE_WAY = (502, 504)
#: The codes of failures that last until the person does something.
_WAITING_IS_NO_HELP = ("too_many_questions", "untrusted")
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.InvalidURL)
#: A body as it is sent, or what makes it anew for each attempt.
Raw = bytes | Callable[[], AsyncIterable[bytes]]
#: The exceptions of a failed request.
FAILURES = (ClientError, httpx.RequestError, httpx.InvalidURL)


class Connection:
    def __init__(
        self,
        base_url: str,
        token: str | None,
        credentials: tuple[str, str] | None,
        patience: float,
        silence: float,
        waiting: Waiting | None,
    ) -> None:
        self.url = base_url.strip().rstrip("/")
        self.token, self.credentials = token, credentials
        self.patience, self.waiting = patience, waiting
        self._reading = httpx.Timeout(30.0, connect=5.0, read=silence)
        self._http = _http(self.url)

    @property
    def token(self) -> str | None:
        return self._token

    @token.setter
    def token(self, token: str | None) -> None:
        """Strips white space. A token that no header can carry is refused here, without showing it. Otherwise
        the error would look like a network fault."""
        text = (token or "").strip()
        if not _fits_a_header(text) or " " in text:
            raise ClientError(401, "unauthenticated", "this cannot be a token: one is ASCII without spaces")
        self._token = text or None

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        key: str | None = None,
        repeatable: bool = True,
        patience: Patience | None = None,
        raw: Raw | None = None,
        size: int | None = None,
    ) -> Any:
        """The server's response. A request that is not `repeatable` is retried only if it was certainly not
        done before. `raw` is sent in place of a `body` in JSON; if it is made anew for each attempt, it has
        `size` bytes."""
        patience = patience or self.patient()
        if key is not None and not _fits_a_header(key):
            raise ClientError(0, "bad_input", "an Idempotency-Key is printable ASCII")
        headers = {"Idempotency-Key": key} if key is not None else {}
        headers |= {"Content-Type": "application/octet-stream"} if raw is not None else {}
        headers |= {"Content-Length": str(size)} if size is not None else {}
        written = json_data.dumps(body) if body is not None else None
        while True:
            try:
                content = raw() if callable(raw) else raw if raw is not None else written
                return await self._answer(method, path, content, headers, params)
            except FAILURES as error:
                if not repeatable and _may_be_done(error):
                    raise self.failure(error) from error
                await self.recover(error, patience)

    @asynccontextmanager
    async def stream(self, path: str, after: int) -> AsyncIterator[httpx.Response]:
        """A stream after this cursor, or the 204 response that says that there are no more events."""
        headers = self._headers({"Last-Event-ID": str(after), "Accept": "text/event-stream"})
        async with self._http.stream("GET", path, headers=headers, timeout=self._reading) as response:
            if response.status_code >= 400:
                await response.aread()
                raise refusal(response)
            yield response

    async def delete(self, path: str) -> None:
        patience = self.patient()
        try:
            await self.request("DELETE", path, patience=patience)
        except ClientError as error:
            if error.status != 404 or not patience.waits:
                raise  # otherwise an earlier attempt succeeded, and only its response was lost

    @asynccontextmanager
    async def download(self, path: str) -> AsyncIterator[httpx.Response]:
        """A response whose body is read piece by piece."""
        async with self._http.stream("GET", path, headers=self._headers({})) as response:
            if response.status_code >= 300:
                await response.aread()
                raise refusal(response)
            yield response

    async def recover(self, error: Exception, patience: Patience) -> None:
        """Prepare for another attempt (log in, or wait), or raise the error."""
        failure = self.failure(error)
        if failure.status == 401 and self.credentials is not None and not patience.let_in_again:
            patience.let_in_again = True
            await self.login(*self.credentials)
        elif failure.code in _WAITING_IS_NO_HELP:
            raise failure
        elif isinstance(failure, Unreachable) or failure.status in _REFUSED_FOR_NOW + _LOST_ON_THE_WAY:
            await patience.wait(failure)
        else:
            raise failure

    async def login(self, username: str, password: str) -> str:
        body = {"username": username, "password": password}
        patience = self.patient()
        patience.let_in_again = True  # if a log-in is refused, another log-in does not help
        given = await self.request("POST", "/api/auth/login", body, patience=patience)
        token = member(given, "access_token")
        self.credentials, self.token = (username, password), token
        return token

    def failure(self, error: Exception) -> ClientError:
        if isinstance(error, ClientError):
            return error
        if isinstance(error, httpx.InvalidURL):
            return ClientError(0, "bad_input", f"this cannot be asked for: {error}")
        if isinstance(error, httpx.DecodingError):
            return stranger(0)
        if isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError)):
            return Unreachable("connection lost")
        if (untrusted := trust.failure(error, httpx.URL(self.url).host)) is not None:
            return untrusted
        return Unreachable(f"cannot reach {urls.shown(self.url)}: {str(error) or type(error).__name__}")

    def patient(self) -> Patience:
        return Patience(self.patience, self.waiting)

    async def close(self) -> None:
        await self._http.aclose()

    async def _answer(
        self,
        method: str,
        path: str,
        content: bytes | AsyncIterable[bytes] | None,
        headers: Mapping[str, str],
        params: Mapping[str, Any] | None,
    ) -> Any:
        headers = self._headers(headers)
        response = await self._http.request(method, path, content=content, headers=headers, params=params)
        if response.status_code >= 300:
            raise refusal(response)
        return _read(response)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = {"Content-Type": "application/json", **more}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers


def path_of(*parts: str) -> str:
    """A path of the native API. Parts are escaped, so that an id cannot lead to another path."""
    return "/".join(("/api/v2", *map(_quoted, parts)))


def _quoted(part: str) -> str:
    # A path that ends in `..` means its parent, and deleting that may be something else.
    dots = part in (".", "..")
    return "%2E" * len(part) if dots else quote(part, safe="", errors="replace")


def member(answer: Any, name: str) -> str:
    """A text member that every Caesura server sends in this response."""
    if not isinstance(answer, dict) or not isinstance(answer.get(name), str):
        raise stranger(200)
    return str(answer[name])


def stranger(status: int) -> ClientError:
    return ClientError(status, "http", "this is no Caesura server")


def _read(response: httpx.Response) -> Any:
    try:
        return json_data.loads(response.content) if response.content else None
    except ValueError as error:
        raise stranger(response.status_code) from error


def _may_be_done(error: Exception) -> bool:
    if isinstance(error, ClientError):
        return error.status in _LOST_ON_THE_WAY
    return not isinstance(error, _NEVER_SENT)


def _http(url: str) -> httpx.AsyncClient:
    # A proxy from the environment cannot reach this machine's own loopback.
    address = _address(url)
    proxied = not _is_loopback(address.host)
    timeout = httpx.Timeout(30.0, connect=5.0)
    try:
        verify = trust.context(address.scheme)
        return httpx.AsyncClient(base_url=url, timeout=timeout, trust_env=proxied, verify=verify)
    except certificates.Untrusted as error:
        raise Unreachable(str(error), "bad_environment") from error
    except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:  # a part of a password may be in it
        reason = "the proxy that the environment names cannot be used"
        raise Unreachable(reason, "bad_environment") from error


def _address(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = httpx.URL("")
    if not _is_address(parsed):
        raise Unreachable(f"{urls.shown(url)} is not an address such as http://127.0.0.1:8000", "bad_address")
    return parsed


def _is_address(url: httpx.URL) -> bool:
    """httpx parses some texts that are not addresses: it accepts any number as a port, and escapes characters
    that no host name can have."""
    if url.scheme not in ("http", "https") or url.query or url.fragment:
        return False
    named = bool(url.host) and ("%" not in url.host or ":" in url.host)
    return named and (url.port is None or 0 < url.port < 65_536)


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
