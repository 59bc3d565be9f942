"""Files of a workspace over the native API, with the names and races that commands and clients can make."""

import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import Connection

from caesura.store import conversations, users
from tests.api.reading import conversation
from tests.api.server import Served
from tests.api.test_write_approvals import CONTENT, Writing

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    with Served(folder, upload_bytes=3 * MIB, workspace_bytes=4 * MIB, unread_bytes_per_person=MIB) as server:
        yield server


class Place:
    """A conversation, and its workspace as it is on the disk."""

    def __init__(self, server: Served, client: httpx.Client) -> None:
        self.id = conversation(client)
        self.url = f"/api/v2/conversations/{self.id}/files"
        self.folder = server.settings.data_dir / "workspaces" / self.id
        self._client = client

    def put(self, path: str, content: bytes) -> httpx.Response:
        return self._client.put(f"{self.url}/{path}", content=content)

    def get(self, path: str) -> httpx.Response:
        return self._client.get(f"{self.url}/{path}")

    def delete(self, path: str) -> httpx.Response:
        return self._client.delete(f"{self.url}/{path}")

    def listed(self, **params: Any) -> dict[str, Any]:
        response = self._client.get(self.url, params=params)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@pytest.fixture
def place(server: Served, alice: httpx.Client) -> Place:
    return Place(server, alice)


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_a_file_is_uploaded_listed_downloaded_and_removed(place: Place) -> None:
    assert place.listed() == {"files": [], "next": None}
    content = os.urandom(300_000)
    made = place.put("src/数据.bin", content)
    assert made.status_code == 200, made.text
    assert made.json() | {"modified_at": 0} == {
        "name": "数据.bin",
        "path": "src/数据.bin",
        "kind": "file",
        "size": 300_000,
        "modified_at": 0,
    }
    assert (place.folder / "src/数据.bin").read_bytes() == content
    (folder,) = place.listed()["files"]
    assert (folder["path"], folder["kind"], folder["size"]) == ("src", "folder", None)
    assert place.listed(path="src")["files"] == [made.json()]
    assert place.get("src/数据.bin").content == content
    assert place.put("src/数据.bin", b"").json()["size"] == 0
    assert place.get("src/数据.bin").content == b""
    assert place.delete("src/数据.bin").status_code == 204
    assert code(place.delete("src/数据.bin")) == (404, "not_found")
    assert code(place.get("src/数据.bin")) == (404, "not_found")
    assert place.delete("src").status_code == 204
    assert place.names() == []


def test_a_download_is_an_attachment_that_no_browser_shows(place: Place) -> None:
    place.put('a"b;é.html', b"<script>alert(1)</script>")
    headers = place.get('a"b;é.html').headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == (
        "attachment; filename=\"a_b__.html\"; filename*=UTF-8''a%22b%3B%C3%A9.html"
    )
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


def test_a_folder_is_listed_page_by_page(place: Place) -> None:
    place.folder.mkdir(parents=True, exist_ok=True)
    names = [f"{number:03}" for number in range(7)]
    for name in names:
        (place.folder / name).touch()
    found, cursor = [], None
    while True:
        page = place.listed(limit=3, **({"cursor": cursor} if cursor else {}))
        found += [file["name"] for file in page["files"]]
        if (cursor := page["next"]) is None:
            break
    assert found == names


def test_names_that_are_no_text_are_listed_escaped_and_go_with_their_folder(place: Place) -> None:
    odd = place.folder / "odd"
    odd.mkdir(parents=True)
    for name in (b"bad\xff", b"line\nbreak", b"esc\x1b[2J", "\u202etxt.exe".encode()):
        with open(os.path.join(os.fsencode(odd), name), "wb"):
            pass
    (odd / "link").symlink_to("/etc/passwd")
    os.mkfifo(odd / "pipe")
    files = {file["name"]: file for file in place.listed(path="odd")["files"]}
    assert files["bad\\udcff"]["path"] is None
    assert files["line\\nbreak"]["path"] is None
    assert files["esc\\x1b[2J"]["path"] is None
    assert files["\\u202etxt.exe"]["path"] == "odd/\u202etxt.exe"
    assert (files["link"]["kind"], files["link"]["size"]) == ("link", None)
    assert files["pipe"]["kind"] == "other"
    page = place.listed(path="odd", limit=1)
    assert page["files"][0]["name"] == "bad\\udcff"
    assert len(place.listed(path="odd", cursor=page["next"])["files"]) == 5
    assert place.delete("odd").status_code == 204
    assert place.names() == []
    assert Path("/etc/passwd").exists()


