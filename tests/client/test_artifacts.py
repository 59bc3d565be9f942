"""The client's operations on artifacts."""

import pytest

from caesura.client import ArtifactVersion, Client, ClientError
from caesura.core.diffs import Hunk
from tests.api.server import Served


async def test_artifacts_are_uploaded_edited_read_and_compared(server: Served) -> None:
    async with Client(server.url, server.token("alice")) as client:
        place = (await client.create()).id
        artifacts = client.artifacts
        made = await artifacts.create(place, "报告", "A report", "markdown", "one\ntwo\n")
        assert (made.artifact.id, made.artifact.version, made.update_type) == ("报告", 1, "create")
        updated = await artifacts.update(place, "报告", "two", "2", base=1)
        assert (updated.update_type, updated.changes) == ("update", [["two", "2"]])
        rewritten = await artifacts.rewrite(place, "报告", "new")
        assert rewritten.artifact.version == 3
        with pytest.raises(ClientError) as refused:
            await artifacts.rewrite(place, "报告", "newer", base=2)
        assert (refused.value.status, refused.value.code) == (409, "outdated")

        assert await artifacts.listing(place) == [rewritten.artifact]
        artifact, current = await artifacts.get(place, "报告")
        assert artifact == rewritten.artifact
        assert current == await artifacts.version(place, "报告", 3)
        assert [entry.update_type for entry in await artifacts.versions(place, "报告")] == [
            "create",
            "update",
            "rewrite",
        ]
        second = await artifacts.version(place, "报告", 2)
        assert second == ArtifactVersion(2, "update", [["two", "2"]], "one\n2\n", None, second.created_at)
        diff = await artifacts.diff(place, "报告", 1, 2)
        hunk = Hunk(1, 2, 1, 2, ((" ", "one"), ("-", "two"), ("+", "2")))
        assert (diff.old, diff.new, diff.hunks) == (1, 2, (hunk,))
        newest = await artifacts.diff(place, "报告")
        assert (newest.old, newest.new) == (2, 3)


async def test_an_id_cannot_lead_to_another_path(server: Served) -> None:
    async with Client(server.url, server.token("alice")) as client:
        place = (await client.create()).id
        for name in ("..", "../..", "a/versions/1", ""):
            with pytest.raises(ClientError) as refused:
                await client.artifacts.get(place, name)
            assert refused.value.status in (404, 405)
