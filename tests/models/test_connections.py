"""Proxies, certificates, and hosts that cannot be reached."""

from __future__ import annotations

import asyncio
import shutil
import socket
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

import pytest
import uvloop

from caesura.core.messages import Message
from caesura.models.connections import Connections
from caesura.models.failures import ModelError
from caesura.models.model import Piece
from caesura.models.providers import make
from caesura.models.proxies import Proxy, Unsupported, proxy_for
from tests import programs
from tests.models.authority import Authority
from tests.models.conftest import KEY
from tests.models.middleman import middleman, sock
from tests.models.samples import OPENAI
from tests.models.wire import STREAM, Wire, hangs, says, streams, wire


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None and not programs.required():
        pytest.skip("needs openssl")
    return Authority(tmp_path_factory.mktemp("authority"))


async def ask(url: str, environ: Mapping[str, str], connect_timeout: float = 30.0) -> list[Piece]:
    async with Connections(environ, connect_timeout=connect_timeout) as connections:
        model = make(
            "openai:test",
            base_url=url,
            api_key=KEY,
            temperature=None,
            options={},
            idle_timeout=30.0,
            environ=environ,
            connections=connections,
        )
        return [piece async for piece in model.stream([Message("user", "hi")])]


async def refused(url: str, environ: Mapping[str, str], connect_timeout: float = 30.0) -> str:
    with pytest.raises(ModelError) as caught:
        await ask(url, environ, connect_timeout)
    assert caught.value.kind == "connection"
    return str(caught.value)


async def test_a_refused_connection_is_told_in_ordinary_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        told = await refused(f"http://127.0.0.1:{port}/v1", {})
        assert told == f"127.0.0.1:{port} cannot be reached: connection refused"
        told = await refused(f"http://localhost:{port}/v1", {})
        assert told == f"localhost:{port} cannot be reached: connection refused"
        through = await refused("http://nowhere.test/v1", {"HTTP_PROXY": f"http://127.0.0.1:{port}"})
        assert through == f"the proxy 127.0.0.1:{port} cannot be reached: connection refused"


async def test_a_secure_provider_is_trusted_through_the_environment(
    authority: Authority, tmp_path: Path
) -> None:
    folder = str(authority.folder(tmp_path / "certificates"))
    file = str(authority.certificate)
    async with wire(authority.context) as provider:
        for environ in (
            {"SSL_CERT_FILE": file},
            {"SSL_CERT_DIR": folder},
            {"REQUESTS_CA_BUNDLE": file},
            {"REQUESTS_CA_BUNDLE": folder},
        ):
            provider.answer(streams(OPENAI.events))
            assert await ask(provider.url, environ) == OPENAI.pieces
        assert "not trusted" in await refused(provider.url, {})
        assert "cannot be read" in await refused(provider.url, {"SSL_CERT_FILE": f"{file}-missing"})


async def test_a_certificate_for_another_host_is_not_taken(authority: Authority) -> None:
    async with wire(authority.context) as provider:
        url = provider.url.replace("127.0.0.1", "127.0.0.2")
        try:
            with socket.create_connection(("127.0.0.2", int(url.rpartition(":")[2])), timeout=1):
                pass
        except OSError:
            url = provider.url.replace("127.0.0.1", "localhost.localdomain")
        await refused(url, {"SSL_CERT_FILE": str(authority.certificate)})
        assert provider.requests == []


