"""The address of a page, as a model or a redirect gives it."""

from __future__ import annotations

import httpx

from caesura.agents.tools.tool import ToolError
from caesura.core import shown

LONGEST = 8192
_SHOWN = 200


class Refused(ToolError):
    """A page that is not fetched. The text tells the model why."""


def parse(text: str) -> httpx.URL:
    """The address, or `Refused`. What two programs could read in two ways is refused."""
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise Refused(f"not fetched: the address must have 1 to {LONGEST} characters")
    if "\\" in text or any(ord(character) <= 32 or ord(character) == 127 for character in text):
        raise Refused("not fetched: the address contains a space, a backslash or a control character")
    try:
        url = httpx.URL(text).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError):
        raise Refused(f"not fetched: {brief(text)} is not a valid address") from None
    return _checked(url)


def follow(url: httpx.URL, location: str) -> httpx.URL:
    """The address that a redirect leads to. It may not leave an encrypted connection."""
    try:
        target = str(url.join(location))
    except (httpx.InvalidURL, ValueError):
        raise Refused("not fetched: the page redirects to an address that is not valid") from None
    found = parse(target)
    if url.scheme == "https" and found.scheme == "http":
        raise Refused(
            f"not fetched: the page redirects to {brief(str(found))}, which is not encrypted; fetch that"
            " address itself if you need it"
        )
    return found


def port_of(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def brief(text: str) -> str:
    """The beginning of a text from the web, on one line."""
    return shown.line(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _checked(url: httpx.URL) -> httpx.URL:
    if url.scheme not in ("http", "https"):
        raise Refused("not fetched: the address must begin with http:// or https://")
    if url.userinfo:
        raise Refused("not fetched: the address contains a user name or a password")
    host = url.raw_host.decode("ascii", "replace")
    if not host or len(host) > 253 or "%" in host:
        raise Refused("not fetched: the address names no valid host")
    return url
