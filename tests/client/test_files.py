"""The client's operations on the files of a workspace."""

import io

import pytest

from caesura.client import Client, ClientError
from tests.api.server import Served


async def test_files_are_written_listed_read_and_removed(server: Served) -> None:
    async with Client(server.url, server.token("alice")) as client:
        place, files = (await client.create()).id, client.files
        made = await files.put(place, "a b/数据?.txt", b"one")
        assert (made.path, made.size, made.kind) == ("a b/数据?.txt", 3, "file")
        file = io.BytesIO(b"skipped" + bytes(200_000))
        file.seek(7)
        assert (await files.put(place, "large", file)).size == 200_000
        assert await files.listing(place, "a b") == [made]
        assert [item.name for item in await files.listing(place)] == ["a b", "large"]
        assert await files.get(place, "a b/数据?.txt") == b"one"
        assert sum([len(piece) async for piece in files.pieces(place, "large")]) == 200_000
        await files.remove(place, "a b")
        for name in ("a b/数据?.txt", "a b"):
            with pytest.raises(ClientError) as refused:
                await files.get(place, name)
            assert (refused.value.status, refused.value.code) == (404, "not_found")


async def test_a_path_cannot_lead_elsewhere(server: Served) -> None:
    async with Client(server.url, server.token("alice")) as client:
        place = (await client.create()).id
        for path in ("..", "../..", "a/../../b", "/etc/passwd", "", "a/", "."):
            for call in (client.files.get(place, path), client.files.remove(place, path)):
                with pytest.raises(ClientError) as refused:
                    await call
                assert (refused.value.status, refused.value.code) == (400, "bad_input"), path
