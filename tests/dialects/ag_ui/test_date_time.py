"""Points of time that an agent writes: what they are in milliseconds, and what names none."""

import datetime as dt
from typing import Final

import pytest

from turnwire.dialects.ag_ui.date_time import milliseconds

DAYS: Final = [
    *("0001-01-01", "1600-02-29", "1900-02-28", "1900-03-01", "1969-12-31", "1970-01-01"),
    *("2000-02-29", "2000-03-01", "2027-12-31", "2028-02-29", "2100-02-28", "9999-12-31"),
]


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("offset", ["Z", "+00:00", "-00:00", "+05:30", "-11:45"])
def test_it_is_what_the_standard_library_reads(day: str, offset: str) -> None:
    text = f"{day}T13:07:09.125{offset}"
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    moment = dt.datetime.fromisoformat(text)

    assert milliseconds(text) == (moment - epoch) // dt.timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1970-01-01T00:00:01Z", 1_000),
        ("1970-01-01t00:00:01z", 1_000),
        ("1970-01-01 00:00:01Z", 1_000),
        ("1970-01-01T00:00:00.5Z", 500),
        ("1970-01-01T00:00:00.123456789Z", 123),
        ("1970-01-01T00:00:60Z", 60_000),
        ("1970-01-01T01:00:00+01:00", 0),
    ],
)
def test_a_point_of_time(text: str, read: int) -> None:
    assert milliseconds(text) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "1764086400000", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01T00:00Z"),
        *("0000-01-01T00:00:00Z", "2027-00-01T00:00:00Z", "2027-13-01T00:00:00Z"),
        *("2027-01-00T00:00:00Z", "2027-04-31T00:00:00Z", "2027-02-29T00:00:00Z"),
        *("1900-02-29T00:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z"),
        *("2027-01-01T00:00:61Z", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:00+01:60"),
        *("2027-01-01T00:00:00.Z", "2027-01-01T00:00:00,5Z", "2027-01-01T00:00:00+0100"),
        *("2027-01-01T00:00:00Z\n", " 2027-01-01T00:00:00Z", "٢027-01-01T00:00:00Z"),
    ],
)
def test_any_other_text_names_none(text: str) -> None:
    assert milliseconds(text) is None
