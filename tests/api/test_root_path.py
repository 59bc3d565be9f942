"""A server below a root path: every address that a client is told has it, and requests work with it and
without it, as a proxy passes them on."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from caesura.client import Client
from caesura.core.errors import StartupError
from caesura.http.page import BUILT
from caesura.settings import Settings
from tests.api.reading import conversation, send
from tests.api.server import PASSWORD, Served

ROOT = "/tools/caesura"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    with Served(folder, root_path=f"{ROOT}/", trusted_proxies=("127.0.0.1",)) as server:
        yield server


@pytest.mark.parametrize("before", [ROOT, ""])
def test_every_api_is_there_with_the_root_path_and_without_it(
    alice: httpx.Client, nobody: httpx.Client, before: str
) -> None:
    assert alice.get(f"{before}/api/v2/me").json() == {"user_id": "alice"}
    assert nobody.get(f"{before}/health").status_code == 200
    missing = alice.get(f"{before}/api/v2/nothing")
    assert missing.status_code == 404
    assert "error" in missing.json()
    policy = alice.get(f"{before}/api/v2/me").headers["content-security-policy"]
    assert "default-src 'none'" in policy


def test_a_path_that_only_looks_like_the_root_path_is_not_one(alice: httpx.Client) -> None:
    assert alice.get(f"{ROOT}x/api/v2/me").status_code == 404
    assert alice.get(f"{ROOT}{ROOT}/api/v2/me").status_code == 404


def test_the_openapi_page_and_its_document_name_the_root_path(nobody: httpx.Client) -> None:
    page = nobody.get(f"{ROOT}/docs").text
    files = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(files) == 3
    for file in [*files, f"{ROOT}/openapi.json"]:
        assert file.startswith(f"{ROOT}/")
        assert nobody.get(file).status_code == 200
    assert f"'{ROOT}/openapi.json'" in page
    document = nobody.get(f"{ROOT}/openapi.json").json()
    assert document["servers"] == [{"url": ROOT}]
    flow = document["components"]["securitySchemes"]["OAuth2PasswordBearer"]["flows"]["password"]
    credentials = {"username": "nobody", "password": PASSWORD}
    assert nobody.post(flow["tokenUrl"], data=credentials).status_code == 401


@pytest.mark.parametrize("before", [ROOT, ""])
def test_a_ticket_may_name_its_stream_in_both_ways(
    alice: httpx.Client, nobody: httpx.Client, before: str
) -> None:
    stream = f"/api/v2/turns/{send(alice, conversation(alice), 'echo hi')['id']}/events"
    made = alice.post(f"{ROOT}/api/v2/stream-ticket", json={"stream": before + stream})
    opened = nobody.get(f"{ROOT}{stream}", params={"ticket": made.json()["ticket"]})
    assert opened.status_code == 200
    assert "event: finished" in opened.text


def test_the_address_of_a_stream_has_the_root_path(alice: httpx.Client) -> None:
    made = alice.post(f"{ROOT}/api/v1/chat", json={"content": "echo hi", "agent": "assistant"}).json()
    assert made["stream_url"].startswith(f"{ROOT}/api/v1/stream/")
    assert "event: complete" in alice.get(made["stream_url"]).text


def test_the_cookie_of_a_session_is_for_the_root_path_alone(server: Served, nobody: httpx.Client) -> None:
    server.token("carol")
    given = {"username": "carol", "password": PASSWORD}
    plain = nobody.post(f"{ROOT}/api/auth/session", json=given)
    assert plain.status_code == 200, plain.text
    assert plain.headers["set-cookie"].startswith("caesura_session=")
    assert f"Path={ROOT};" in plain.headers["set-cookie"]
    assert nobody.get(f"{ROOT}/api/auth/session").json()["user_id"] == "carol"
    nobody.cookies.clear()
    secure = {"X-Forwarded-Proto": "https"}
    signed = nobody.post("/api/auth/session", json=given, headers=secure)
    name, _, rest = signed.headers["set-cookie"].partition("=")
    assert name == "__Secure-caesura_session"
    assert f"Path={ROOT};" in rest
    assert "Secure" in rest
    cookie = {"Cookie": f"{name}={rest.partition(';')[0]}"}
    created = nobody.post("/api/v2/conversations", json={}, headers=secure | cookie)
    assert created.status_code == 403  # without the token against other pages
    csrf = {"X-CSRF-Token": signed.json()["csrf"]}
    assert nobody.post("/api/v2/conversations", json={}, headers=secure | cookie | csrf).status_code == 201
    out = nobody.delete("/api/auth/session", headers=secure | cookie | csrf)
    assert out.headers["set-cookie"].startswith(f'{name}=""; ')
    assert f"Path={ROOT};" in out.headers["set-cookie"]


async def test_the_client_works_below_a_root_path(server: Served) -> None:
    async with Client(f"{server.url}{ROOT}", server.token("alice")) as client:
        place = (await client.create()).id
        turn = await client.send(place, "echo hi")
        names = [event.event.__class__.__name__ async for event in client.events(turn.id)]
        assert names[-1] == "SegmentEnded"
        await client.files.put(place, "a", b"x")
        assert await client.files.get(place, "a") == b"x"


@pytest.mark.skipif(not (BUILT / "index.html").is_file(), reason="the page is not built")
@pytest.mark.parametrize("path", [ROOT, f"{ROOT}/", f"{ROOT}/c/conv-1", f"{ROOT}/inbox", "/"])
def test_the_page_finds_its_files_from_everywhere(nobody: httpx.Client, path: str) -> None:
    document = nobody.get(path, headers={"Accept": "text/html"})
    assert f'data-root="{ROOT}"' in document.text
    files = re.findall(r'(?:src|href|data-en|data-zh)="([^"]+)"', document.text)
    assert len(files) > 5
    for file in files:
        assert nobody.get(urljoin(str(document.url), file)).status_code == 200, file


def test_no_file_of_the_page_names_another_one_from_the_top() -> None:
    """A script, a style or a frame would not find it below a root path."""
    for path in BUILT.rglob("*.*"):
        if path.suffix in (".js", ".css", ".html") and path.name != "index.html":
            assert not re.search(r"""["'(]/(assets|frames)/""", path.read_text("utf-8")), path.name


def test_frames_keep_their_policy_below_a_root_path(nobody: httpx.Client) -> None:
    policy = nobody.get(f"{ROOT}/frames/document.html").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts;")


@pytest.mark.parametrize(
    "path", ["caesura", "/a b", "/a//b", "/../x", "/a/..", '/"', "/api", "/docs/x", "//x", "/" + "x" * 200]
)
def test_a_root_path_that_cannot_work_stops_the_start(tmp_path: Path, path: str) -> None:
    with pytest.raises(StartupError, match=r"--root-path|begin like"):
        Settings.load(root_path=path, data_dir=tmp_path)
