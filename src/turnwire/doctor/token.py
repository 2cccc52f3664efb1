"""Times in a token and in a `Date` header, compared with this machine's clock.

The token is not verified: that is the task of the gateway.
"""

import base64
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec
from msgspec import Struct

from turnwire.doctor.checks import Symptom
from turnwire.doctor.findings import Code

SKEW_S: Final = 5.0


class _Claims(Struct):
    iat: float | None = None
    nbf: float | None = None
    exp: float | None = None


_read_claims = msgspec.json.Decoder(_Claims).decode


def token_symptoms(token: str, now: float) -> Iterator[Symptom]:
    """Symptoms in the token's times, by this machine's clock. None if the token is opaque."""
    claims = _claims(token)
    if claims is None:
        return
    if claims.exp is not None and claims.exp <= now:
        yield Code.TOKEN_EXPIRED, f"exp was {now - claims.exp:.0f} s ago"
    for name, at in (("iat", claims.iat), ("nbf", claims.nbf)):
        if at is not None and at > now + SKEW_S:
            yield Code.CLOCK_SKEW, f"the token's {name} is {at - now:.0f} s ahead of this machine"


def date_symptoms(date: str | None, now: float) -> Iterator[Symptom]:
    """Symptoms in the `Date` header of a response."""
    try:
        server_time: datetime | None = parsedate_to_datetime(date or "")
    except ValueError:
        return
    assert server_time is not None
    ahead_s = server_time.timestamp() - now
    if abs(ahead_s) > SKEW_S:
        direction = "ahead of" if ahead_s > 0 else "behind"
        yield Code.CLOCK_SKEW, f"the ingress is {abs(ahead_s):.0f} s {direction} this machine"


def _claims(token: str) -> _Claims | None:
    parts = token.split(".")
    if len(parts) != len(("header", "claims", "signature")):
        return None
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return _read_claims(payload)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
