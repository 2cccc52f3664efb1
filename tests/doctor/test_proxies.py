"""Which proxy stands in front, and which of its lines is to change."""

import pytest

from turnwire.doctor.findings import AILMENTS, Code
from turnwire.doctor.proxies import Proxy, finding, recognise_proxy


@pytest.mark.parametrize(
    ("headers", "proxy"),
    [
        ({"server": "nginx/1.22.1"}, Proxy.NGINX),
        ({"server": "envoy"}, Proxy.ENVOY),
        ({"via": "1.1 Caddy"}, Proxy.CADDY),
        ({"server": "uvicorn"}, None),
        ({}, None),
    ],
)
def test_who_stands_in_front(headers: dict[str, str], proxy: Proxy | None) -> None:
    assert recognise_proxy(headers) is proxy


def test_the_line_to_change_is_the_proxys_own_or_everybodys() -> None:
    named = finding(Code.COALESCED, "seen", Proxy.HAPROXY)
    unnamed = finding(Code.COALESCED, "seen", None)
    without = finding(Code.TOKEN_EXPIRED, "seen", Proxy.HAPROXY)

    assert named.mend[0] == "haproxy: option http-no-delay"
    assert set(named.mend) < set(unnamed.mend)
    assert named.mend[-1] == unnamed.mend[0] == AILMENTS[Code.COALESCED].mend
    assert without.mend == (AILMENTS[Code.TOKEN_EXPIRED].mend,)
