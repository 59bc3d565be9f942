"""A server over https whose certificate a private authority has signed."""

import shutil
from pathlib import Path

import pytest

from caesura.client import Client, Unreachable
from tests import programs
from tests.api.server import Served
from tests.models.authority import Authority
from tests.relay import Relay

_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None and not programs.required():
        pytest.skip("needs openssl")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "is_folder"),
    [
        ("SSL_CERT_FILE", False),
        ("SSL_CERT_DIR", True),
        ("REQUESTS_CA_BUNDLE", False),
        ("REQUESTS_CA_BUNDLE", True),
        ("CURL_CA_BUNDLE", False),
    ],
)
async def test_an_authority_that_the_environment_names_is_trusted(
    server: Served,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_folder: bool,
) -> None:
    place = authority.folder(tmp_path / "folder") if is_folder else authority.certificate
    monkeypatch.setenv(name, str(place))
    with Relay(server.url, authority.context) as relay:
        for host in ("127.0.0.1", "localhost"):
            url = relay.url.replace("127.0.0.1", host)
            async with Client(url, server.token("alice"), patience=0) as client:
                assert await client.me() == "alice"


async def test_a_certificate_that_is_not_trusted_is_told_at_once(
    server: Served, authority: Authority
) -> None:
    """Nothing is tried again: waiting does not make a certificate trusted."""
    waits: list[object] = []
    with Relay(server.url, authority.context) as relay:
        async with Client(relay.url, "token", waiting=lambda error, _: waits.append(error)) as client:
            with pytest.raises(Unreachable, match=r"certificate of 127\.0\.0\.1 is not trusted") as caught:
                await client.me()
    assert caught.value.code == "untrusted"
    assert "SSL_CERT_FILE" in caught.value.message
    assert waits == []


async def test_a_certificate_of_another_host_is_refused_whoever_has_signed_it(
    server: Served, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with Relay(server.url, authority.context, "127.0.0.2") as relay:
        async with Client(relay.url, "token", patience=0) as client:
            with pytest.raises(Unreachable, match="is not trusted: IP address mismatch") as caught:
                await client.me()
    assert "SSL_CERT_FILE" not in caught.value.message


async def test_a_server_without_tls_is_told_apart_from_one_that_does_not_run(server: Served) -> None:
    async with Client(f"https://127.0.0.1:{server.port}", "token", patience=0) as client:
        with pytest.raises(Unreachable, match=r"no secure connection to 127\.0\.0\.1") as caught:
            await client.me()
    assert caught.value.code == "no_secure_connection"


def test_certificates_that_cannot_be_read_are_told_when_the_client_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(Unreachable, match=r"missing\.pem cannot be read") as caught:
        Client("https://127.0.0.1:9")
    assert caught.value.code == "bad_environment"
    Client("http://127.0.0.1:9")
