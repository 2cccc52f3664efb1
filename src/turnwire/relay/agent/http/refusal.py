"""Judge the head of a response: does a stream of events follow, or why is it refused?"""

import email.utils
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from turnwire.core.recording.secret_mask import SecretMask
from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.http.response import Head

RETRY_AFTER_MAX_S: Final = 3_600.0
"""Longest time for which an agent's word not to come back is believed, in seconds."""

EXCERPT_CHARACTERS: Final = 2_000
"""Most characters of a refusal's body that are logged."""

EXCERPT_BYTES: Final = 4 * EXCERPT_CHARACTERS
"""Most bytes of such a body that are read for it."""

_DIGITS_MAX: Final = 9
_PUBLIC: Final = frozenset({"accept", "content-type", "user-agent", "x-request-id"})
"""Headers of ours whose values may be logged."""


class Refusal(Struct, frozen=True):
    """Why a response is no stream of events. `text` is for the log."""

    why: DialFailure
    text: str


def refusal_of(head: Head, accept: Sequence[str]) -> Refusal | None:
    """Return why a response with this head is refused; None: its body is read.

    `accept`: the media types that the dialect reads.
    """
    status = head.status
    if status < 200:  # noqa: PLR2004 (101: we asked for no upgrade)
        return Refusal(DialFailure.HANDSHAKE, f"status {status}")
    if 300 <= status < 400:  # noqa: PLR2004 (the class of status)
        return Refusal(DialFailure.REDIRECT, f"status {status}")
    if not 200 <= status < 300:  # noqa: PLR2004
        return Refusal(DialFailure.STATUS, f"status {status}")
    encoding = head.headers.get("content-encoding", "identity").strip().lower()
    transfer = head.headers.get("transfer-encoding", "chunked").strip().lower()
    if transfer != "chunked":
        return Refusal(DialFailure.CONTENT_ENCODING, f"transfer encoding {transfer[:100]!r}")
    if encoding not in {"identity", ""}:
        return Refusal(DialFailure.CONTENT_ENCODING, f"content encoding {encoding[:100]!r}")
    if head.content_type not in accept:
        return Refusal(DialFailure.CONTENT_TYPE, f"content type {head.content_type[:100]!r}")
    return None


def retry_after_s(head: Head, now: float) -> float | None:
    """Return the seconds of `Retry-After`, which is a number or a date; None: there is none.

    `now` is the Unix time, in seconds.
    """
    value = head.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        after_s = float(value) if len(value) <= _DIGITS_MAX else RETRY_AFTER_MAX_S
    else:
        try:
            after_s = email.utils.parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return min(max(after_s, 0.0), RETRY_AFTER_MAX_S)


def excerpt(body: bytes, headers: Mapping[str, str]) -> str:
    """Return the beginning of a refusal's body for the log, without the secrets of our request.

    A server may repeat them. `headers` are those of the request.
    """
    secrets = {
        value.removeprefix("Bearer ").encode("latin-1")
        for name, value in headers.items()
        if name not in _PUBLIC
    }
    masked = SecretMask(secrets).mask(body[:EXCERPT_BYTES])
    return masked.decode(errors="replace")[:EXCERPT_CHARACTERS]
