"""What an agent says of an error: of a turn, of a call, or of nothing."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.wire import lenient

_NO_ERRORS: Final = frozenset({b"", b"null", b'""', b"{}", b"[]", b"false"})
_CODE_MAX: Final = 64


class _Error(Struct, frozen=True):
    code: Raw = Raw()
    type: Raw = Raw()


_decode_error = msgspec.json.Decoder(_Error).decode


def is_error(raw: Raw) -> bool:
    """Whether an error is one. Some servers send an empty one beside good content."""
    return bytes(raw) not in _NO_ERRORS


def code_of(error: Raw, beside: Raw) -> str | None:
    """Return the agent's code for an error, for the log; `beside` it may be one, too."""
    decoded = lenient.field(_decode_error, error) or _Error()
    return _first_code((beside, decoded.code, decoded.type))


def _first_code(codes: Iterable[Raw]) -> str | None:
    for code in codes:
        if code and bytes(code) != b"null":
            return safe_json.short_string(code) or bytes(code)[:_CODE_MAX].decode(errors="replace")
    return None
