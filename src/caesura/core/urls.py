"""Addresses of servers as people write them: they may hold a password, which is shown nowhere."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

#: What to do about an address that `is_clear` refuses.
REMEDY = (
    "must be written so that its parts can be told apart: in the name and the password write %40 for @,"
    " %2F for /, %3F for ?, %23 for # and %3A for :"
)


def is_clear(url: str) -> bool:
    """Whether everybody who reads this address finds the password, the host and the port in the same places.
    Otherwise a part of the password may be taken for the host, and shown."""
    authority = re.split("[/?#]", url.partition("://")[2], maxsplit=1)[0]
    return url.count("@") <= min(authority.count("@"), 1)


def has_host(url: str) -> bool:
    """Whether the host and the port, if there are any, can be looked up."""
    try:
        parts = urlsplit(url)
        host = unquote(parts.hostname or "")
        host.encode("idna")
        return parts.port != 0 and url.isprintable() and host.isprintable()
    except ValueError:
        return False


def shown(url: str) -> str:
    """The address for people, without a name and a password."""
    return re.sub(r"(?s)^([\w+.-]*://)?.*@", r"\1***@", url)
