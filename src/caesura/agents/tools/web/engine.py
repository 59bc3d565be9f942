"""Search engines: what a request looks like, and what their answers say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple, assert_never

import orjson

from caesura.agents.tools.web.extract import clean

MOST = 10
#: Results that are looked at: some may have no address.
_LOOKED_AT = 100
_LONGEST_TITLE, _LONGEST_ADDRESS, _LONGEST_TEXT = 200, 2_000, 1_000

Kind = Literal["searxng", "tavily"]


class Malformed(Exception):
    """The answer is not what such an engine gives."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a search engine answers, and how it is spoken to. The key appears in no text."""

    url: str
    kind: Kind = "searxng"
    key: str | None = field(default=None, repr=False)


class Wanted(NamedTuple):
    """A request to an engine."""

    method: str
    url: str
    params: Mapping[str, str] | None
    content: bytes | None
    headers: Mapping[str, str]


class Hit(NamedTuple):
    title: str
    url: str
    text: str


def request(endpoint: Endpoint, query: str) -> Wanted:
    url = f"{endpoint.url.rstrip('/')}/search"
    # No packing: the answer is short, and cannot unpack to more than it is.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if endpoint.key is not None:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    match endpoint.kind:
        case "searxng":
            return Wanted("GET", url, {"q": query, "format": "json"}, None, headers)
        case "tavily":
            content = orjson.dumps({"query": query, "max_results": MOST})
            return Wanted("POST", url, None, content, headers | {"Content-Type": "application/json"})
        case unreachable:
            assert_never(unreachable)


def hits(answer: bytes) -> list[Hit]:
    """The results, in the order of the engine. Both kinds name them in the same way."""
    try:
        found = orjson.loads(answer)
    except orjson.JSONDecodeError:
        raise Malformed from None
    results = found.get("results") if isinstance(found, dict) else None
    if not isinstance(results, list):
        raise Malformed
    made = (_hit(item) for item in results[:_LOOKED_AT])
    return list(islice((hit for hit in made if hit is not None), MOST))


def _hit(item: Any) -> Hit | None:
    if not isinstance(item, dict):
        return None
    url = _line(item.get("url"), _LONGEST_ADDRESS)
    if not url.startswith(("http://", "https://")):
        return None
    return Hit(
        _line(item.get("title"), _LONGEST_TITLE) or url, url, _line(item.get("content"), _LONGEST_TEXT)
    )


def _line(value: Any, longest: int) -> str:
    """A text on one line, bounded and without control characters; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = " ".join(clean(value[: 4 * longest]).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
