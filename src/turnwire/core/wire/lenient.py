"""Reads parts of a frame leniently: a part of an unexpected shape does not hide the rest."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.events import Reason

_T = TypeVar("_T")


def _left_out(_: Raw) -> None:
    """Count nothing."""


def each(
    decode: Callable[[Raw], _T],
    elements: Iterable[Raw],
    count_left_out: Callable[[Raw], None] = _left_out,
) -> Iterator[_T]:
    """Decode the elements of a list, and leave out those that cannot be decoded."""
    for element in elements:
        try:
            decoded = decode(element)
        except msgspec.DecodeError:
            count_left_out(element)
            continue
        yield decoded


def field(decode: Callable[[Raw], _T], raw: Raw) -> _T | None:
    """Decode a field. None if it is absent, or cannot be decoded."""
    try:
        return decode(raw) if raw else None
    except msgspec.DecodeError:
        return None


def finish_reason(raw: Raw) -> Reason:
    """How a turn ended. An unknown word counts as `END_TURN`, since the turn has ended."""
    try:
        return Reason(safe_json.string(raw))
    except ValueError:
        return Reason.END_TURN
