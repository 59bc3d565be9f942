"""Addresses that may hold a password."""

import pytest

from caesura.core import urls


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("postgresql://u:p%40ss@host:5432/db?sslmode=require", True),
        ("postgresql:///db?host=/run/postgresql", True),
        ("redis://:a:b@host", True),
        ("postgresql://u:p@ss@host/db", False),
        ("postgresql://u:p/ss@host/db", False),
        ("postgresql://u:p?ss@host/db", False),
        ("redis://:12#ss@host", False),
        ("postgresql://host:5432/db?password=p@ss", False),
    ],
)
def test_an_address_is_clear_if_its_password_can_end_in_one_place_alone(url: str, clear: bool) -> None:
    assert urls.is_clear(url) is clear


@pytest.mark.parametrize(
    ("url", "has"),
    [
        ("redis://münchen.example:6379", True),
        ("redis:///0", True),
        ("redis://[::1]:6379", True),
        ("redis://a..b", False),
        (f"redis://{'a' * 64}.example", False),
        ("redis://a%00b", False),
        ("redis://host:port", False),
        ("redis://host:0", False),
        ("redis://host\n", False),
        ("redis://host\udcff", False),
        ("redis://[host", False),
    ],
    ids=ascii,
)
def test_a_host_that_cannot_be_looked_up_is_none(url: str, has: bool) -> None:
    assert urls.has_host(url) is has


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://host:80/x", "http://host:80/x"),
        ("http://u:pw@host", "http://***@host"),
        ("u:p@w@host", "***@host"),
        ("http://u:p/w\n@w@host", "http://***@host"),
    ],
)
def test_a_password_is_not_shown(url: str, shown: str) -> None:
    assert urls.shown(url) == shown
