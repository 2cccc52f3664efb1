"""Check URLs, origins, hosts and networks in the settings."""

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
    url: str,
    scheme: str,
    *,
    plain: str | None,
    waiver: str = "",
    placeholder: str | None = None,
) -> str | None:
    """Return what is wrong with a URL; None if nothing is.

    The URL must have the scheme `scheme`, or `scheme` and an `s` for TLS.
    `plain`: the harm of a URL without TLS to another host, for the message; None: it is allowed.
    `waiver`: the setting that allows such a URL, for the message.
    `placeholder`: a text that the URL must contain, after the host.
    """
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return "not a URL"
    if parts.scheme not in {scheme, f"{scheme}s"} or not host:
        return f"must start with {scheme}:// or {scheme}s:// and a host"
    if not url.isascii():
        return "must be ASCII (an international host in its `xn--` form)"
    if parts.username is not None or parts.fragment or re.search(r"[^\x21-\x7e]", url):
        return "must have no user, no fragment, no white space and no control character"
    if placeholder is not None and (placeholder in parts.netloc or placeholder not in url):
        return f"{placeholder} must stand in it, after the host"
    if parts.scheme == scheme and plain is not None and not is_loopback(host):
        allowed = f" ({waiver} allows it)" if waiver else ""
        return f"{plain} over plain {scheme}:{allowed}"
    return None


def is_origin(text: str) -> bool:
    """Whether a text is an origin as browsers write it: lower case, no path, no default port."""
    match = _ORIGIN.fullmatch(text)
    return match is not None and match[2] != _DEFAULT_PORTS.get(match[1], "")


def network(text: str) -> Network | None:
    """Parse an address, or a network in CIDR notation (`10.0.0.0/8`).

    Returns None if the text is neither, or if the network contains all addresses (`/0`).
    """
    try:
        parsed = ipaddress.ip_network(text)
    except ValueError:
        return None
    return parsed if parsed.prefixlen else None


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address or the name `localhost`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
