"""A server behind nginx and behind Caddy, with TLS and below a root path, as deploy/ configures them."""

import re
import socket
import ssl
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.async_api import expect

from tests.api.reading import conversation, send
from tests.api.server import PASSWORD, Served
from tests.browser.conftest import MakeVisitor
from tests.effort import thorough
from tests.programs import needs
from tests.servers.binaries import find
from tests.servers.proxies import ROOT, Caddy, Nginx, Proxy

#: `make servers` does not install Caddy, which is large for what it adds here.
_CADDY = pytest.mark.skipif(find("caddy") is None, reason="caddy is not installed")
PROXIES = [pytest.param(Nginx, marks=needs("nginx")), pytest.param(Caddy, marks=_CADDY)]


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("below")
    with Served(folder, root_path=ROOT, trusted_proxies=("127.0.0.1",), agents_dir=None) as server:
        yield server


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request: pytest.FixtureRequest, below: Served) -> Iterator[Proxy]:
    with request.param.start(below.port) as proxy:
        yield proxy


@pytest.fixture
def alice(below: Served, proxy: Proxy) -> Iterator[httpx.Client]:
    headers = below.headers("alice")
    with httpx.Client(
        base_url=proxy.url,
        headers=headers,
        verify=False,  # noqa: S501 - nobody has signed it
        timeout=60,
        trust_env=False,
    ) as client:
        yield client


def test_words_come_through_as_they_are_said(alice: httpx.Client) -> None:
    """The answer takes seconds. A proxy that keeps it back would give it in one piece at its end."""
    turn = send(alice, conversation(alice), "slow 30")["id"]
    came: list[bytes] = []
    with alice.stream("GET", f"/api/v2/turns/{turn}/events") as response:
        assert response.status_code == 200
        came += response.iter_raw()
    assert b"event: finished" in b"".join(came)
    assert len(came) > 5


def test_uploads_and_downloads_come_through_whole(alice: httpx.Client) -> None:
    place, content = conversation(alice), bytes(3_000_000)
    url = f"/api/v2/conversations/{place}/files/a"
    assert alice.put(url, content=content).json()["size"] == len(content)
    assert alice.get(url).content == content


@pytest.mark.parametrize(
    "path", ["metrics", "ready", "%6detrics", "x/../ready", "/metrics", "metrics/", "metrics?a"]
)
def test_numbers_and_readiness_are_for_the_servers_own_port(
    alice: httpx.Client, below: Served, path: str
) -> None:
    assert alice.get(f"{ROOT}/{path}").status_code == 404
    with below.client(None) as near:
        assert near.get("/ready").status_code == near.get(f"{ROOT}/metrics").status_code == 200


def test_a_client_behind_a_proxy_sees_why_its_body_is_refused(proxy: Proxy, below: Served) -> None:
    if isinstance(proxy, Caddy):
        pytest.skip("Caddy cuts a client that sends on after the response")
    token = below.headers("alice")["Authorization"]
    body = bytes(8 * 1024 * 1024)
    head = f"POST {ROOT}/api/v2/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((proxy.host, proxy.port), 60) as plain, context.wrap_socket(plain) as made:
        made.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert made.recv(65536).startswith(b"HTTP/1.1 413 ")


@pytest.mark.skipif(not thorough(), reason="takes seconds")
def test_a_body_that_never_ends_is_cut_off_and_its_sender_sees_why(proxy: Proxy, below: Served) -> None:
    if isinstance(proxy, Caddy):
        pytest.skip("Caddy cuts it at once")
    token = below.headers("alice")["Authorization"]
    head = f"POST {ROOT}/api/v2/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection((proxy.host, proxy.port), 60) as plain, context.wrap_socket(plain) as made:
        made.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        with pytest.raises((ssl.SSLError, ConnectionError)):
            _pour(made)
        assert made.recv(65536).startswith(b"HTTP/1.1 413 ")


def _pour(into: socket.socket) -> None:
    """By itself nginx would read on for half a minute: some 1,200 pieces."""
    for _ in range(500):
        into.sendall(b"10000\r\n" + bytes(65536) + b"\r\n")
        time.sleep(0.02)


def test_the_server_knows_that_its_clients_use_tls(below: Served, proxy: Proxy) -> None:
    below.token("carol")
    given = {"username": "carol", "password": PASSWORD}
    signed = httpx.post(f"{proxy.url}/api/auth/session", json=given, verify=False, trust_env=False)  # noqa: S501
    assert signed.headers["set-cookie"].startswith("__Secure-caesura_session=")


@pytest.mark.asyncio(loop_scope="session")
async def test_a_person_talks_on_the_page_behind_a_proxy(
    below: Served, proxy: Proxy, guest: MakeVisitor
) -> None:
    below.token("dora")
    person = await guest(proxy.url, ignore_https_errors=True)
    person.name = "dora"
    page = person.page
    await page.goto(proxy.url)
    await page.get_by_label("Name").fill("dora")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(person.box).to_be_visible()
    await person.say("echo good day")
    await expect(person.answer).to_contain_text("good day")
    await expect(page).to_have_url(re.compile(f"{re.escape(proxy.url)}/c/"))
    await page.reload()
    await expect(person.answer).to_contain_text("good day")
    await page.locator(f'a[href="{ROOT}/inbox"]').click()
    await expect(page).to_have_url(f"{proxy.url}/inbox")
    await page.goto(f"{proxy.url}/docs")
    await expect(page.get_by_text("/api/v2/me").first).to_be_visible()
