"""What clients get nothing of: types and fields that a wire knows, and where each is counted.

A module for each wire has its `ROWS`. Tests compare them with the vocabulary of the wire's own
package: a new type or field fails them, until the dialect reads it or it has a row.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

ANY: Final = "*"
"""The type of a row for fields that any event may have."""

ALL: Final = "*"
"""The field of a row for whole events."""

NOTHING: Final = "nothing"
"""How a row begins that is counted nowhere."""

BY_NAME: Final = "by its name"
"""How a row begins that is counted under the type of the event."""


class Row(NamedTuple):
    """A row of a table. Types and fields are separated by white space."""

    types: str
    fields: str
    becomes: str
    """What becomes of them: `NOTHING`, `BY_NAME`, or a word of the log line; then perhaps why."""


def listed(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """What becomes of each, by the type of the event and the field.

    Raises:
        ValueError: one stands there twice.

    """
    found: dict[tuple[str, str], str] = {}
    for row in rows:
        for kind in row.types.split():
            for field in row.fields.split():
                if (kind, field) in found:
                    raise ValueError(f"two rows for {kind} {field}")
                found[kind, field] = row.becomes
    return found


def cells(rows: Iterable[Row]) -> Iterator[tuple[str, str, str]]:
    """The cells of each row."""
    for row in rows:
        kinds = "any event" if row.types == ANY else _code(row.types)
        yield kinds, "all" if row.fields == ALL else _code(row.fields), row.becomes


def _code(words: str) -> str:
    return ", ".join(f"`{word}`" for word in words.split())