async def test_a_provider_that_does_not_speak_tls_cannot_be_reached() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        told = await refused(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", {})
    assert "no secure connection" in told


async def test_a_request_goes_through_a_proxy(provider: Wire) -> None:
    async with middleman() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            provider.answer(streams(OPENAI.events))
            assert await ask(f"{provider.url}/v1", {name: f"http://{proxy.address}"}) == OPENAI.pieces
        assert len(proxy.heads) == 4
        assert proxy.heads[0].startswith(f"POST {provider.url}/v1/chat/completions HTTP/1.1")
        for environ in ({"NO_PROXY": "127.0.0.1"}, {"no_proxy": "127.0.0.0/8"}, {"NO_PROXY": "x,*"}):
            provider.answer(streams(OPENAI.events))
            await ask(f"{provider.url}/v1", {"HTTP_PROXY": proxy.address, **environ})
        assert len(proxy.heads) == 4


async def test_a_secure_request_goes_through_a_tunnel(authority: Authority) -> None:
    trusted = {"SSL_CERT_FILE": str(authority.certificate)}
    async with wire(authority.context) as provider, middleman() as proxy:
        for address in (proxy.address, f"http://{proxy.address}"):
            provider.answer(streams(OPENAI.events))
            assert await ask(provider.url, {"HTTPS_PROXY": address, **trusted}) == OPENAI.pieces
        assert proxy.heads[0].startswith(f"CONNECT {provider.url.removeprefix('https://')} HTTP/1.1")
        assert all(KEY not in head for head in proxy.heads)
        proxy.status = 502
        assert "502" in await refused(provider.url, {"HTTPS_PROXY": proxy.address, **trusted})


async def test_a_proxy_may_want_a_password(authority: Authority, provider: Wire) -> None:
    trusted = {"SSL_CERT_FILE": str(authority.certificate)}
    async with wire(authority.context) as secure, middleman() as proxy:
        proxy.credentials = "Basic bWU6cGEgc3M="
        known = f"http://me:pa%20ss@{proxy.address}"
        secure.answer(streams(OPENAI.events))
        provider.answer(streams(OPENAI.events))
        assert await ask(secure.url, {"HTTPS_PROXY": known, **trusted}) == OPENAI.pieces
        assert await ask(provider.url, {"HTTP_PROXY": known}) == OPENAI.pieces
        assert "proxy-authorization" not in secure.requests[-1].headers
        told = await refused(secure.url, {"HTTPS_PROXY": f"http://me:wrong@{proxy.address}", **trusted})
        assert "password" in told
        assert "wrong" not in told


@pytest.mark.parametrize("password", ["hunter2", "hunter2-is-a-long-password"])
async def test_no_login_that_is_repeated_is_told(provider: Wire, password: str) -> None:
    coded = b64encode(f"bob:{password}".encode()).decode()
    for said in (f"no: {password}", f"no: {coded}", f"no: Basic {coded}", f"no: bob:{password}"):
        provider.answer(says(407, said.encode()), says(407, {"error": {"message": said}}))
        with_login = provider.url.replace("://", f"://bob:{password}@")
        for url, environ in ((with_login, {}), ("http://127.0.0.1:9", {"http_proxy": with_login})):
            told = await refused(url, environ)
            assert "no: " in told
            assert password not in told
            assert coded not in told


async def test_the_proxy_itself_may_be_secure(authority: Authority, provider: Wire) -> None:
    trusted = {"SSL_CERT_FILE": str(authority.certificate)}
    async with wire(authority.context) as secure, middleman(authority.context) as proxy:
        for there, name in ((provider, "HTTP_PROXY"), (secure, "HTTPS_PROXY")):
            there.answer(streams(OPENAI.events))
            assert await ask(there.url, {name: f"https://{proxy.address}", **trusted}) == OPENAI.pieces


def test_all_of_it_works_on_the_servers_event_loop(authority: Authority) -> None:
    async def main() -> None:
        trusted = {"SSL_CERT_FILE": str(authority.certificate)}
        async with wire(authority.context) as secure, middleman() as proxy:
            for environ in (trusted, {"HTTPS_PROXY": proxy.address, **trusted}):
                secure.answer(streams(OPENAI.events))
                assert await ask(secure.url, environ) == OPENAI.pieces
            await asyncio.sleep(0.05)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


async def test_requests_go_through_a_socks_proxy(authority: Authority, provider: Wire) -> None:
    trusted = {"SSL_CERT_FILE": str(authority.certificate)}
    async with wire(authority.context) as secure, sock() as proxy:
        for there, scheme in ((provider, "socks5"), (secure, "socks5h")):
            there.answer(streams(OPENAI.events))
            url = there.url.replace("127.0.0.1", "localhost")
            assert await ask(url, {"ALL_PROXY": f"{scheme}://{proxy.address}", **trusted}) == OPENAI.pieces
            assert proxy.asked[-1] == ("localhost", int(url.rpartition(":")[2]))
            assert there.requests[-1].line == "POST /chat/completions HTTP/1.1"
        proxy.login = (b"me", b"pa ss")
        provider.answer(streams(OPENAI.events))
        known = {"ALL_PROXY": f"socks5://me:pa%20ss@{proxy.address}"}
        assert await ask(provider.url, known) == OPENAI.pieces
        for wrong in (f"socks5://me:wrong@{proxy.address}", f"socks5://{proxy.address}"):
            told = await refused(provider.url, {"ALL_PROXY": wrong})
            assert "password" in told
            assert "wrong" not in told
        proxy.answer = 5
        assert "refused" in await refused(provider.url, known)
    async with middleman() as other:
        await refused(provider.url, {"ALL_PROXY": f"socks5://{other.address}"}, connect_timeout=0.5)


async def test_a_proxy_that_cannot_be_used_is_told(provider: Wire) -> None:
    assert "socks4" in await refused(provider.url, {"ALL_PROXY": "socks4://me:secret@127.0.0.1:9"})
    assert "secret" not in await refused(provider.url, {"ALL_PROXY": "socks4://me:secret@127.0.0.1:9"})
    await refused(provider.url, {"HTTP_PROXY": f"127.0.0.1:{closed_port()}"})


async def test_a_host_that_cannot_be_reached_is_told() -> None:
    assert "127.0.0.1" in await refused(f"http://127.0.0.1:{closed_port()}", {})
    assert "nowhere.invalid" in await refused("http://nowhere.invalid", {})


async def test_a_host_that_does_not_answer_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port = server.getsockname()[1]
        waiting = []
        for _ in range(4):  # nobody accepts these, so the next one waits
            waiting.append(one := socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        assert "in time" in await refused(f"http://127.0.0.1:{port}", {}, connect_timeout=0.3)
        for one in waiting:
            one.close()


async def test_a_tls_handshake_that_hangs_is_given_up(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        assert "in time" in await refused(url, {}, connect_timeout=1.0)


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_connections_cost_nothing_until_they_are_used() -> None:
    assert Connections({})._context is None


@pytest.mark.parametrize(
    ("listed", "host", "excepted"),
    [
        ("", "a.example", False),
        ("*", "a.example", True),
        ("example", "a.example", True),
        (".example", "a.example", True),
        ("*.example", "a.example", True),
        ("ample", "a.example", False),
        ("a.example:443", "a.example", True),
        ("a.example:80", "a.example", False),
        ("A.Example", "a.example", True),
        ("10.0.0.0/8, b", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("::1", "::1", True),
        ("[::1]", "::1", True),
        ("10.1.2.3:443", "10.1.2.3", True),
    ],
)
def test_some_hosts_are_reached_without_the_proxy(listed: str, host: str, excepted: bool) -> None:
    found = proxy_for("https", host, 443, {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": listed})
    assert found == (None if excepted else Proxy("proxy", 3128, False))


def test_the_proxy_of_a_cgi_request_is_not_believed() -> None:
    environ = {"HTTP_PROXY": "http://evil", "REQUEST_METHOD": "GET"}
    assert proxy_for("http", "a.example", 80, environ) is None
    with pytest.raises(Unsupported):
        proxy_for("http", "a.example", 80, {"HTTP_PROXY": "http://host:no"})


async def test_closing_the_pool_closes_what_is_in_use(provider: Wire) -> None:
    provider.answer(hangs(STREAM))
    connections = Connections()
    response = await connections.request("POST", provider.url, {}, b"{}", idle_timeout=30.0)
    await connections.close()
    with pytest.raises(ModelError):
        await response.read()
    await provider.gone.acquire()
