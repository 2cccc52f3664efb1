"""Why a response is not whole, in the words that a client is shown."""

from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.bounds import Word
from turnwire.core.wire import lenient

_LENGTH: Final = frozenset({"max_output_tokens", "max_tokens"})


class _Details(Struct, frozen=True):
    reason: Word | None = None


_decode = msgspec.json.Decoder(_Details).decode


def read(details: Raw) -> str | None:
    """Return the reason of the `incomplete_details` of a response; None if they name none."""
    found = lenient.field(_decode, details)
    reason = None if found is None else found.reason
    if reason in _LENGTH:
        return "length"
    if reason == "content_filter":
        return "content-filter"
    return None if reason is None else "other"
