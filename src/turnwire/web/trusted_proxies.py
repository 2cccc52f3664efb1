"""The IP address of the client: the peer's, or the one that a trusted proxy reports.

The address is for the log only: no access depends on it. `X-Forwarded-For` is the only header that
is read: a proxy that sets one such header passes the others on as its client wrote them.
"""

import ipaddress
import re
from collections.abc import Collection, Sequence
from typing import Final

from turnwire.config.urls import Network

HOPS_MAX: Final = 16
"""Most proxies in a row. Of a longer header only the end is read."""

_PORT: Final = ":[0-9]{1,5}"
_HOP: Final = re.compile(rf"\[([0-9A-Fa-f:.]+)\](?:{_PORT})?|([0-9.]+){_PORT}|([0-9A-Fa-f:.]+)")
"""An address, maybe with a port. A zone is not accepted: it may be any text."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """The networks of the proxies that are trusted to report their client's address."""

    def __init__(self, trusted: Collection[Network] = ()) -> None:
        self._trusted = trusted

    def client(self, peer: str, forwarded_for: Sequence[bytes]) -> str:
        """Return the address of the nearest hop that is not a trusted proxy.

        If a trusted proxy reports no address, or a malformed one, return the proxy's own address.
        """
        if not self._trusted:
            return peer
        address = _address(peer)
        if address is None or not self._trusts(address):
            return peer
        hops = b",".join(forwarded_for).decode("latin-1").rsplit(",", HOPS_MAX)[-HOPS_MAX:]
        while hops and self._trusts(address):
            forwarded = _address(hops.pop())
            if forwarded is None:
                break
            address = forwarded
        return str(address)

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _address(hop: str) -> _Address | None:
    match = _HOP.fullmatch(hop.strip(" \t"))
    if match is None:
        return None
    try:
        address = ipaddress.ip_address(match[1] or match[2] or match[3])
    except ValueError:
        return None
    # A socket that listens for both families shows IPv4 addresses in IPv6 ones.
    return getattr(address, "ipv4_mapped", None) or address
