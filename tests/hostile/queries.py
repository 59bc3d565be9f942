"""Queries: what a client may put after the question mark."""

from random import Random

VALUES = (
    *(
        "",
        "0",
        "1",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "1e400",
        "NaN",
        "inf",
        "-inf",
        "0x10",
        "1_000",
        "%20",
        "null",
        "true",
    ),
    *(
        str(2**31),
        str(2**31 + 1),
        str(2**53 + 1),
        str(2**63),
        str(-(2**63)),
        "9" * 300,
        "9" * 5000,
        "%00",
        "%ff",
    ),
    *(
        "[]",
        "[1]",
        "{}",
        "a,b",
        "%0d%0aX-Injected:1",
        "%F0%9F%98%80",
        "%ED%A0%80",
        "..%2f",
        "'",
        "%22",
        "+",
        "%2B1",
    ),
    *(
        "approval-agent",
        "a%20session",
        "updated",
        "created",
        "WzEsMl0",
        "W10",
        "e30",
        "WzFlNDAwLCJ4Il0",
        "WzEsIlx1ZDgwMCJd",
        "x" * 1001,
        "=",
        "==",
        "١",
    ),
)
_NAMES = (
    "limit",
    "page",
    "after",
    "ticket",
    "cursor",
    "user_id",
    "access_token",
    "__proto__",
    "%00",
    "",
    "a" * 500,
)


def each(names: tuple[str, ...]) -> list[str]:
    """Each parameter with each value, then the same parameter several times."""
    single = [f"{name}={value}" for name in names for value in VALUES]
    several = [f"{name}=1&{name}=x&{name}[]=2&{name}[a]=3&{name}" for name in names]
    return single + several


def some(chance: Random, names: tuple[str, ...]) -> str:
    known = names or _NAMES
    drawn = [
        (chance.choice(known if chance.random() < 0.8 else _NAMES), chance.choice(VALUES))
        for _ in range(chance.choice((1, 1, 2, 3)))
    ]
    return chance.choice("&&&;").join(f"{name}={value}" for name, value in drawn)
