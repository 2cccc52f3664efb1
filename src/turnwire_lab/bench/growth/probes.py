"""Counters of the system, of a gateway and of Redis, beside processor time and memory."""

import http.client
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from turnwire_lab.process import HOST

_PROC: Final = Path("/proc")
_TIME_WAIT: Final = "06"
_PATIENCE_S: Final = 10.0
_PORT_AT: Final = 2
"""The column of the other end in `/proc/net/tcp`; the state is the next one."""


class Redis(Struct, frozen=True):
    """What a Redis has done so far, what scripts did included."""

    calls: int
    busy_us: int


def descriptors(pids: Iterable[int]) -> int:
    """How many files and sockets these processes have open."""
    return sum(len(list((_PROC / str(pid) / "fd").iterdir())) for pid in pids)


def loopback_bytes() -> int:
    """What loopback has carried, with the heads of packets."""
    return carried((_PROC / "net" / "dev").read_text(encoding="ascii"))


def carried(devices: str) -> int:
    """The bytes of loopback in `/proc/net/dev`. 0: there is none."""
    found = re.search(r"^\s*lo:\s*(\d+)", devices, re.MULTILINE)
    return int(found[1]) if found else 0


def lingering(port: int) -> int:
    """How many ports wait, after their connections to this port were closed."""
    return waiting(port, (_PROC / "net" / "tcp").read_text(encoding="ascii"))


def waiting(port: int, connections: str) -> int:
    """The same by the text of `/proc/net/tcp`."""
    lines = [line.split() for line in connections.splitlines()[1:]]
    return sum(
        int(line[_PORT_AT].partition(":")[2], 16) == port and line[_PORT_AT + 1] == _TIME_WAIT
        for line in lines
    )


def series(port: int) -> int:
    """How many series a gateway's metrics have."""
    connection = http.client.HTTPConnection(HOST, port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().splitlines()
    finally:
        connection.close()
    return sum(bool(line) and not line.startswith(b"#") for line in lines)


def redis(port: int) -> Redis:
    """What the Redis at this port has done."""
    text = b""
    with socket.create_connection((HOST, port), _PATIENCE_S) as connection:
        connection.sendall(b"INFO commandstats\r\nQUIT\r\n")
        while piece := connection.recv(65_536):
            text += piece
    return work(text.decode("ascii", "replace"))


def work(stats: str) -> Redis:
    """The same by the text of `INFO commandstats`.

    The time of a script has that of its commands, so only commands that clients sent count for
    time: scripts, and what is not sent by them.
    """
    found = re.findall(r"^cmdstat_([^:]+):calls=(\d+),usec=(\d+)", stats, re.MULTILINE)
    scripts = [(name, int(us)) for name, _, us in found if name.startswith(("eval", "fcall"))]
    return Redis(
        calls=sum(int(calls) for name, calls, _ in found if not name.startswith("info")),
        busy_us=sum(us for _, us in scripts),
    )
