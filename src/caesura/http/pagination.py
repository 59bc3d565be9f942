"""Pages: how many rows of a list are sent at once, and where the next page begins."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import orjson

from caesura.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Pages:
    default: int = 20
    largest: int = 100

    def size(self, wanted: int | None) -> int:
        """The size of a page. A larger wish is reduced to the maximum."""
        return min(wanted or self.default, self.largest)


def cursor(at: int, id: str) -> str:
    """An opaque cursor for the last row that was sent."""
    return base64.urlsafe_b64encode(orjson.dumps([at, id])).decode().rstrip("=")


def position(text: str) -> tuple[int, str]:
    try:
        padded = text + "=" * (-len(text) % 4)
        at, id = orjson.loads(base64.b64decode(padded.encode("ascii"), b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadInput("cursor is not one that this API gave") from error
    if type(at) is not int or not isinstance(id, str) or not 0 <= at < 2**63:
        raise BadInput("cursor is not one that this API gave")
    return at, id
