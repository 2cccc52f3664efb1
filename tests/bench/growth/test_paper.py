import msgspec
import pytest

from turnwire.config.settings import Settings
from turnwire_lab.bench import report
from turnwire_lab.bench.growth import paper
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

PRICES = {
    FRAME: 50.0,
    TURN: 500.0,
    MEMORY: 24.0,
    BASE: 50.0,
    DESCRIPTORS: 2.0,
    DIALLED: 1.0,
    LINGERING: 0.0,
    WIRE: 400.0,
    CALLS: 200.0,
    REDIS_US: 500.0,
    LINES: 1.0,
    LINE_BYTES: 500.0,
    SERIES: 200.0,
}
SETTINGS = Settings()


def measured(prices: dict[Part, float]) -> report.Table:
    """A table in which each part costs its price at the price's load, a fifth less elsewhere."""
    rows = [
        report.Row(part.row(count), "", f"{price * share:,.2f} {part.unit}", "", "")
        for part, price in prices.items()
        for count, share in ((part.price_at, 1), *((count, 0.8) for count in part.checked_at))
    ]
    return report.Table(machine="a machine", date="2026-01-02", notes=[], rows=rows)


def needed(page: str, what: str) -> str:
    """The last cell of a line."""
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {what}")]
    return line.split("|")[-2].strip()


def test_a_million_streams_are_the_sum_of_their_prices() -> None:
    page = paper.sums(measured(PRICES), SETTINGS)

    # 5,000,000 frames, 60,000 keepalives and 100,000 turns a second
    assert "| 250.0 cores |" in page
    assert "| 3.0 cores |" in page
    assert "| 50.0 cores |" in page
    assert "| 303 cores, 433 processes |" in page
    assert needed(page, "Cores") == "28 machines"
    assert "| Memory | 44 GiB |" in page
    assert needed(page, "Memory") == "1 machine"
    assert "| 2,000,000, 4,619 a process |" in page
    assert "| 16.0 Gbit/s |" in page
    assert "| 100,000/s, 50 MB/s |" in page
    assert "| 20,000,000 commands/s, 50.0 cores |" in page
    assert needed(page, "Redis") == "72 primaries of a cluster"


def test_what_breaks_first_is_what_wants_most_machines() -> None:
    ports = paper.sums(measured(PRICES), SETTINGS)
    cores = paper.sums(measured({**PRICES, FRAME: 200.0}), SETTINGS)
    lingering = paper.sums(measured({**PRICES, LINGERING: 1.0}), SETTINGS)

    assert "first:** ports, if all agents have one address, which would take 36 mach" in ports
    assert "then cores, with 28." in ports
    assert "first:** cores, which would take 95 machines; then ports" in cores
    assert needed(lingering, "Ports") == "248 machines"


@pytest.mark.parametrize(
    ("most", "ends"),
    [
        (8_000, "it is the core: at 70% a core carries 2,310 such streams"),
        (1_000, "it is the limit"),
        (0, "it is the core"),
    ],
)
def test_a_process_ends_with_its_core_or_with_its_limit(most: int, ends: str) -> None:
    settings = msgspec.structs.replace(SETTINGS, max_streams=most)

    assert ends in paper.sums(measured(PRICES), settings)


def test_a_limit_of_streams_asks_for_processes_too() -> None:
    settings = msgspec.structs.replace(SETTINGS, max_streams=1_000)

    assert "1,000 processes |" in paper.sums(measured(PRICES), settings)


def test_each_part_stands_beside_two_measured_points() -> None:
    page = paper.checks(measured(PRICES))

    assert "| CPU of a frame | 50 µs | 300 streams with 5 deltas/s | 100: 40 (+25%) |" in page
    assert "| 100: 40 (+25%) | 1,000: 40 (+25%) |" in page
    assert "| 32: 400 (+25%) | 100: 400 (+25%) |" in page
    assert "| Descriptors of a stream | 2 | 300 open streams |" in page
    assert "| 200/s | 10 streams with a turn log |" in page
    assert page.count("\n| ") == len(PARTS) + 1
    assert "| 32: 0 (none) | 100: 0 (none) |" in page


def test_a_point_that_is_not_there_is_named() -> None:
    table = measured({FRAME: 50.0, LINGERING: 1.0})
    rows = [
        report.Row(row.what, "", "0.00", "", "") if row.what == LINGERING.row(32) else row
        for row in table.rows
        if row.what != FRAME.row(1_000)
    ]

    page = paper.checks(msgspec.structs.replace(table, rows=rows))

    assert "| 100: 40 (+25%) | 1,000: not measured |" in page
    assert "| 32: 0 (all) |" in page


def test_without_a_redis_the_rest_is_there() -> None:
    prices = {part: price for part, price in PRICES.items() if part not in {CALLS, REDIS_US}}

    page = paper.sums(measured(prices), SETTINGS)

    assert "What breaks first" in page
    assert "Redis" not in page


def test_without_a_price_there_is_no_sum() -> None:
    prices = {part: price for part, price in PRICES.items() if part != MEMORY}

    assert paper.sums(measured(prices), SETTINGS) == paper.NOTHING
    assert paper.sums(None, SETTINGS) == paper.checks(None) == paper.NOTHING
    assert paper.checks(measured({})) == paper.NOTHING
