"""The web page: its files, where they are served, and with which headers."""

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from caesura.http import page
from caesura.http.headers import Headers

SCRIPT = b"export const words = 'one two three';" * 40


def _app(folder: Path) -> FastAPI:
    app = FastAPI(middleware=[Middleware(Headers)], docs_url=None, redoc_url=None)
    app.add_api_route("/health", lambda: {"status": "ok"})
    app.add_api_route("/only-post", lambda: {}, methods=["POST"])
    page.install(app, folder)
    return app


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "index.html": b"<!doctype html><title>Caesura</title>",
        "favicon.svg": b"<svg/>",
        "assets/index-abc123.js": SCRIPT,
        "assets/index-abc123.js.br": b"as if compressed",
        "assets/index-abc123.js.gz": gzip.compress(SCRIPT, mtime=0),
        "assets/index-abc123.css": b"body {}",
        "frames/document.html": b"<!doctype html>",
        "frames/diagram.html": b"<!doctype html>",
        "frames/files/diagram-abc123.js": SCRIPT,
        "sources.sha256": b"0",
    }
    built = tmp_path / "page"
    for name, body in files.items():
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_bytes(body)
    (tmp_path / "secret.txt").write_text("secret")
    return built


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(_app(folder), headers={"Accept-Encoding": "identity"}) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/inbox", "/c/06gykdhd92zbnqfb3ms1nq6c", "/?a=b"])
def test_every_screen_of_the_page_is_the_same_document_and_is_checked_each_time(
    client: TestClient, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert "<title>Caesura</title>" in answer.text


def test_a_file_with_a_hash_in_its_name_is_kept_for_good(client: TestClient) -> None:
    answer = client.get("/assets/index-abc123.css")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("br, gzip", "br", b"as if compressed"),
        ("gzip, deflate", "gzip", gzip.compress(SCRIPT, mtime=0)),
        ("br;q=0, gzip;q=0.5", "gzip", gzip.compress(SCRIPT, mtime=0)),
        ("*", "br", b"as if compressed"),
        ("*;q=0", None, SCRIPT),
        ("identity", None, SCRIPT),
        ("", None, SCRIPT),
    ],
)
def test_a_file_is_sent_in_the_best_encoding_that_the_client_takes(
    client: TestClient, accepted: str, encoding: str | None, body: bytes
) -> None:
    headers = {"Accept-Encoding": accepted}
    with client.stream("GET", "/assets/index-abc123.js", headers=headers) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["vary"] == "accept-encoding"
    assert hashlib.sha256(raw).digest() == hashlib.sha256(body).digest() or encoding == "gzip"
    assert answer.headers["content-length"] == str(len(raw))
    if encoding == "gzip":
        assert gzip.decompress(raw) == SCRIPT


def test_a_file_that_was_compressed_is_kept_in_memory_only_so(folder: Path) -> None:
    files = page.read(folder)
    assert set(files["/assets/index-abc123.js"].content.bodies) == {"br", "gzip"}
    assert set(files["/favicon.svg"].content.bodies) == {""}


def test_a_client_that_has_the_file_is_not_sent_it_again(client: TestClient) -> None:
    first = client.get("/assets/index-abc123.js")
    for tag in (
        first.headers["etag"],
        f"W/{first.headers['etag']}",
        f'"other", {first.headers["etag"]}',
        "*",
    ):
        again = client.get("/assets/index-abc123.js", headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    compressed = client.get("/assets/index-abc123.js", headers={"Accept-Encoding": "gzip"})
    assert compressed.headers["etag"] != first.headers["etag"]
    other = client.get("/assets/index-abc123.js", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200


def test_head_has_the_headers_of_get_and_no_body(client: TestClient) -> None:
    for path in ("/", "/assets/index-abc123.js", "/favicon.svg"):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(got.content))
        assert head.headers["etag"] == got.headers["etag"]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets//etc/passwd",
        "/assets/",
        "/assets/nothing.js",
        "/frames/",
        "/frames/nothing.html",
        "/sources.sha256",
        "/index-abc123.js",
        "/c/",
        "/c/a/b",
        "/api/v2/nothing",
        "/metrics",
        "/nowhere",
    ],
)
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text


HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/settings", "/c/", "/c/a/b", "/nowhere/at/all", "/apiary", "/健康"])
def test_a_person_who_is_lost_gets_the_page_and_a_program_the_error(client: TestClient, path: str) -> None:
    found = client.get(path, headers=HTML)
    assert (found.status_code, found.text) == (404, client.get("/").text)
    again = client.get(path, headers=HTML | {"If-None-Match": found.headers["etag"]})
    assert (again.status_code, again.text) == (404, found.text)
    assert client.head(path, headers=HTML).status_code == 404
    for asked in ({}, {"Accept": "application/json"}):
        answer = client.get(path, headers=asked)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


@pytest.mark.parametrize(
    "path", ["/api", "/api/v2/nothing", "/docs/x", "/assets/nothing", "/frames/nothing", "/a.php", "/x/.env"]
)
def test_where_no_person_looks_a_browser_gets_the_error_too(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")


def test_a_known_path_keeps_its_own_refusals_for_a_browser(client: TestClient) -> None:
    assert client.post("/settings", headers=HTML).status_code == 404
    assert client.get("/only-post", headers=HTML).status_code == 405
    assert client.get("/health", headers=HTML).json() == {"status": "ok"}


def test_the_page_takes_no_other_method(client: TestClient) -> None:
    assert client.post("/").status_code == 405
    assert client.delete("/assets/index-abc123.js").status_code == 405


def test_the_policy_of_the_page_allows_no_script_and_no_style_in_a_document(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert client.get("/").headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    ("name", "scripts"), [("document", "'unsafe-inline'"), ("diagram", "'self'"), ("unknown", "'self'")]
)
def test_a_frame_has_no_origin_and_no_network(client: TestClient, name: str, scripts: str) -> None:
    headers = client.get(f"/frames/{name}.html").headers
    directives = dict(
        part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";")
    )
    assert directives["sandbox"] == "allow-scripts"
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == scripts
    assert directives["frame-ancestors"] == "'self'"
    assert directives["form-action"] == "'none'"
    assert not {"connect-src", "frame-src", "worker-src"} & directives.keys()
    # Only a document has scripts of somebody else, which could make frames of their own.
    wanted = ("'script'", "default") if name == "document" else (None, None)
    assert (directives.get("require-trusted-types-for"), directives.get("trusted-types")) == wanted
    assert headers.get("connection-allowlist") == ("()" if name == "document" else None)
    assert headers["x-frame-options"] == "SAMEORIGIN"


def test_only_the_files_that_frames_load_may_be_read_from_everywhere(client: TestClient) -> None:
    answer = client.get("/frames/files/diagram-abc123.js")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    for path in ("/", "/assets/index-abc123.js", "/favicon.svg", "/health", "/frames/document.html"):
        assert "access-control-allow-origin" not in client.get(path).headers


def test_where_no_page_was_built_one_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    with TestClient(_app(tmp_path / "nothing")) as client:
        answer = client.get("/")
        assert answer.status_code == 200
        assert "make web" in answer.text
        assert "<style" not in answer.text
        assert client.get("/assets/missing.css").status_code == 200
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/c/some").text == answer.text


def test_a_path_is_no_longer_looked_up_on_the_disk_once_the_page_is_read(folder: Path) -> None:
    app = _app(folder)
    (folder / "assets" / "later.js").write_text("late")
    (folder / "index.html").write_text("changed")
    with TestClient(app) as client:
        assert client.get("/assets/later.js").status_code == 404
        assert "changed" not in client.get("/").text


def test_a_file_with_a_hash_in_its_name_is_read_when_it_is_first_asked_for(folder: Path) -> None:
    client = TestClient(_app(folder), headers={"Accept-Encoding": "identity"})
    script, icon = folder / "assets" / "index-abc123.js", folder / "favicon.svg"
    before = icon.read_bytes()
    assert client.get("/assets/index-abc123.js").content == SCRIPT
    for path in (script, icon):
        path.unlink()
    assert client.get("/assets/index-abc123.js").content == SCRIPT
    assert client.get("/favicon.svg").content == before


def test_a_file_that_another_build_has_removed_is_not_found(folder: Path) -> None:
    client = TestClient(_app(folder))
    (folder / "assets" / "index-abc123.js").unlink()
    assert client.get("/assets/index-abc123.js").status_code == 404
