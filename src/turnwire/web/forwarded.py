"""Where a request comes from: its peer, or who a trusted proxy says that its own peer was.

For the log alone: nothing is granted or refused by an address. Of the headers in which proxies
tell it, `X-Forwarded-For` is read and no other: a proxy that knows one of them hands
on what its client wrote into the others.
"""

import ipaddress
import re
from collections.abc import Collection, Sequence
from typing import Final

from turnwire.urls import Network

HOPS_MAX: Final = 16
"""How many proxies may stand one behind the other; of a longer header the end is read."""

_PORT: Final = ":[0-9]{1,5}"
_HOP: Final = re.compile(rf"\[([0-9A-Fa-f:.]+)\](?:{_PORT})?|([0-9.]+){_PORT}|([0-9A-Fa-f:.]+)")
"""An address, maybe with a port. No zone: that may be any text."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """The proxies whose word is taken."""

    def __init__(self, trusted: Collection[Network] = ()) -> None:
        self._trusted = trusted

    def client(self, peer: str, forwarded_for: Sequence[bytes]) -> str:
        """The first hop, counted from here, that is no trusted proxy.

        A trusted proxy that names nobody, or somebody who has no address, is itself the last that
        is known.
        """
        if not self._trusted:
            return peer
        address = _address(peer)
        if address is None or not self._trusts(address):
            return peer
        hops = b",".join(forwarded_for).decode("latin-1").rsplit(",", HOPS_MAX)[-HOPS_MAX:]
        while hops and self._trusts(address):
            told = _address(hops.pop())
            if told is None:
                break
            address = told
        return str(address)

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _address(hop: str) -> _Address | None:
    found = _HOP.fullmatch(hop.strip(" \t"))
    if found is None:
        return None
    try:
        address = ipaddress.ip_address(found[1] or found[2] or found[3])
    except ValueError:
        return None
    # A socket that listens for both families shows IPv4 addresses in IPv6 ones.
    return getattr(address, "ipv4_mapped", None) or address
