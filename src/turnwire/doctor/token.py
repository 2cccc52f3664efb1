"""What a token says of itself. It is not verified: that is the gateway's business."""

import base64
from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec
from msgspec import Struct

from turnwire.doctor.finding import Code
from turnwire.doctor.judging import Seen

SKEW_S: Final = 5.0


class _Claims(Struct):
    iat: float | None = None
    nbf: float | None = None
    exp: float | None = None


def of_token(token: str, now: float) -> Iterator[Seen]:
    """What its times say, by this machine's clock. Nothing if it is opaque."""
    claims = _claims(token)
    if claims is None:
        return
    if claims.exp is not None and claims.exp <= now:
        yield Code.TOKEN_EXPIRED, f"exp was {now - claims.exp:.0f} s ago"
    for name, at in (("iat", claims.iat), ("nbf", claims.nbf)):
        if at is not None and at > now + SKEW_S:
            yield Code.CLOCK_SKEW, f"the token's {name} is {at - now:.0f} s ahead of this machine"


def of_date(date: str | None, now: float) -> Iterator[Seen]:
    """What the `Date` of a response says."""
    try:
        told: datetime | None = parsedate_to_datetime(date or "")
    except ValueError:
        return
    assert told is not None
    ahead = told.timestamp() - now
    if abs(ahead) > SKEW_S:
        what = "ahead of" if ahead > 0 else "behind"
        yield Code.CLOCK_SKEW, f"the ingress is {abs(ahead):.0f} s {what} this machine"


def _claims(token: str) -> _Claims | None:
    parts = token.split(".")
    if len(parts) != len(("header", "claims", "signature")):
        return None
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(payload, type=_Claims)
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
