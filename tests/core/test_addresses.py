"""Which addresses are public, and what an operator allows besides."""

import ipaddress

import pytest

from caesura.core import addresses
from caesura.core.addresses import Allowed


@pytest.mark.parametrize(
    "text",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9"),
        *("168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1"),
        *("192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1"),
        *("240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1"),
        *("64:ff9b:1::1", "2001::1", "2001:10::1", "2001:db8::1", "3fff::1", "5f00::1", "4000::1"),
        # IPv4 in IPv6, as it is mapped, translated, tunnelled by 6to4 and by Teredo.
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b::7f00:1", "2002:7f00:1::", "2002:0808:0808::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_an_address_of_a_private_or_special_network_is_not_public(text: str) -> None:
    assert not addresses.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        *("1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "168.63.129.17"),
        *("223.255.255.255", "2606:4700::1", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808"),
    ],
)
def test_an_address_of_the_internet_is_public(text: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["fe80::1%eth0", "2606:4700::1%1", "example.org", "", "1.2.3", "0x7f.1"])
def test_an_address_with_a_zone_and_any_other_text_is_no_address(text: str) -> None:
    assert addresses.parse(text) is None


@pytest.mark.parametrize(
    ("entry", "host", "address", "port", "fits"),
    [
        ("wiki.example", "wiki.example", "10.0.0.1", 80, True),
        ("Wiki.Example", "WIKI.example.", "10.0.0.1", 8443, True),
        ("wiki.example", "wiki.example", "10.0.0.1", 3000, False),
        ("wiki.example", "a.wiki.example", "10.0.0.1", 80, False),
        ("wiki.example:3000", "wiki.example", "10.0.0.1", 3000, True),
        ("wiki.example:3000", "wiki.example", "10.0.0.1", 80, False),
        ("10.0.0.0/8", "anything.example", "10.9.9.9", 443, True),
        ("10.0.0.0/8", "anything.example", "::ffff:10.9.9.9", 443, True),
        ("10.0.0.0/8", "anything.example", "11.0.0.1", 443, False),
        ("10.0.0.0/8", "anything.example", "10.9.9.9", 22, False),
        ("127.0.0.1:9000", "127.0.0.1", "127.0.0.1", 9000, True),
        ("127.0.0.1:9000", "127.0.0.2", "127.0.0.2", 9000, False),
        ("[fd00::1]:8000", "fd00::1", "fd00::1", 8000, True),
        ("fd00::/8", "x.example", "fd12::1", 80, True),
        ("::1", "::1", "::1", 80, True),
    ],
)
def test_an_operator_allows_hosts_ports_and_networks(
    entry: str, host: str, address: str, port: int, fits: bool
) -> None:
    assert Allowed([entry]).fits(host, ipaddress.ip_address(address), port) is fits


@pytest.mark.parametrize(
    "entry",
    ["", "http://wiki.example", "a b", "10.0.0.1/8", "*.example", "x:0", "x:99999", "300.1.1.1", "-a"],
)
def test_anything_else_is_an_error(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host|has no valid port"):
        Allowed([entry])
