"""What is made of what was measured."""

import msgspec
import pytest

from hostile.measured import Limits, Measured, broken, line, percentile, quiet_of

QUIET = Measured(
    who="nobody",
    name="no attack",
    wire="v2",
    p99=2.0,
    most=9.0,
    streams=100,
    not_whole=0,
    first_byte=5.0,
    first_byte_most=7.0,
    refused=0,
    growth_mib=2.0,
    ended_s=None,
    ends_within_s=None,
    written_mib=0.0,
    read_mib=0.0,
    statuses={},
    gateway_cores=0.2,
    waited_cores=0.0,
)


def row(**other: object) -> Measured:
    return msgspec.structs.replace(QUIET, who="agent", name="pings", **other)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, []),
        ({"p99": 51.9}, []),
        ({"p99": 52.1}, ["late deltas"]),
        ({"not_whole": 1}, ["1 of 100 streams are not whole"]),
        ({"refused": 2}, ["2 new requests were refused"]),
        ({"first_byte": 101.0}, ["late answers"]),
        ({"first_byte_most": 1000.0}, []),
        ({"growth_mib": 64.1}, ["memory"]),
        ({"ended_s": 3.0}, []),
        ({"ended_s": 1.9, "ends_within_s": 2.0}, []),
        ({"ended_s": 2.1, "ends_within_s": 2.0}, ["it lasts"]),
        ({"ended_s": None, "ends_within_s": 2.0}, ["it never began"]),
    ],
)
def test_a_row_breaks_what_was_promised(other: dict[str, object], said: list[str]) -> None:
    assert broken(row(**other), QUIET, Limits()) == said


def test_other_limits_forgive_what_they_say_and_nothing_else() -> None:
    wide = Limits(added_p99=200.0, first_byte=2_000.0)

    assert broken(row(p99=150.0, first_byte=1_900.0), QUIET, wide) == []
    assert broken(row(p99=250.0, first_byte=2_100.0), QUIET, wide) == [
        "late deltas",
        "late answers",
    ]
    assert broken(row(growth_mib=65.0), QUIET, wide) == ["memory"]


def test_the_quiet_row_of_a_wire_is_the_one_in_the_middle() -> None:
    quiet = [msgspec.structs.replace(QUIET, p99=p99) for p99 in (9.0, 1.0, 3.0)]

    assert quiet_of([*quiet, row(p99=0.1)])["v2"].p99 == 3.0


def test_the_line_says_what_is_broken() -> None:
    assert line(row(refused=1), QUIET, Limits()).endswith("  1 new requests were refused")
    assert line(row(), QUIET, Limits()).endswith("  ok")


def test_a_percentile_of_nothing_is_nothing() -> None:
    assert percentile([], 0.95) == 0.0
    assert percentile([3.0, 1.0, 2.0], 0.95) == 3.0
