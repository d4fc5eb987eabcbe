"""Names, addresses and allow-lists: no spelling of anything gets past a rule."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.network import Allowed, Caps, parse_domain
from sandbox.network.addresses import TABLE, refusal
from sandbox.network.hosts import HostError, LiteralError, Target, parse_host, parse_target

LITERALS = """127.0.0.1 127.1 0x7f.1 0X7F.0.0.1 2130706433 0x7f000001 0177.0.0.1 0 127.0.0.1. 1.2.3.4.5 8.8.8.8 a.0x7f
[::1] ::1 [::ffff:1.2.3.4] fe80::1%eth0 [fe80::1%25eth0] ①②⑦.0.0.1 １２７.0.0.1 127。0。0。1 example.1 0x"""

BAD_NAMES = [
    "",
    ".",
    "..",
    "a..b",
    ".a",
    "a.b..",
    "a b",
    "a\tb",
    "a\n",
    "exa%6dple.com",
    "a@b",
    "a/b",
    "a\\b",
    "-a.com",
]
BAD_NAMES += ["a-.com", "a" * 64 + ".com", ".".join(["a" * 60] * 5), "a\0b", "é\u202e.com", "*.com", "a,b", "☃☃.net"]


@pytest.mark.parametrize("text", LITERALS.split())
def test_an_address_in_any_spelling_is_no_name(text: str) -> None:
    with pytest.raises(LiteralError):
        parse_host(text)
    with pytest.raises(ValueError, match="address"):
        parse_domain(text)


@pytest.mark.parametrize("text", BAD_NAMES)
def test_what_is_no_host_name_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(HostError):
        parse_host(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("ＢÜCHER。example", "xn--bcher-kva.example"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("1password.com", "1password.com"),
        ("0x7f.example", "0x7f.example"),
    ],
)
def test_one_form_of_a_name(text: str, name: str) -> None:
    assert parse_host(text) == name


@given(st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_name_in_its_one_form_or_refused(text: str) -> None:
    try:
        name = parse_host(text)
    except HostError as error:
        assert str(error).isascii()
        return
    assert name == parse_host(name) and name.isascii() and name == name.lower() and not name.endswith(".")


@given(st.text("0123456789abcdefxX.", min_size=1, max_size=16))
@settings(max_examples=400, deadline=None)
def test_what_the_c_library_reads_as_an_address_never_is_a_name(text: str) -> None:
    try:
        socket.inet_aton(text)
    except OSError:
        return
    with pytest.raises(HostError):
        parse_host(text)


@given(st.ip_addresses(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_no_address_is_a_name(address: IPv4Address | IPv6Address, exploded: bool) -> None:
    text = address.exploded if exploded else str(address)
    for spelling in (text, f"[{text}]", str(int(address)), hex(int(address))):
        with pytest.raises(HostError):
            parse_host(spelling)


def test_targets() -> None:
    assert parse_target("Example.com:8080") == Target("example.com", 8080)
    assert parse_target("example.com", 80) == Target("example.com", 80)
    for text in (
        "example.com",
        "example.com:",
        "example.com:0",
        "example.com:65536",
        "example.com:+80",
        "a:８０",
        ":80",
    ):
        with pytest.raises(HostError):
            parse_target(text)


REFUSED = """0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.255.255.254 168.63.129.16 169.254.169.254 172.31.255.255
192.0.0.9 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8
64:ff9b::8.8.8.8 64:ff9b:1::1 64:ff9b:2::1 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1
2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3ffe::1 3fff::1 4000::1 5f00::1 fc00::1
fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 2a00:1450::5efe:10.0.0.1 2a00:1450::200:5efe:10.0.0.1"""
PUBLIC = """8.8.8.8 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
2606:4700::1111 2001:4860:4860::8888 2001:200::1 2003::1 2a00:1450:4001:800::200e 2620:fe::fe"""


@pytest.mark.parametrize("text", REFUSED.split())
def test_addresses_that_are_never_dialled(text: str) -> None:
    assert refusal(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.split())
def test_public_addresses(text: str) -> None:
    assert refusal(ip_address(text)) == ""


@given(st.sampled_from(TABLE), st.data())
@settings(max_examples=300, deadline=None)
def test_every_address_of_a_block_is_refused(row: tuple[object, str], data: st.DataObject) -> None:
    network = ip_network(str(row[0]))
    offset = data.draw(st.integers(0, network.num_addresses - 1))
    assert refusal(network[offset])


@given(st.ip_addresses(v=4))
@settings(max_examples=300, deadline=None)
def test_an_ipv4_address_is_never_reached_through_an_ipv6_one(address: IPv4Address) -> None:
    value = int(address)
    for prefix in ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::"):
        assert refusal(IPv6Address(int(IPv6Address(prefix)) | value))
    assert refusal(IPv6Address(0x2002 << 112 | value << 80 | 1))
    assert refusal(IPv6Address(0x20010000 << 96 | 1 << 64 | (value ^ 0xFFFFFFFF)))


@given(st.ip_addresses())
@settings(max_examples=300, deadline=None)
def test_what_the_standard_library_finds_special_we_do_too(address: IPv4Address | IPv6Address) -> None:
    special = address.is_loopback or address.is_link_local or address.is_multicast or address.is_reserved
    if special or address.is_private or address.is_unspecified:
        assert refusal(address)


def test_domains_match_by_whole_labels() -> None:
    allowed = Allowed(("Example.com.", "*.pypi.org", "bücher.example"))
    assert allowed.domains == ("example.com", "*.pypi.org", "xn--bcher-kva.example")
    for host in ("example.com", "files.pypi.org", "a.b.pypi.org", "xn--bcher-kva.example"):
        assert allowed.permits(host), host
    for host in ("notexample.com", "www.example.com", "example.com.evil.test", "pypi.org", "notpypi.org", "com", "org"):
        assert not allowed.permits(host), host


@pytest.mark.parametrize(
    ("domain", "why"),
    [
        ("", "empty"),
        ("*", "first label"),
        ("*.", "empty"),
        ("*.com", "top-level"),
        ("a.*.com", "first label"),
        ("*x.com", "first label"),
        ("https://example.com", "URL"),
        ("example.com/path", "URL"),
        ("example.com:443", "ports"),
        ("a..com", "empty label"),
        ("*.10.0.0.1", "IP address"),
        ("localhost", "this machine"),
        ("printer.local", "this machine"),
        ("*.internal", "this machine"),
    ],
)
def test_a_domain_that_cannot_be_on_the_list(domain: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Allowed((domain,))


def test_ports_and_caps_are_checked() -> None:
    assert Allowed(("a.test",), (443, 443)).ports == (443,)
    for port in (0, -1, 65536, True, "80"):
        with pytest.raises(ValueError, match="port"):
            Allowed(("a.test",), (port,))  # type: ignore[arg-type]
    for bad in (0, -1, True, float("nan"), "1"):
        with pytest.raises(ValueError, match="bytes_up"):
            Caps(bytes_up=bad)  # type: ignore[arg-type]
