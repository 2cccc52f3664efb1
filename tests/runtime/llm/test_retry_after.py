import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.llm.retry_after import of_details, of_headers

NOW = 1_795_647_600.0
"""Wed, 25 Nov 2026 23:00:00 GMT."""


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2),
        (" 0 ", 0),
        ("1.25", 1.25),
        ("Wed, 25 Nov 2026 23:00:07 GMT", 7),
        ("Wed, 25 Nov 2026 22:59:00 GMT", 0),
        ("Wednesday, 25-Nov-26 23:00:07 GMT", 7),
        ("Wed Nov 25 23:00:07 2026", 7),
        ("Thu, 26 Nov 2026 01:00:07 +0200", 7),
        ("Wed, 25 Nov 2026 23:00:07", 7),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400, None),
        ("٣", None),
        ("Wed, 25 Nov 99999999999 23:00:00 GMT", None),
    ],
)
def test_a_header_in_seconds_or_as_a_date(value: str, seconds: float | None) -> None:
    assert of_headers({"retry-after": value}, NOW) == seconds


def test_milliseconds_are_more_precise() -> None:
    assert of_headers({"retry-after": "2", "retry-after-ms": "1500"}, NOW) == 1.5
    assert of_headers({"retry-after": "2", "retry-after-ms": "?"}, NOW) == 2
    assert of_headers({}, NOW) is None


def test_google_tells_a_duration() -> None:
    assert of_details([{"reason": "x"}, {"retryDelay": 3}, {"retryDelay": "31.5s"}]) == 31.5
    assert of_details([{"retryDelay": "3m"}]) is None
    assert of_details([]) is None


@given(st.text(max_size=40))
def test_any_text_is_a_wait_or_none(value: str) -> None:
    seconds = of_headers({"retry-after": value, "retry-after-ms": value}, NOW)

    assert seconds is None or 0 <= seconds < 1e12
