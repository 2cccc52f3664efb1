"""Whose word counts about where a request comes from."""

from ipaddress import ip_network

import pytest

from turnwire.web.trusted_proxies import HOPS_MAX, Proxies

OURS = Proxies([ip_network("10.0.0.0/8"), ip_network("192.0.2.7"), ip_network("fd00::/8")])
PEER = "10.0.0.1"

CASES = {
    "a peer that is no proxy": ("198.51.100.1", ["203.0.113.9"], "198.51.100.1"),
    "a peer next to a proxy": ("192.0.2.8", ["203.0.113.9"], "192.0.2.8"),
    "a proxy that says nothing": (PEER, [], PEER),
    "an empty header": (PEER, [""], PEER),
    "a proxy and its client": (PEER, ["203.0.113.9"], "203.0.113.9"),
    "two proxies": (PEER, ["203.0.113.9, 192.0.2.7"], "203.0.113.9"),
    "proxies alone": (PEER, ["10.0.0.9, 10.0.0.8"], "10.0.0.9"),
    "what the client wrote itself": (PEER, ["127.0.0.1, 10.1.1.1, 203.0.113.9"], "203.0.113.9"),
    "the same, two proxies later": (PEER, ["1.1.1.1,203.0.113.9,10.0.0.2"], "203.0.113.9"),
    "several headers are one": (PEER, ["1.1.1.1", "203.0.113.9", "10.0.0.2"], "203.0.113.9"),
    "IPv6": ("fd00::1", ["2001:DB8:0::1"], "2001:db8::1"),
    "IPv6 with a port": (PEER, ["[2001:db8::1]:4711"], "2001:db8::1"),
    "IPv6 in brackets": (PEER, ["[2001:db8::1]"], "2001:db8::1"),
    "IPv4 with a port": (PEER, ["203.0.113.9:4711"], "203.0.113.9"),
    "IPv4 in IPv6": ("::ffff:10.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
    "white space": (PEER, ["\t203.0.113.9 "], "203.0.113.9"),
    "nobody": (PEER, ["unknown"], PEER),
    "nobody, behind a proxy": (PEER, ["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2"),
    "a name": (PEER, ["203.0.113.9, evil.example"], PEER),
    "a line of a log": (PEER, ['203.0.113.9, x"\x1b[31m'], PEER),
    "a zone": (PEER, ["fe80::1%eth0"], PEER),
    "a zone that is any text": (PEER, ['fe80::1%"forged'], PEER),
    "too large a number": (PEER, ["203.0.113.256"], PEER),
    "a number": (PEER, ["3405803785"], PEER),
    "leading zeroes": (PEER, ["203.0.113.009"], PEER),
    "digits of another script": (PEER, ["\uff12\uff10\uff13.0.113.9"], PEER),
    "no end": (PEER, [","], PEER),
    "colons": (PEER, [":::::"], PEER),
    "a socket without an address": ("", ["203.0.113.9"], ""),
}


@pytest.mark.parametrize(("peer", "told", "client"), CASES.values(), ids=list(CASES))
def test_the_first_that_is_no_trusted_proxy(peer: str, told: list[str], client: str) -> None:
    assert OURS.client(peer, [each.encode() for each in told]) == client


def test_by_default_nobody_is_believed() -> None:
    assert Proxies().client("127.0.0.1", [b"203.0.113.9"]) == "127.0.0.1"


def test_of_a_header_without_end_the_end_is_read() -> None:
    header = b"203.0.113.9," + b"10.0.0.2," * 10_000 + b"10.0.0.3"

    assert OURS.client(PEER, [header]) == "10.0.0.2"
    proxies = b",10.0.0.2" * (HOPS_MAX - 1)
    assert OURS.client(PEER, [b"1.1.1.1,203.0.113.9" + proxies]) == "203.0.113.9"
    assert OURS.client(PEER, [b"203.0.113.9,10.0.0.4" + proxies]) == "10.0.0.4"
