"""Text told twice: `message.part.text-delta` and `chunk` may both tell every delta."""

import enum
from typing import Final

from turnwire.core.dialect import Tally


class Spelling(enum.IntEnum):
    """The two ways to tell a text delta. Integers: every delta looks its spelling up."""

    PART = 0
    CHUNK = 1


PART: Final = Spelling.PART
CHUNK: Final = Spelling.CHUNK


class Spellings:
    """Gives of each delta what neither spelling has told before.

    So whichever spelling is ahead counts, and a switch in mid-turn loses nothing.

    Lengths are in UTF-16 units, since agents cut where JavaScript cuts: one
    spelling may part a surrogate pair that the other tells whole.
    """

    __slots__ = ("_sent", "_tally", "_told")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._told = [0] * len(Spelling)
        self._sent = 0

    def fresh(self, spelling: Spelling, text: str) -> str:
        units = len(text) if text.isascii() else len(_utf16(text)) // 2
        told = self._told[spelling] = self._told[spelling] + units
        excess = told - self._sent
        if excess == units:
            self._sent = told
            return text
        if excess <= 0:
            self._tally.doubled += 1
            return ""
        self._sent = told
        return _utf16(text)[-2 * excess :].decode("utf-16-le", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
