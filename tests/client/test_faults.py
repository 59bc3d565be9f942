"""Faults between a client and a server, and how they are reported."""

import asyncio
from pathlib import Path

import pytest

from caesura.client import Client, ClientError, Turn, Unreachable
from caesura.core.events import Envelope
from tests.api.server import PASSWORD, Served


async def read(client: Client, turn_id: str) -> list[Envelope]:
    return [envelope async for envelope in client.events(turn_id)]


async def said(client: Client, content: str) -> Turn:
    """Send a message in a new conversation, and wait until it is answered."""
    turn = await client.send((await client.create()).id, content)
    await read(client, turn.id)
    return turn


async def test_an_unreachable_server_is_reported_after_the_patience() -> None:
    async with Client("http://127.0.0.1:9", patience=0.4) as client:
        began = asyncio.get_running_loop().time()
        with pytest.raises(Unreachable, match=r"cannot reach http://127\.0\.0\.1:9"):
            await client.me()
        assert asyncio.get_running_loop().time() - began > 0.1
        with pytest.raises(Unreachable):
            await read(client, "turn-x")


@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://[", "http://[::1", "http://a b"),
        *("http://127.0.0.1:99999", "http://127.0.0.1:0", "http://127.0.0.1:-1", "http://127.0.0.1:x"),
        *("http://127.0.0.1:8000/?a=b", "http://127.0.0.1:8000/#a", "http://\udce9"),
    ],
)
def test_an_invalid_address_is_reported_at_once(url: str) -> None:
    with pytest.raises(Unreachable, match="is not an address") as caught:
        Client(url)
    assert caught.value.code == "bad_address"


async def test_white_space_around_an_address_and_a_token_does_not_matter(server: Served) -> None:
    async with Client(f" {server.url}/\n", f"\t{server.token()}\r\n") as client:
        assert await client.me() == "alice"


@pytest.mark.parametrize("token", ["geheim\u00e9", "geheim\n2", "geheim 2", "geheim\udce9", "geheim\0"])
def test_an_invalid_token_is_reported_and_not_shown(token: str) -> None:
    with pytest.raises(ClientError, match="this cannot be a token") as caught:
        Client("http://127.0.0.1:9", token)
    assert not isinstance(caught.value, Unreachable)
    assert "geheim" not in str(caught.value)


async def test_an_empty_token_counts_as_none(server: Served) -> None:
    async with Client(server.url, " ") as client:
        assert client.token is None
        with pytest.raises(ClientError) as caught:
            await client.me()
        assert caught.value.status == 401


@pytest.mark.parametrize("key", ["\u00e9", "a\nb"])
async def test_a_key_that_no_header_can_carry_is_reported_at_once(alice: Client, key: str) -> None:
    conversation = await alice.create()
    with pytest.raises(ClientError, match="printable ASCII") as caught:
        await alice.send(conversation.id, "echo x", key=key)
    assert caught.value.code == "bad_input"


def test_an_unusable_proxy_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://127.0.0.1:9")
    with pytest.raises(Unreachable, match="the proxy that the environment names") as caught:
        Client("http://caesura.invalid")
    assert caught.value.code == "bad_environment"


@pytest.mark.parametrize("id", ["{}?x", "{}#x", "{}/events", "../turns/{}", "a\nb", "\udce9", "x" * 70_000])
async def test_an_id_cannot_lead_to_another_path(alice: Client, id: str) -> None:
    turn = await said(alice, "echo x")
    with pytest.raises(ClientError) as caught:
        await alice.turn(id.format(turn.id))
    assert not isinstance(caught.value, Unreachable)
    with pytest.raises(ClientError):
        await read(alice, id.format(turn.id))


@pytest.mark.parametrize("answer", [b"<html>", b"", b"[]", b'{"user_id": 1}', b'{"name": "x"}'])
async def test_a_server_that_is_not_caesura_is_reported(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as other:
        port = other.sockets[0].getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}", patience=0) as client:
            with pytest.raises(ClientError, match="this is no Caesura server"):
                await client.me()
            with pytest.raises(ClientError, match="this is no Caesura server"):
                await client.login("alice", PASSWORD)


async def test_a_turn_of_another_person_is_not_found(server: Served, alice: Client) -> None:
    turn = await said(alice, "echo x")
    async with Client(server.url, server.token("bob")) as bob:
        with pytest.raises(ClientError) as caught:
            await read(bob, turn.id)
        assert caught.value.status == 404


async def test_requests_above_the_rate_are_retried_later(tmp_path: Path) -> None:
    with Served(tmp_path, rate_requests="5/second") as server:
        told: list[str] = []
        waiting = lambda error, seconds: told.append(error.code)  # noqa: E731
        async with Client(server.url, server.token(), waiting=waiting) as client:
            assert [await client.me() for _ in range(12)] == ["alice"] * 12
        assert set(told) == {"too_many_requests"}
        async with Client(server.url, server.token(), patience=0.1) as client:
            with pytest.raises(ClientError) as caught:
                await asyncio.gather(*(client.me() for _ in range(12)))
            assert caught.value.retry_after >= 1
