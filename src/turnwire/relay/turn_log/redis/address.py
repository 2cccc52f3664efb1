"""The URL of the turn log's Redis: one server, the nodes of a cluster, or Sentinels.

`redis://host:port/0`, `redis+cluster://host:port,host:port`, and
`redis+sentinel://host:port,host:port/name` with the name of the primary; `rediss…` is the same with
TLS. User and password stand before the hosts, and options of the library after a `?`. The user and
the password of the Sentinels are the options `sentinel_username` and `sentinel_password`.
"""

import enum
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from redis.asyncio import Connection, SSLConnection
from redis.asyncio.connection import parse_url

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26_379
_OF_SENTINELS: Final = "sentinel_"


class Kind(enum.Enum):
    """What stands behind the URL. The value follows the scheme of one server."""

    SERVER = ""
    CLUSTER = "+cluster"
    SENTINEL = "+sentinel"


class Address(Struct, frozen=True):
    """A URL, read. The options may hold a password: nothing prints them."""

    kind: Kind
    hosts: tuple[tuple[str, int], ...]
    options: dict[str, Any]
    """Of a connection, without its host."""
    sentinel_options: dict[str, Any]
    primary: str = ""
    """The name that Sentinels have for it."""

    def __repr__(self) -> str:
        return f"<{self.kind.name.lower()} at {self.hosts}>"


def problem(url: str) -> str | None:
    """Return why the library cannot use this URL; None if it can. Opens no connection."""
    try:
        address = read(url)
        is_tls = address.options.get("connection_class") is SSLConnection
        options = {
            key: value for key, value in address.options.items() if key != "connection_class"
        }
        # Only a connection object reads the options.
        host, port = address.hosts[0]
        (SSLConnection if is_tls else Connection)(host=host, port=port, **options)
    except Exception:  # noqa: BLE001 (an option may raise anything; the text may hold a password)
        schemes = ", ".join(f"redis{kind.value}://" for kind in Kind)
        return (
            f"must begin with {schemes} (or rediss), a host, a port, "
            "and options that the library knows"
        )
    return None


def read(url: str) -> Address:
    """Read a URL.

    Raises:
        ValueError: it has another scheme, no host, or a port that is no number.

    """
    parts = urlsplit(url)
    scheme, plus, kind_name = parts.scheme.partition("+")
    kind = Kind(plus + kind_name)
    login, at, places = parts.netloc.rpartition("@")
    default_port = _SENTINEL_PORT if kind is Kind.SENTINEL else _PORT
    hosts = tuple(_host(place, default_port) for place in places.split(","))
    path, name = parts.path, ""
    if kind is Kind.SENTINEL:
        name, _, database = path.strip("/").partition("/")
        path = f"/{database}"
        if not name:
            raise ValueError("no name of a primary")
    elif kind is Kind.SERVER and len(hosts) > 1:
        raise ValueError("more than one server")
    options: dict[str, Any] = dict(parse_url(f"{scheme}://{login}{at}host{path}?{parts.query}"))
    del options["host"]
    if kind is Kind.CLUSTER and options.pop("db", 0):
        raise ValueError("a cluster has one database")
    sentinel_options = {
        key.removeprefix(_OF_SENTINELS): options.pop(key)
        for key in list(options)
        if key.startswith(_OF_SENTINELS)
    }
    return Address(kind, hosts, options, sentinel_options, name)


def _host(place: str, default_port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{place}")
    if not parts.hostname:
        raise ValueError("no host")
    return parts.hostname, parts.port or default_port
