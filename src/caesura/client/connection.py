"""The connection: one request or stream at a time, tried again where that is safe."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from caesura.client.errors import ClientError, Unreachable, refusal
from caesura.client.patience import Patience, Waiting
from caesura.core import plain

_REFUSED_FOR_NOW = (429, 503)
_LOST_ON_THE_WAY = (502, 504)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


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
        self.url = base_url.rstrip("/")
        self.token, self.credentials = token, credentials
        self.patience, self.waiting = patience, waiting
        self._reading = httpx.Timeout(30.0, connect=5.0, read=silence)
        # A proxy that the environment names knows nothing of this machine's own loopback.
        self._http = httpx.AsyncClient(
            base_url=self.url,
            timeout=httpx.Timeout(30.0, connect=5.0),
            trust_env=not _is_loopback(_host(self.url)),
        )

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
    ) -> Any:
        """What the server answers. One that is not `repeatable` is tried again only if it was surely not
        done the first time."""
        patience = patience or self.patient()
        headers = {"Idempotency-Key": key} if key is not None else {}
        while True:
            try:
                return await self._answer(method, path, body, headers, params)
            except (ClientError, httpx.TransportError) as error:
                if not repeatable and _may_be_done(error):
                    raise self.told(error) from error
                await self.recover(error, patience)

    @asynccontextmanager
    async def stream(self, path: str, after: int) -> AsyncIterator[httpx.Response]:
        """A stream from this cursor on, or the 204 that says that there is no more."""
        headers = self._headers({"Last-Event-ID": str(after), "Accept": "text/event-stream"})
        async with self._http.stream("GET", path, headers=headers, timeout=self._reading) as response:
            if response.status_code >= 400:
                await response.aread()
                raise refusal(response)
            yield response

    async def recover(self, error: Exception, patience: Patience) -> None:
        """Do what makes another attempt worthwhile, or raise what went wrong."""
        told = self.told(error)
        if told.status == 401 and self.credentials is not None and not patience.let_in_again:
            patience.let_in_again = True
            await self.login(*self.credentials)
        elif isinstance(told, Unreachable) or told.status in _REFUSED_FOR_NOW + _LOST_ON_THE_WAY:
            await patience.wait(told)
        else:
            raise told

    async def login(self, username: str, password: str) -> str:
        body = {"username": username, "password": password}
        patience = self.patient()
        patience.let_in_again = True  # a log-in that is refused is not helped by another one
        given = await self.request("POST", "/api/auth/login", body, patience=patience)
        self.credentials, self.token = (username, password), str(given["access_token"])
        return self.token

    def told(self, error: Exception) -> ClientError:
        if isinstance(error, ClientError):
            return error
        return Unreachable(f"cannot reach {self.url}: {str(error) or type(error).__name__}")

    def patient(self) -> Patience:
        return Patience(self.patience, self.waiting)

    async def close(self) -> None:
        await self._http.aclose()

    async def _answer(
        self,
        method: str,
        path: str,
        body: Any,
        headers: Mapping[str, str],
        params: Mapping[str, Any] | None,
    ) -> Any:
        content = plain.dumps(body) if body is not None else None
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


def _read(response: httpx.Response) -> Any:
    try:
        return plain.loads(response.content) if response.content else None
    except ValueError as error:
        raise ClientError(response.status_code, "http", "this is no Caesura server") from error


def _may_be_done(error: Exception) -> bool:
    if isinstance(error, ClientError):
        return error.status in _LOST_ON_THE_WAY
    return not isinstance(error, _NEVER_SENT)


def _host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Unreachable(f"{url} is not an address such as http://127.0.0.1:8000")
    return parsed.host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
