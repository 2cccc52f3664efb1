"""A point of time as RFC 3339 writes it, the profile of ISO 8601 that JSON has.

The core reads no clock and knows no time zone (so it has no `datetime`), but a point of time that
names its offset from UTC is arithmetic alone.
"""

import re
from typing import Final

_DATE_TIME: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]"
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
"""RFC 3339, section 5.6. A space may stand for the `T`."""

_DAYS_BEFORE: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)
"""Days of a year before each month; the last one is the year after."""

_FEBRUARY: Final = 2
_EPOCH_DAYS: Final = 719_162
"""Days from 0001-01-01 to 1970-01-01."""


def milliseconds(text: str) -> int | None:
    """Return the milliseconds of the epoch at a point of time; None if the text names none.

    A time without an offset is some time of day at a place that nobody knows: it names none.
    """
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    fraction, sign, *offset = found.groups()[6:]
    ahead_hours, ahead_minutes = (int(each or 0) for each in offset)
    is_date = year and 1 <= month <= 12 and 1 <= day <= _days_in(year, month)  # noqa: PLR2004
    # A minute may have a leap second.
    is_time = hour <= 23 and minute <= 59 and second <= 60  # noqa: PLR2004
    if not is_date or not is_time or ahead_hours > 23 or ahead_minutes > 59:  # noqa: PLR2004
        return None
    ahead = (60 * ahead_hours + ahead_minutes) * (-1 if sign == "-" else 1)
    minutes = 1_440 * _days_to(year, month, day) + 60 * hour + minute - ahead
    return 1_000 * (60 * minutes + second) + int((fraction or "").ljust(3, "0")[:3])


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    is_longer = month == _FEBRUARY and _is_leap(year)
    return _DAYS_BEFORE[month] - _DAYS_BEFORE[month - 1] + is_longer


def _days_to(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date."""
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400
    is_longer = month > _FEBRUARY and _is_leap(year)
    return days + _DAYS_BEFORE[month - 1] + is_longer + day - 1 - _EPOCH_DAYS
