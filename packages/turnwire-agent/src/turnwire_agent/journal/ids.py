"""Ids, keys and names that a store can keep as text.

Some come from far away: the id of a prompt from a client, the key of an effect from a tool. A store
that refuses one with an error of its own would fail a write that others are part of.
"""

from typing import Final

ID_MAX: Final = 512
"""Most characters of an id or a key. A notification of Postgres has room for one of any script."""


def checked(*ids: str) -> None:
    """Let only ids pass that every store keeps as they are.

    Raises:
        ValueError: one is empty, longer than `ID_MAX`, or holds a NUL or half a surrogate pair.
            The text does not repeat it.

    """
    for each in ids:
        if not 0 < len(each) <= ID_MAX:
            raise ValueError(f"An id has 1 to {ID_MAX} characters, not {len(each)}.")
        if "\0" in each or not (each.isascii() or _has_utf8(each)):
            raise ValueError("An id holds a character that no store keeps.")


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
