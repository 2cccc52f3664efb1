"""The socket that the gateway listens on."""

import socket

import pytest

from turnwire.web.server.server import listen

pytestmark = pytest.mark.sockets


def test_an_address_is_taken_before_anything_is_served_on_it() -> None:
    """A bound socket alone would let a second gateway bind the same address."""
    with listen("127.0.0.1", 0) as first, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", first.getsockname()[1])


def test_an_ipv6_address_can_be_listened_on() -> None:
    try:
        sock = listen("::1", 0)
    except OSError:
        pytest.skip("no IPv6 here")
    with sock:
        assert sock.family == socket.AF_INET6


def test_what_it_accepts_is_probed() -> None:
    with (
        listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        option = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        keepalive = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    assert (option, keepalive) == (0, 1)
