"""Text told twice: `message.part.text-delta` and `chunk` may both tell every delta."""

from typing import Final

from turnwire.core.dialect import Tally

PART: Final = 0
CHUNK: Final = 1
"""The two ways to tell a text delta. Plain numbers: every delta looks its spelling up."""


class Spellings:
    """Gives of each delta what neither spelling has told before.

    So whichever spelling is ahead counts, and a switch in mid-turn loses nothing.

    Lengths are in UTF-16 units, since agents cut where JavaScript cuts: one
    spelling may part a surrogate pair that the other tells whole.
    """

    __slots__ = ("_sent", "_tally", "_told")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._told = [0, 0]
        self._sent = 0

    def fresh(self, spelling: int, text: str) -> str:
        before = self._told[spelling]
        told = before + (len(text) if text.isascii() else len(_utf16(text)) // 2)
        self._told[spelling] = told
        if before == self._sent:  # all of it is news
            self._sent = told
            return text
        excess = told - self._sent
        if excess <= 0:
            self._tally.doubled += 1
            return ""
        self._sent = told
        return _utf16(text)[-2 * excess :].decode("utf-16-le", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
