"""The key set of another service: when it is read, which keys are used, and what happens if it is away."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caesura.core.errors import Unavailable
from caesura.http import jwks
from caesura.http.jwks import KeySet, Unreadable
from tests import programs
from tests.login_service import KeyServer, ec, ed, key_server, public, rsa, shared
from tests.models.authority import Authority

FIRST, SECOND = rsa("first"), ec("second")
ALL = ("RS256", "ES256", "EdDSA")


@pytest.fixture
def theirs() -> Iterator[KeyServer]:
    with key_server(public(FIRST)) as server:
        yield server


def key_set(place: str, pause: float = 3600, algorithms: tuple[str, ...] = ALL) -> KeySet:
    def spawn(work: Any) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work)

    return KeySet(place, algorithms, spawn, pause=pause)


async def test_the_set_is_read_once_however_many_keys_are_asked_for(theirs: KeyServer) -> None:
    keys = key_set(theirs.url)
    assert theirs.asked == 0
    for found in await asyncio.gather(*(keys.find("first", "RS256") for _ in range(20))):
        assert [key.id for key in found] == ["first"]
    for number in range(100):
        assert await keys.find(f"unknown-{number}", "RS256") == []
    assert theirs.asked == 1


async def test_a_key_that_is_not_in_the_set_is_none_until_the_set_is_read_again(theirs: KeyServer) -> None:
    keys = key_set(theirs.url)
    assert await keys.find("junk", "RS256") == []
    theirs.body = public(SECOND)
    assert await keys.find("second", "ES256") == []
    keys._pause = 0
    assert await keys.find("second", "ES256")
    assert await keys.find("junk", "RS256") == []


async def test_every_key_may_be_good_while_none_is_known(theirs: KeyServer) -> None:
    keys = key_set(theirs.url)
    theirs.status = 503
    for name in ("first", "junk"):
        with pytest.raises(Unavailable) as refused:
            await keys.find(name, "RS256")
        assert 1 <= refused.value.retry_after <= 3600
    theirs.status, keys._pause = 200, 0
    assert await keys.find("first", "RS256")
    theirs.status = 503
    assert await keys.find("junk", "RS256") == []


async def test_a_token_without_an_id_and_one_with_the_id_of_another_kind_of_key_are_known_to_be_bad(
    theirs: KeyServer,
) -> None:
    keys = key_set(theirs.url)
    assert await keys.find("first", "RS256")
    assert await keys.find(None, "ES256") == []
    assert await keys.find("first", "ES256") == []


async def test_a_key_that_is_new_is_found_and_one_that_is_gone_is_not(theirs: KeyServer) -> None:
    keys = key_set(theirs.url, pause=0)
    assert await keys.find("first", "RS256")
    before = keys.edition
    theirs.body = public(SECOND)
    assert await keys.find("second", "ES256")
    assert await keys.find("first", "RS256") == []
    assert keys.edition > before


async def test_an_old_set_is_read_again_while_its_keys_are_used(
    theirs: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = key_set(theirs.url, pause=0)
    await keys.find("first", "RS256")
    monkeypatch.setattr(jwks, "_FRESH", 0)
    theirs.body = public(SECOND)
    theirs.pause.clear()
    assert await keys.find("first", "RS256")  # without waiting
    theirs.pause.set()
    monkeypatch.setattr(jwks, "_FRESH", 3600)
    assert await keys.find("second", "ES256")
    assert await keys.find("first", "RS256") == []


async def test_known_keys_go_on_for_a_bounded_time_when_the_server_is_away(
    theirs: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = key_set(theirs.url, pause=0)
    assert await keys.find("first", "RS256")
    theirs.status = 500
    assert await keys.find("second", "ES256") == []
    assert await keys.find("first", "RS256")
    monkeypatch.setattr(jwks, "_LONGEST", 0)
    with pytest.raises(Unavailable):
        await keys.find("first", "RS256")
    theirs.status = 200
    assert await keys.find("first", "RS256")


async def test_a_request_that_is_cancelled_does_not_end_the_reading_for_others(theirs: KeyServer) -> None:
    keys = key_set(theirs.url)
    theirs.pause.clear()
    first = asyncio.ensure_future(keys.find("first", "RS256"))
    other = asyncio.ensure_future(keys.find("first", "RS256"))
    assert await asyncio.to_thread(theirs.called.wait, 60)
    first.cancel()
    await asyncio.wait([first])
    theirs.pause.set()
    assert await other


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (302, public(FIRST)),
        (404, public(FIRST)),
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"keys": {}}'),
        (200, public(FIRST) + b" " * 300_000),
        (200, b"[" * 200_000),
    ],
)
async def test_what_is_no_key_set_is_unreadable(theirs: KeyServer, status: int, body: bytes) -> None:
    theirs.status, theirs.body = status, body
    with pytest.raises(Unreadable):
        await key_set(theirs.url).read()


@pytest.mark.parametrize(
    "body",
    [
        b'{"keys": []}',
        b'{"keys": [1, null, {}, {"kty": "RSA"}, {"kty": "RSA", "n": 5, "e": "AQAB"}]}',
        public(FIRST, use="enc"),
        public(FIRST, key_ops=["encrypt"]),
        public(FIRST, alg="RS512"),
        public(FIRST, kid=7),
    ],
)
async def test_a_set_without_usable_keys_ends_those_that_were_known(theirs: KeyServer, body: bytes) -> None:
    keys = key_set(theirs.url, pause=0)
    assert await keys.find("first", "RS256")
    theirs.body = body
    assert await keys.read() == 0
    assert await keys.find("first", "RS256") == []


async def test_an_address_where_nobody_listens_is_unreadable(theirs: KeyServer) -> None:
    for url in ("http://127.0.0.1:1/keys.json", "http://localhost:1/keys.json"):
        with pytest.raises(Unreadable) as told:
            await key_set(url).read()
        place = url.split("/")[2]
        assert str(told.value) == f"{url}: {place} cannot be reached: connection refused"
    with pytest.raises(Unreadable, match=r": nowhere\.invalid is not known: no such host$"):
        await key_set("https://nowhere.invalid/keys").read()


@programs.needs("openssl")
async def test_a_certificate_that_is_not_trusted_is_told_as_such(tmp_path: Path) -> None:
    server = await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=Authority(tmp_path).context
    )
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(Unreadable, match=r": the certificate of 127\.0\.0\.1 is not trusted: "):
            await key_set(f"https://127.0.0.1:{port}/keys").read()


async def test_a_proxy_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    why = r": the proxy 127\.0\.0\.1:1 cannot be reached: connection refused$"
    with pytest.raises(Unreadable, match=why):
        await key_set("https://login.example.org/keys").read()


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "socks4://127.0.0.1:1", "nonsense"])
async def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(Unreadable, match=r"^https://login\.example\.org/keys: "):
        await key_set("https://login.example.org/keys").read()


async def test_a_key_in_the_query_of_the_address_is_not_told(theirs: KeyServer) -> None:
    theirs.status = 500
    for address in (f"{theirs.url}?key=hidden", "http://127.0.0.1:1/keys.json?key=hidden"):
        with pytest.raises(Unreadable) as told:
            await key_set(address).read()
        assert "hidden" not in str(told.value)
        assert address.partition("?")[0] in str(told.value)


async def test_a_server_that_says_nothing_is_left(theirs: KeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks, "_SECONDS", 0.2)
    theirs.pause.clear()
    with pytest.raises(Unreadable, match=r"no answer within 0\.2 seconds"):
        await key_set(theirs.url).read()


@pytest.mark.filterwarnings("ignore:Key size should be:joserfc.errors.SecurityWarning")
async def test_a_shared_key_and_a_short_one_are_no_public_keys(theirs: KeyServer) -> None:
    secret = {**shared("x" * 32).as_dict(private=True), "kid": "secret"}
    short = rsa("short", 1024).as_dict(private=False)
    full = FIRST.as_dict(private=True)
    theirs.body = json.dumps({"keys": [secret, short, full]}).encode()
    keys = key_set(theirs.url, pause=0)
    assert await keys.find("secret", "HS256") == []
    assert await keys.find("short", "RS256") == []
    assert await keys.find("first", "RS256")


async def test_a_key_is_used_for_its_own_algorithms_alone(theirs: KeyServer) -> None:
    theirs.body = public(FIRST, ec("p256"), ec("p384", "P-384"), ed("ed"))
    keys = key_set(theirs.url, algorithms=("RS256", "PS256", "ES256", "ES384", "EdDSA"))
    fits = {
        kid: {alg for alg in ("RS256", "PS256", "ES256", "ES384", "EdDSA") if await keys.find(kid, alg)}
        for kid in ("first", "p256", "p384", "ed")
    }
    assert fits == {"first": {"RS256", "PS256"}, "p256": {"ES256"}, "p384": {"ES384"}, "ed": {"EdDSA"}}


async def test_a_token_need_not_name_the_only_key(theirs: KeyServer) -> None:
    keys = key_set(theirs.url, pause=0)
    assert await keys.find(None, "RS256")
    theirs.body = public(FIRST, rsa("other"))
    await keys.read()
    assert await keys.find(None, "RS256") == []


async def test_a_file_is_read_again_too(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    with pytest.raises(Unreadable, match="No such file"):
        await key_set(str(file)).read()
    file.write_bytes(public(FIRST))
    keys = key_set(str(file), pause=0)
    assert await keys.find("first", "RS256")
    file.write_bytes(public(SECOND))
    assert await keys.find("second", "ES256")
    assert await keys.find("first", "RS256") == []
