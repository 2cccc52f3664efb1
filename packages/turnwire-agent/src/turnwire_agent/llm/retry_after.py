"""What a provider asks us to wait, from the headers of its response or from its error object."""

import re
from collections.abc import Mapping, Sequence
from email.utils import mktime_tz, parsedate_tz
from typing import Any, Final

_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_DURATION: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")


def of_headers(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from now; None if the headers do not tell, or not in a form that is known.

    Args:
        headers: Their names are in small letters.
        now: Seconds since 1970: what a date is compared with.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None else _until(value, now)


def of_details(details: Sequence[Mapping[str, Any]]) -> float | None:
    """Seconds, from the `RetryInfo` in the details of Google's error object; None without one."""
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and (match := _DURATION.fullmatch(delay)):
            return float(match[1])
    return None


def _number(value: str) -> float | None:
    value = value.strip()
    return float(value) if _NUMBER.fullmatch(value) else None


def _until(date: str, now: float) -> float | None:
    """Seconds until a date of HTTP. It has no other zone than GMT, and its oldest form names none.

    None if it is no date.
    """
    try:
        parsed = parsedate_tz(date)
        return None if parsed is None else max(0.0, mktime_tz((*parsed[:9], parsed[9] or 0)) - now)
    except (ArithmeticError, LookupError, TypeError, ValueError):  # as of a year of eleven digits
        return None
