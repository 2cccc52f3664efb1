"""What the times in a token and in a `Date` header say."""

import pytest

from turnwire.doctor.findings import Code
from turnwire.doctor.token import date_symptoms, token_symptoms

# A token is read, not verified: {"iat":1000,"nbf":1000,"exp":2000}, without a signature.
TOKEN = "e30.eyJpYXQiOjEwMDAsIm5iZiI6MTAwMCwiZXhwIjoyMDAwfQ.x"


@pytest.mark.parametrize(
    ("token", "now", "codes"),
    [
        (TOKEN, 1500, []),
        (TOKEN, 2000, [Code.TOKEN_EXPIRED]),
        (TOKEN, 996, []),
        (TOKEN, 900, [Code.CLOCK_SKEW, Code.CLOCK_SKEW]),
        ("opaque", 0, []),
        ("a.b.c", 0, []),
        ("a.!!.c", 0, []),
    ],
)
def test_what_a_token_says(token: str, now: float, codes: list[Code]) -> None:
    assert [code for code, _ in token_symptoms(token, now)] == codes


@pytest.mark.parametrize(
    ("date", "texts"),
    [
        ("Thu, 01 Jan 1970 00:16:40 GMT", []),
        ("Thu, 01 Jan 1970 00:17:40 GMT", ["the ingress is 60 s ahead of this machine"]),
        ("Thu, 01 Jan 1970 00:15:40 GMT", ["the ingress is 60 s behind this machine"]),
        ("yesterday", []),
        (None, []),
    ],
)
def test_what_a_date_says(date: str | None, texts: list[str]) -> None:
    assert [seen for _, seen in date_symptoms(date, 1000)] == texts
