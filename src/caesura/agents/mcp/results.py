"""What a call of an MCP server's tool came to, as text of bounded length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from caesura.agents.tools.tool import Result
from caesura.core import json_data

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

LARGEST = 256 * 1024
_SHOWN = 300


def read(found: CallToolResult) -> Result:
    text = "\n".join(part for block in found.content for part in _parts(block))
    if not text and found.structured_content is not None:
        text = json_data.dumps(found.structured_content).decode("utf-8", "replace")
    told = cut(json_data.text(text))
    if found.is_error:
        return Result(told or "The tool failed and did not say why.", "error")
    return Result(told or "The tool returned nothing.")


def cut(text: str) -> str:
    """The beginning of a long text, with a note."""
    data = text.encode("utf-8", "replace")
    if len(data) <= LARGEST:
        return text
    note = f"[cut: the result had {len(data)} bytes, and the first {LARGEST // 1024} KiB are shown]"
    return f"{data[:LARGEST].decode('utf-8', 'ignore')}\n{note}"


def _parts(block: ContentBlock) -> Iterator[str]:
    """The text of a part, or what it is if it is no text."""
    match block.type:
        case "text":
            yield block.text
        case "image" | "audio":
            yield f"[{block.type}: {block.mime_type[:_SHOWN]}, {_size(block.data)}; only text can be shown]"
        case "resource_link":
            yield f"[link to a resource: {block.name[:_SHOWN]}, {str(block.uri)[:_SHOWN]}]"
        case "resource":
            resource = block.resource
            if hasattr(resource, "text"):
                yield resource.text
            else:
                kind = (resource.mime_type or "of an unknown type")[:_SHOWN]
                told = f"{str(resource.uri)[:_SHOWN]}, {kind}, {_size(resource.blob)}"
                yield f"[resource: {told}; only text can be shown]"


def _size(data: str) -> str:
    """The size of what is given in base64."""
    return f"{len(data) * 3 // 4} bytes"