def test_links_pipes_and_folders_are_not_opened_or_replaced(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    place.folder.mkdir(parents=True, exist_ok=True)
    (place.folder / "link").symlink_to(outside / "secret")
    (place.folder / "up").symlink_to(outside)
    os.mkfifo(place.folder / "pipe")
    (place.folder / "inner").mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{os.open(place.folder, os.O_RDONLY)}/socket")
    for path in ("link", "up/secret", "pipe", "inner", "socket"):
        assert code(place.get(path)) == (409, "conflict"), path
        assert code(place.put(path, b"mine")) == (409, "conflict"), path
    assert code(place.get("inner/none/x")) == (404, "not_found")
    (place.folder / "file").write_text("x")
    assert code(place.get("file/x")) == (409, "conflict")
    assert code(place.put("file/x", b"")) == (409, "conflict")
    assert code(place.delete("up/secret")) == (409, "conflict")
    assert place.delete("link").status_code == 204
    assert place.delete("pipe").status_code == 204
    assert place.delete("up").status_code == 204
    assert (outside / "secret").read_text() == "secret"
    assert place.names() == ["file", "inner", "socket"]


@pytest.mark.parametrize(
    "path",
    ["%2e%2e/x", "a/%2e%2e/%2e%2e/x", "/etc/passwd", "%2e", "x/", "", "x" * 256, ".caesura-unfinished-x"],
)
def test_paths_that_name_no_file_are_refused(server: Served, place: Place, path: str) -> None:
    # Sent as it is: a client would resolve the dots.
    token = server.headers()["Authorization"]
    head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nConnection: close\r\n"
    for method in ("GET", "DELETE", "PUT"):
        with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
            connection.sendall(f"{method} {place.url}/{path} {head}Content-Length: 0\r\n\r\n".encode())
            assert connection.makefile("rb").readline().split()[1] == b"400", (method, path)
    assert not place.folder.exists()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_path_that_is_not_utf_8_names_nothing(place: Place, alice: httpx.Client, method: str) -> None:
    place.put("\ufffd", b"x")
    refused = alice.request(method, f"{place.url}/%ff", content=b"y")
    assert code(refused) == (400, "bad_input")
    assert place.get("\ufffd").content == b"x"


def test_files_of_somebody_else_are_not_found(place: Place, bob: httpx.Client, nobody: httpx.Client) -> None:
    place.put("a", b"mine")
    for path in ("", "/a"):
        assert bob.get(place.url + path).status_code == 404
        assert nobody.get(place.url + path).status_code == 401
    for client, status in ((bob, 404), (nobody, 401)):
        assert client.put(f"{place.url}/a", content=b"theirs").status_code == status
        assert client.delete(f"{place.url}/a").status_code == status
    assert place.get("a").content == b"mine"


def test_a_file_that_is_too_large_is_refused_before_it_is_read(place: Place) -> None:
    assert code(place.put("a", bytes(3 * MIB + 1))) == (413, "too_large")
    assert place.put("a", bytes(3 * MIB)).status_code == 200
    full = place.put("b", bytes(2 * MIB))
    assert code(full) == (413, "too_large")
    assert "remove something first" in full.text
    assert place.names() == ["a"]
    assert place.delete("a").status_code == 204
    assert place.put("b", bytes(2 * MIB)).status_code == 200


def test_an_upload_must_say_its_length(place: Place, alice: httpx.Client) -> None:
    response = alice.put(f"{place.url}/a", content=iter([b"piece"]))
    assert code(response) == (411, "length_required")
    assert not place.folder.exists()


def begin_upload(server: Served, place: Place, path: str, length: int, name: str = "alice") -> socket.socket:
    """Send the head and a part of an upload; returns when the server has begun to keep it."""
    connection = socket.create_connection((urlsplit(server.url).hostname, server.port), 30)
    head = [f"PUT {place.url}/{path} HTTP/1.1", "Host: x", f"Content-Length: {length}"]
    head += [f"{name}: {value}" for name, value in server.headers(name).items()]
    connection.sendall("\r\n".join([*head, "", ""]).encode() + bytes(1000))
    until(lambda: place.folder.is_dir() and any(name.startswith(".caesura") for name in place.names()))
    return connection


def test_an_upload_that_is_cut_off_leaves_nothing(server: Served, place: Place) -> None:
    with begin_upload(server, place, "new/a", 100_000):
        assert place.listed()["files"] == []
    until(lambda: place.names() == [])
    place.put("b", b"old")
    with begin_upload(server, place, "b", 100_000):
        assert place.get("b").content == b"old"
    until(lambda: place.names() == ["b"])
    assert place.get("b").content == b"old"


def test_an_upload_takes_its_room_from_the_start(server: Served, place: Place) -> None:
    with begin_upload(server, place, "a", 3 * MIB):
        assert code(place.put("b", bytes(2 * MIB))) == (413, "too_large")
    until(lambda: place.names() == [])
    assert place.put("b", bytes(2 * MIB)).status_code == 200


def test_a_person_has_few_uploads_at_once(
    server: Served, place: Place, bob: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caesura.service.files._PATIENCE", 0.1)
    others = Place(server, bob)
    held = [begin_upload(server, place, str(number), 1001) for number in range(4)]
    until(lambda: len(place.names()) == 4)
    try:
        assert code(place.put("5", b"x")) == (429, "too_many_requests")
        assert others.put("a", b"x").status_code == 200
    finally:
        for connection in held:
            connection.sendall(b"x")
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.close()
    assert place.put("5", b"x").status_code == 200


def test_a_conversation_that_is_deleted_meanwhile_takes_its_upload_along(
    server: Served, place: Place, alice: httpx.Client
) -> None:
    with begin_upload(server, place, "a", 1001) as connection:
        assert alice.delete(f"/api/v2/conversations/{place.id}").status_code == 204
        connection.sendall(b"x")
        assert connection.recv(12) == b"HTTP/1.1 404"
    until(lambda: not place.folder.exists())


def _removed(connection: Connection, user_id: str) -> None:
    for conversation_id in conversations.of_person(connection, user_id):
        conversations.remove(connection, conversation_id, user_id)
    users.remove(connection, user_id)


@pytest.mark.parametrize("change", [users.disable, users.log_out, _removed])
def test_an_upload_of_somebody_who_may_not_write_any_more_leaves_nothing(
    server: Served, change: Callable[..., Any]
) -> None:
    name = f"left-{change.__name__.strip('_')}"
    with server.client(name) as client:
        place = Place(server, client)
        place.put("kept", b"old")
        with begin_upload(server, place, "kept", 1001, name) as connection:
            server.call(server.database.write(change, name))
            connection.sendall(b"x")
            assert connection.recv(12) == b"HTTP/1.1 401"
    if change is _removed:
        until(lambda: not place.folder.exists())
    else:
        until(lambda: place.names() == ["kept"])
        assert (place.folder / "kept").read_bytes() == b"old"


@pytest.mark.parametrize("ends", [True, False])
def test_files_of_a_conversation_that_was_given_away_meanwhile_are_kept(
    server: Served, place: Place, bob: httpx.Client, *, ends: bool
) -> None:
    place.put("kept", b"whole")
    with begin_upload(server, place, "a", 1001) as connection:
        server.call(server.database.write(conversations.give, place.id, "alice", "bob"))
        if ends:
            connection.sendall(b"x")
            assert connection.recv(12) == b"HTTP/1.1 404"
    until(lambda: place.names() == ["kept"])
    assert bob.get(f"{place.url}/kept").content == b"whole"


def test_a_download_is_of_one_file_though_it_is_replaced_meanwhile(place: Place, alice: httpx.Client) -> None:
    old, new = b"o" * 2 * MIB, b"n" * MIB
    place.put("a", old)
    with alice.stream("GET", f"{place.url}/a") as response:
        pieces = response.iter_bytes(1000)
        first = next(pieces)
        assert place.put("a", new).status_code == 200
        assert first + b"".join(pieces) == old
    assert place.get("a").content == new


def test_a_file_that_is_cut_meanwhile_does_not_look_whole(place: Place, alice: httpx.Client) -> None:
    place.folder.mkdir(parents=True, exist_ok=True)
    with open(place.folder / "a", "wb") as file:
        file.truncate(100 * MIB)
    with alice.stream("GET", f"{place.url}/a") as response:
        pieces = response.iter_raw(1000)
        next(pieces)
        os.truncate(place.folder / "a", 0)
        with pytest.raises(httpx.HTTPError):
            list(pieces)


def test_a_file_keeps_its_permissions_when_it_is_replaced(place: Place) -> None:
    place.put("run.sh", b"#!/bin/sh")
    os.chmod(place.folder / "run.sh", 0o755)
    place.put("run.sh", b"#!/bin/sh -e")
    assert stat.S_IMODE((place.folder / "run.sh").stat().st_mode) == 0o755


def test_an_upload_makes_an_approved_write_be_asked_for_again(server: Served, alice: httpx.Client) -> None:
    writing = Writing(server, alice, b"first")
    asked = writing.begin()
    url = f"/api/v2/conversations/{writing.place}/files/hello.py"
    assert alice.put(url, content=b"uploaded").status_code == 200
    (again,) = writing.approve(asked).data["interrupts"]
    assert again["id"] != asked["id"]
    assert again["file"]["content"] == "uploaded"
    assert writing.file.read_bytes() == b"uploaded"
    writing.approve(again)
    assert writing.file.read_text() == CONTENT
