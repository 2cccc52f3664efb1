"""Text told twice: `message.part.text-delta` and `chunk` may both tell every delta.

One spelling leads: the last news came in it. What it told and the other did not
repeat is kept, and every delta of the other is compared with it:

* it goes on with what is kept: a repetition, and what exceeds it is news;
* it is the last delta that the leader told, though not those before: from here
  on the agent tells both, and it is a repetition;
* it says something else: the agent has switched, and it is news. So is what the
  other repeated since the leader spoke: "The" was not the beginning of the "The
  cat" that is kept, but of "The dog".

Whose delta is news leads from then on, and may be repeated in its turn. What
cannot be told apart counts as a repetition, until the next delta tells.

Memory does not grow with the turn: `KEPT_UNITS` are kept, from where the other
is on. An agent that is further behind, and repeated all of that, is believed:
its length alone tells until it has caught up, so a switch meanwhile loses text.
"""

from typing import Final

from turnwire.core.dialect import Tally

PART: Final = 0
CHUNK: Final = 1
"""The two ways to tell a text delta. Plain numbers: every delta looks its spelling up."""

KEPT_UNITS: Final = 4_096
"""How much is kept of what one spelling told alone, in UTF-16 units."""

_BATCH_CHARS: Final = 1_024
"""The leader's deltas are taken in by the batch; about so many characters wait for it."""


class Spellings:
    """Gives of each delta what neither spelling has told before.

    Agents cut where JavaScript cuts: one spelling may part a surrogate pair
    that the other tells whole. So what is compared is UTF-16, in bytes.
    """

    __slots__ = (
        "_at",
        "_behind",
        "_beyond",
        "_kept",
        "_last",
        "_leader",
        "_new",
        "_room",
        "_seemed",
        "_tally",
    )

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._leader = PART
        self._new: list[str] = []
        """The leader's deltas that were not taken in, nor repeated."""
        self._room = _BATCH_CHARS
        self._level()

    def fresh(self, spelling: int, text: str) -> str:
        if spelling == self._leader:
            self._new.append(text)
            self._seemed = ""
            self._room -= len(text) or 1
            if self._room < 0:
                self._make_room()
            return text
        new = self._new
        if new and new[0] == text and not self._behind:  # both cut alike
            del new[0]
            self._tally.doubled += 1
            if new:
                self._seemed += text
            return ""
        return self._compare(spelling, text)

    def _level(self) -> None:
        """The other spelling has told all that the leader told."""
        self._behind = False
        """Whether anything was taken in that the other has not told."""
        self._kept = b""
        """What was taken in."""
        self._at = 0
        """How much of that the other has repeated."""
        self._beyond = 0
        """How many bytes of it follow that are not kept."""
        self._last = ""
        """The last delta of it, unless that is longer than what is kept."""
        self._seemed = ""
        """What the other repeated since the leader spoke."""

    def _compare(self, spelling: int, text: str) -> str:
        """What is news in a delta of the other spelling."""
        if self._new:
            self._take_in()
        said = _utf16(text)
        known = min(len(said), len(self._kept) - self._at)
        if not self._kept.startswith(said[:known], self._at):
            return self._unlike(spelling, said)
        believed = min(len(said) - known, self._beyond)
        self._at += known
        self._beyond -= believed
        if news := said[known + believed :]:
            return self._lead(spelling, news)
        self._tally.doubled += 1
        if self._at < len(self._kept):
            self._seemed += text
        elif self._beyond:
            self._seemed = ""
        else:
            self._level()
        return ""

    def _unlike(self, spelling: int, said: bytes) -> str:
        """What is news in a delta that does not go on with what is kept."""
        last, seemed = _utf16(self._last), _utf16(self._seemed)
        if said == last:
            self._tally.doubled += 1
            self._level()
            return ""
        return self._lead(spelling, said if seemed == last else seemed + said)

    def _lead(self, spelling: int, news: bytes) -> str:
        self._leader = spelling
        self._level()
        return self.fresh(spelling, news.decode("utf-16-le", "surrogatepass"))

    def _make_room(self) -> None:
        waiting = sum(map(len, self._new)) + len(self._new)
        if waiting > _BATCH_CHARS // 2:
            self._take_in()
            waiting = 0
        self._room = _BATCH_CHARS - waiting

    def _take_in(self) -> None:
        text, self._last = "".join(self._new), self._new[-1]
        self._new.clear()
        if len(self._last) > KEPT_UNITS:
            self._last = ""
        self._behind = True
        size = 2 * len(text) if text.isascii() else len(_utf16(text))
        kept = self._kept[self._at :]
        self._at = 0
        if not self._beyond:
            fits = _utf16(text[:KEPT_UNITS])[: 2 * KEPT_UNITS - len(kept)]
            kept += fits
            size -= len(fits)
        self._kept = kept
        self._beyond += size


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
