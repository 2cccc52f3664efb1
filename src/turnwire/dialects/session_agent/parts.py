"""The parts of a message: its texts, its calls, how it ended."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core.bounds import MANY, PARTS_MAX, SomeId, Word


class Part(Struct, frozen=True, rename="camel"):
    type: Word
    call_id: SomeId = ""
    tool_name: SomeId = ""
    status: Word = ""
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    text: Raw = Raw()
    reason: Raw = Raw()
    message: Raw = Raw()


_parts: Callable[[Raw], list[Part]] = msgspec.json.Decoder(
    Annotated[list[Part], Meta(max_length=PARTS_MAX)]
).decode
_each = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_part = msgspec.json.Decoder(Part).decode


def taken_apart(raw: Raw) -> tuple[Sequence[Part], int]:
    """The parts that can be read, the last `PARTS_MAX`; and how many bytes there are of others.

    There are none where it is an object or null (page 9, trap 15).
    """
    if not bytes(raw).startswith(b"["):
        return (), 0
    try:
        return _parts(raw), 0
    except msgspec.DecodeError:
        parts: list[Part] = []
        left_out = 0
        with contextlib.suppress(msgspec.DecodeError):  # more than are taken apart
            for each in _each(raw)[-PARTS_MAX:]:
                try:
                    parts.append(_part(each))
                except msgspec.DecodeError:
                    left_out += len(bytes(each))
        return parts, left_out
