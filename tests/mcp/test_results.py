"""Results of MCP tools as text."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult

from caesura.agents.mcp import results
from caesura.agents.mcp.secrets import Secrets

SIX_BYTES = "aGVsbG8h"
BLOCKS: dict[str, dict[str, Any]] = {
    "hello": {"type": "text", "text": "hello"},
    "[image: image/png, 6 bytes; only text can be shown]": {
        "type": "image",
        "mimeType": "image/png",
        "data": SIX_BYTES,
    },
    "[audio: audio/wav, 6 bytes; only text can be shown]": {
        "type": "audio",
        "mimeType": "audio/wav",
        "data": SIX_BYTES,
    },
    "[link to a resource: report, file:///report]": {
        "type": "resource_link",
        "name": "report",
        "uri": "file:///report",
    },
    "its text": {"type": "resource", "resource": {"uri": "file:///a", "text": "its text"}},
    "[resource: file:///a, of an unknown type, 6 bytes; only text can be shown]": {
        "type": "resource",
        "resource": {"uri": "file:///a", "blob": SIX_BYTES},
    },
}


def read(**found: Any) -> tuple[str, str]:
    result = results.read(CallToolResult.model_validate({"content": [], **found}))
    return result.text, result.status


@pytest.mark.parametrize("text", BLOCKS)
def test_every_kind_of_part_is_told_as_text(text: str) -> None:
    assert read(content=[BLOCKS[text]]) == (text, "ok")


def test_parts_are_lines_and_structure_counts_only_without_text() -> None:
    parts = list(BLOCKS.values())[:2]
    assert read(content=parts, structuredContent={"a": 1})[0].startswith("hello\n[image")
    assert read(structuredContent={"a": [1, "é"]}) == ('{"a":[1,"é"]}', "ok")


def test_a_result_without_anything_and_an_error_are_told() -> None:
    assert read() == ("The tool returned nothing.", "ok")
    assert read(isError=True) == ("The tool failed and did not say why.", "error")
    assert read(isError=True, content=[BLOCKS["hello"]]) == ("hello", "error")


def test_a_long_result_is_cut_by_its_bytes_between_characters() -> None:
    text, _ = read(content=[{"type": "text", "text": "€" * 100_000}])
    shown, _, note = text.rpartition("\n")
    assert note == "[cut: the result had 300000 bytes, and the first 256 KiB are shown]"
    assert 256 * 1024 - 3 < len(shown.encode()) <= 256 * 1024
    assert set(shown) == {"€"}
    assert read(content=[{"type": "text", "text": "x" * 256 * 1024}])[0] == "x" * 256 * 1024


def test_secrets_are_hidden_also_as_parts_of_a_header() -> None:
    secrets = Secrets(["Bearer sk-123456789", "short", "sk-123456789-longer"])
    assert secrets.line("got Bearer sk-123456789\nand sk-123456789-longer, short") == (
        "got [hidden]\\nand [hidden], short"
    )
    assert len(secrets.line("x" * 10_000)) < 400
