"""The inputs of calls: which are the same, and which have more than others."""

from typing import Annotated

import msgspec
from msgspec import Raw

from turnwire.core.approvals import subject
from turnwire.core.bounds import FEW
from turnwire.core.events import Approval
from turnwire.core.wire import json_text, lenient

_decode_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode


def digest(name: str, whole: Raw) -> bytes:
    """Equal for calls of one tool whose inputs are the same JSON."""
    return subject("", Approval("", name, whole))


def has_all(whole: Raw, known: Raw) -> bool:
    """Whether an input has all fields of a known one, with the same values. There must be some.

    A framework may give a tool more than its model did.
    """
    fields, expected = (lenient.field(_decode_fields, each) for each in (whole, known))
    if not fields or not expected:
        return False
    return all(
        name in fields and digest("", fields[name]) == digest("", value)
        for name, value in expected.items()
    )


def joined(pieces: list[str]) -> Raw | None:
    """The input that was told in pieces: as JSON; as a text if it is none. None without pieces."""
    return json_text.parsed("".join(pieces)) if pieces else None
