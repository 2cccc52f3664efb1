"""A million streams on paper: what the measured prices add up to, and which limit comes first."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from turnwire.config.settings import Settings
from turnwire_lab.bench.growth.parts import (
    BASE,
    CALLS,
    DESCRIPTORS,
    DIALLED,
    FRAME,
    LINE_BYTES,
    LINES,
    LINGERING,
    MEMORY,
    PARTS,
    REDIS_US,
    SERIES,
    TURN,
    WIRE,
    Part,
)
from turnwire_lab.bench.report import Table, lines, number, taken

NOTHING: Final = "No figures yet: `make bench-growth` measures them.\n"

STREAMS: Final = 1_000_000
SPEAKING: Final = 0.1
"""The share of streams that get deltas at one time; the others wait: for a tool, or a person."""
RATE: Final = 50
"""Deltas a second of those."""
TURNS: Final = 100_000
"""New turns a second."""

FULL: Final = 0.7
"""How much of a core, a memory or a network is used: the rest is for peaks, and for a machine that
fails."""
CORES: Final = 16
MEMORY_GIB: Final = 64
NETWORK_GBIT_S: Final = 10
DESCRIPTORS_OF_PROCESS: Final = 1_048_576
"""`fs.nr_open` of Linux."""
PORTS: Final = 28_232
"""Ports of Linux from one address to one other: `net.ipv4.ip_local_port_range`."""
TIME_WAIT_S: Final = 60
DISK_MB_S: Final = 100
SERIES_OF_PROMETHEUS: Final = 5_000_000

_MEBI: Final = 1_048_576


class Need(Struct, frozen=True):
    """One line of the sum. `count`: how many of what carries it are needed."""

    what: str
    in_all: str
    carries: str
    count: int
    of: tuple[str, str]
    """The name of one, and of several."""

    @property
    def needed(self) -> str:
        return f"{self.count:,} {self.of[self.count != 1]}" if self.count else ""


MACHINES: Final = ("machine", "machines")
NOTHING_ALONE: Final = ("", "")
"""For a summand."""


def checks(table: Table | None) -> str:
    """Each part of the model beside two measured points."""
    measured = _measured(table)
    rows = [_check(part, measured) for part in PARTS if measured.get(_price_row(part)) is not None]
    if table is None or not rows:
        return NOTHING
    body = lines(
        ("Part of the model", "Price", "of", "Measured (the model's error)", ""),
        ("---", "---:", "---", "---:", "---:"),
        *rows,
    )
    return f"{body}\n{taken(table)}"


def sums(table: Table | None, settings: Settings) -> str:
    """What a million streams take, and what breaks first."""
    prices = _prices(table)
    if table is None or prices is None:
        return NOTHING
    needs = list(_needs(prices, settings))
    body = lines(
        ("What", "In all", "What carries it", "Needed"),
        ("---", "---:", "---", "---:"),
        *((need.what, need.in_all, need.carries, need.needed) for need in needs),
    )
    first, second = sorted(
        (need for need in needs if need.of == MACHINES), key=lambda need: -need.count
    )[:2]
    streams = int(FULL * 1e6 / _stream_us(prices, settings))
    is_core_first = streams < (settings.max_streams or streams + 1)
    ends = "the core" if is_core_first else "the limit"
    return (
        f"{body}\n**What breaks first:** {_lower(first.what)}, which would take {first.count:,}"
        f" machines; then {_lower(second.what)}, with {second.count:,}. Within a process it is"
        f" {ends}: at {FULL:.0%} a core carries {streams:,} such streams, and"
        f" `TURNWIRE_MAX_STREAMS` is {settings.max_streams:,}.\n\n{taken(table)}"
    )


def _stream_us(prices: Mapping[Part, float], settings: Settings) -> float:
    """What a stream of the mix takes of a core in a second, in µs."""
    comments = (1 - SPEAKING) / settings.keepalive_s
    frames = SPEAKING * RATE + comments
    return frames * prices[FRAME] + TURNS / STREAMS * prices[TURN]


def _needs(prices: Mapping[Part, float], settings: Settings) -> Iterator[Need]:
    frames = STREAMS * SPEAKING * RATE
    comments = STREAMS * (1 - SPEAKING) / settings.keepalive_s
    parts_cores = {
        f"CPU of {frames:,.0f} frames/s": frames * prices[FRAME] / 1e6,
        f"CPU of {comments:,.0f} keepalives/s, as frames": comments * prices[FRAME] / 1e6,
        f"CPU of {TURNS:,} turns/s": TURNS * prices[TURN] / 1e6,
    }
    for what, part_cores in parts_cores.items():
        yield Need(what, f"{part_cores:,.1f} cores", "", 0, NOTHING_ALONE)
    cores = sum(parts_cores.values())
    processes = math.ceil(max(cores / FULL, STREAMS / (settings.max_streams or STREAMS)))
    yield Need(
        "Cores",
        f"{cores:,.0f} cores, {processes:,} processes",
        f"{CORES} cores, {FULL:.0%} used",
        math.ceil(processes / CORES),
        MACHINES,
    )
    gib = (STREAMS * prices[MEMORY] / 1024 + processes * prices[BASE]) / 1024
    yield Need(
        "Memory",
        f"{gib:,.0f} GiB",
        f"{MEMORY_GIB} GiB, {FULL:.0%} used",
        math.ceil(gib / MEMORY_GIB / FULL),
        MACHINES,
    )
    descriptors = STREAMS * prices[DESCRIPTORS]
    yield Need(
        "Descriptors",
        f"{descriptors:,.0f}, {descriptors / processes:,.0f} a process",
        f"{DESCRIPTORS_OF_PROCESS:,} a process",
        math.ceil(descriptors / DESCRIPTORS_OF_PROCESS / CORES),
        MACHINES,
    )
    ports = STREAMS * prices[DIALLED] + TURNS * TIME_WAIT_S * prices[LINGERING]
    yield Need(
        "Ports, if all agents have one address",
        f"{ports:,.0f}",
        f"{PORTS:,} from one machine to one address",
        math.ceil(ports / PORTS),
        MACHINES,
    )
    gbit = frames * prices[WIRE] * 8 / 1e9
    yield Need(
        "Network, to clients and to agents",
        f"{gbit:,.1f} Gbit/s",
        f"{NETWORK_GBIT_S} Gbit/s, {FULL:.0%} used",
        math.ceil(gbit / NETWORK_GBIT_S / FULL),
        MACHINES,
    )
    log_mb = TURNS * prices[LINE_BYTES] / 1e6
    yield Need(
        "Log lines",
        f"{TURNS * prices[LINES]:,.0f}/s, {log_mb:,.0f} MB/s",
        f"a disk of {DISK_MB_S} MB/s",
        math.ceil(log_mb / DISK_MB_S),
        MACHINES,
    )
    series = processes * prices[SERIES]
    yield Need(
        "Metrics",
        f"{series:,.0f} series",
        f"a Prometheus of {SERIES_OF_PROMETHEUS:,}",
        math.ceil(series / SERIES_OF_PROMETHEUS),
        ("Prometheus", "of Prometheus"),
    )
    if CALLS in prices and REDIS_US in prices:
        speaking = STREAMS * SPEAKING
        busy = speaking * prices[REDIS_US] / 1e6
        yield Need(
            "Redis, if agents keep nothing",
            f"{speaking * prices[CALLS]:,.0f} commands/s, {busy:,.1f} cores",
            f"one core each, {FULL:.0%} used",
            math.ceil(busy / FULL),
            ("primary", "primaries of a cluster"),
        )


def _lower(what: str) -> str:
    return what[0].lower() + what[1:]


def _price_row(part: Part) -> str:
    return part.row(part.price_at)


def _measured(table: Table | None) -> Mapping[str, float | None]:
    return {row.what: number(row) for row in table.rows} if table is not None else {}


def _prices(table: Table | None) -> Mapping[Part, float] | None:
    """The price of each part. Only those of the turn log may be missing: None if others are."""
    measured = _measured(table)
    found = {part: price for part in PARTS if (price := measured.get(_price_row(part))) is not None}
    return found if set(PARTS) - {CALLS, REDIS_US} <= found.keys() else None


def _check(part: Part, measured: Mapping[str, float | None]) -> Sequence[str]:
    price = measured[_price_row(part)]
    assert price is not None
    points = [
        _beside(price, measured.get(part.row(count)), f"{count:,}") for count in part.checked_at
    ]
    of = f"{part.price_at:,} {part.load}"
    return (part.what, f"{price:,g} {part.unit}".rstrip().replace(" /", "/"), of, *points)


def _beside(model: float, real: float | None, count: str) -> str:
    if real is None:
        return f"{count}: not measured"
    if real == model:
        return f"{count}: {real:,g} (none)"
    error = f"{model / real - 1:+.0%}" if real else "all"
    return f"{count}: {real:,g} ({error})"
