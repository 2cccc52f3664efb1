"""What is wrong with a URL, an origin, a host or a network that somebody configured."""

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_ORIGIN: Final = re.compile(
    r"([a-z][a-z0-9+.-]*)://(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::([1-9]\d{0,4}))?"
)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}


def url_problem(
    given: str,
    scheme: str,
    *,
    plain: str | None,
    waiver: str = "",
    placeholder: str | None = None,
) -> str | None:
    """What is wrong with a URL of `scheme`, or of it with an `s` for TLS; None if nothing.

    `plain` says what would be wrong with it without TLS, to another machine; None: nothing.
    `waiver` is what would allow it all the same.
    `placeholder` must stand in it, after the host.
    """
    try:
        url = urlsplit(given)
        host, _port = url.hostname, url.port
    except ValueError:
        return "not a URL"
    if url.scheme not in {scheme, f"{scheme}s"} or not host:
        return f"must start with {scheme}:// or {scheme}s:// and a host"
    if not given.isascii():
        return "must be ASCII (an international host in its `xn--` form)"
    if url.username is not None or url.fragment or re.search(r"[^\x21-\x7e]", given):
        return "must have no user, no fragment, no white space and no control character"
    if placeholder is not None and (placeholder in url.netloc or placeholder not in given):
        return f"{placeholder} must stand in it, after the host"
    if url.scheme == scheme and plain is not None and not is_loopback(host):
        allowed = f" ({waiver} allows it)" if waiver else ""
        return f"{plain} over plain {scheme}:{allowed}"
    return None


def is_origin(given: str) -> bool:
    """Whether this is an origin as a browser spells it: lower case, no path, no default port."""
    found = _ORIGIN.fullmatch(given)
    return found is not None and found[2] != _DEFAULT_PORTS.get(found[1], "")


def network(given: str) -> Network | None:
    """The network of this name: an address, or one with the length of its prefix (CIDR).

    None if it is neither, or the network of everybody.
    """
    try:
        found = ipaddress.ip_network(given)
    except ValueError:
        return None
    return found if found.prefixlen else None


def is_loopback(host: str) -> bool:
    """Whether an address, or the name `localhost`, stays on this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
