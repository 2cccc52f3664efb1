"""The questions that are open in a session, by id: ours, and those of other turns.

Some agents make ids that are unique in a turn alone. So a frame that closes a
question is matched by all that it names; one that might as well be about
another turn's question of that id closes neither, since its answer would be
shown to whoever it is not for.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import Struct

from turnwire.core.questions import OPEN_MAX
from turnwire.dialects.v2.others import Channel


class Place(Struct, frozen=True):
    """What a frame says of where it belongs. None: it does not say it."""

    turn_id: str | None = None
    prompt_id: str | None = None
    channel: Channel | None = None

    def may_be(self, other: "Place") -> bool:
        """Whether the two can be one: by the turn, else by the prompt, else by the channel."""
        if self.turn_id and other.turn_id:
            return self.turn_id == other.turn_id
        if self.prompt_id and other.prompt_id:
            return self.prompt_id == other.prompt_id
        return self.channel is None or other.channel is None or self.channel == other.channel


_NONE: Final[dict[tuple[str, Place], None]] = {}
"""What most sockets know of: one for all of them, in which nothing is ever put."""


class Asked:
    """Ours are known by their ids alone, the others by whose they are besides."""

    __slots__ = ("_others", "_ours")

    OTHERS_MAX: ClassVar = 256

    def __init__(self) -> None:
        self._ours: dict[str, None] = {}
        self._others: dict[tuple[str, Place], None] = _NONE

    def ours(self, question_id: str) -> None:
        """Keep a question of ours in mind, whose end need not name its turn."""
        if len(self._ours) >= OPEN_MAX:
            del self._ours[next(iter(self._ours))]
        self._ours[question_id] = None

    def anothers(self, question_id: str, its: Place) -> None:
        if self._others is _NONE:
            self._others = {}
        self._drop(self._found(question_id, its))  # asked again
        if len(self._others) >= self.OTHERS_MAX:
            del self._others[next(iter(self._others))]
        self._others[question_id, its] = None

    def is_anothers(self, question_id: str, *, but: str) -> bool:
        """Whether another turn than this one has a question of that id open."""
        return any(key == question_id and its.turn_id != but for key, its in self._others)

    def over(self, turn_id: str) -> None:
        """This turn is over, or ours: no other one has its questions."""
        if self._others:
            self._drop([key for key in self._others if key[1].turn_id == turn_id])

    def idle(self, channel: Channel | None) -> None:
        """The agent is idle on a channel; None: on all of them."""
        idle = Place(channel=channel)
        self._drop([key for key in self._others if idle.may_be(key[1])])

    def closed(self, question_id: str, said: Place, *, is_ours: bool) -> bool:
        """A question is closed; `is_ours` if what the frame names is ours. True: so it is."""
        is_exact = is_ours and bool(said.turn_id or said.prompt_id)
        found = [] if is_exact else self._found(question_id, said)
        ours = is_ours and question_id in self._ours
        if ours + len(found) != 1:
            return False
        self._drop(found)
        if ours:
            del self._ours[question_id]
        return ours

    def _found(self, question_id: str, said: Place) -> list[tuple[str, Place]]:
        return [key for key in self._others if key[0] == question_id and said.may_be(key[1])]

    def _drop(self, keys: Iterable[tuple[str, Place]]) -> None:
        for key in keys:
            del self._others[key]
