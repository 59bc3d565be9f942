"""Addresses: how much of one is logged."""

import pytest

from caesura.http.addresses import Addresses, shown


@pytest.mark.parametrize(
    ("host", "how", "written"),
    [
        ("192.0.2.77", "full", "192.0.2.77"),
        ("192.0.2.77", "cut", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "cut", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "cut", "2001:db8:1::/48"),
        ("fe80::1%eth0", "cut", "fe80::/48"),
        ("not an address", "cut", None),
        ("192.0.2.77", "none", None),
        (None, "full", None),
        (None, "cut", None),
    ],
)
def test_an_address_is_logged_as_configured(host: str | None, how: Addresses, written: str | None) -> None:
    assert shown(host, how) == written
