"""What the streams of one session in this process share: what each follows, and who may speak.

An agent that names no prompts makes two prompts of one moment look the same.
So a conversation *claims* the prompt or the turn that it takes for its own,
which keeps the others from taking it too; and on a wire where a prompt is known
by its echo alone, it *speaks* only while it has the floor, from its prompt to
the echo. Users have it in turn, and each of them in the order of asking: an
agent may swallow a prompt without a word, and many such prompts of one user
must not hold the others up. And whoever *follows* the same turn as another is
its company: a turn whose client left is not stopped under it. Who follows one
without a client of its own is nobody's company.

Several processes do not share rooms. Where the streams of a session may sit in more than
one, its rooms are *apart*: what is not heard here may be in another, so nothing is known
by there being no other.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar


def _nobody() -> None:
    """Whoever is alone in a room has no news."""


class Room:
    """What they share. A `Seat` of its own is each one's way to it."""

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        """Whether other processes may have a room of this session too."""
        self.seats: dict[Seat, None] = {}
        """Who is in it."""
        self.followers: dict[str, dict[Seat, None]] = {}
        """Who follows which prompt or turn."""
        self.claims: dict[str, Seat] = {}
        self.floor: dict[Seat, int] = {}
        """Who asked for it, in this order, and in which round each has it."""
        self.speaker: Seat | None = None
        """Who has it."""
        self.round = 0
        """The one of who has it. A user has it once in a round."""
        self.rounds: dict[str | None, int] = {}
        """The last round that each user of the line has a place in."""
        self.errands: Counter[str] = Counter()
        """How many errands each user was on; the agent tells of their sockets as of any other."""


class Seat:
    """One conversation's part in the room of its session."""

    CLAIMS_MAX: ClassVar = 1024
    """Ids that are remembered of a session; the oldest are over by then."""

    FOLLOWED_MAX: ClassVar = 64
    """Ids that one stream follows: its prompt's, and its turn's as often as that starts over."""

    def __init__(self, room: Room | None = None) -> None:
        self.on_news: Callable[[], None] = _nobody
        """Called when the floor became ours while we waited for it, or company came."""
        self.asked: Hashable | None = None
        """Where it sent its prompt to, once it did."""
        self._room = Room() if room is None else room
        self._follows: dict[str, None] = {}
        self._is_watched = True
        self._absent: str | None = None
        self._joins = 0
        self._room.seats[self] = None

    @property
    def apart(self) -> bool:
        """Whether other processes may have streams of this session."""
        return self._room.apart

    def claim(self, its_id: str) -> bool:
        """Follow this prompt or turn. False: another conversation of this session does."""
        claims = self._room.claims
        if its_id not in claims and len(claims) >= self.CLAIMS_MAX:
            del claims[next(iter(claims))]
        return claims.setdefault(its_id, self) is self

    def is_anothers(self, its_id: str) -> bool:
        """Whether another conversation of this session, here, follows this prompt or turn."""
        return self._room.claims.get(its_id, self) is not self

    def speak(self, user_id: str | None = None) -> bool:
        """Ask for the floor for this user, once or again. True: it is ours."""
        room = self._room
        if self not in room.floor:
            last = room.rounds.get(user_id)
            room.floor[self] = room.round if last is None else max(room.round, last + 1)
            room.rounds[user_id] = room.floor[self]
            room.speaker = room.speaker or self
        return room.speaker is self

    def hush(self) -> None:
        """Leave the floor, or the line before it."""
        room = self._room
        room.floor.pop(self, None)
        if room.speaker is not self:
            return
        room.speaker = min(room.floor, key=room.floor.__getitem__, default=None)
        if room.speaker is None:
            room.rounds.clear()
        else:
            room.round = room.floor[room.speaker]
            room.rounds = {user: last for user, last in room.rounds.items() if last >= room.round}
            room.speaker.on_news()

    def follow(self, its_id: str) -> None:
        """Our stream tells this turn, or waits for the turn of this prompt."""
        if its_id in self._follows or not self._is_watched:
            return
        if len(self._follows) >= self.FOLLOWED_MAX:
            self._unfollow(next(iter(self._follows)))
        followers = self._room.followers.setdefault(its_id, {})
        alone = next(iter(followers)) if len(followers) == 1 else None
        self._follows[its_id] = followers[self] = None
        if alone is not None:  # to several it is no news that they have company
            alone.on_news()

    @property
    def accompanied(self) -> bool:
        """Whether another stream follows the same turn or prompt."""
        return any(len(self._room.followers[its_id]) > 1 for its_id in self._follows)

    def unwatched(self) -> None:
        """Nobody sees any more what our stream tells: whom it follows has no company in it."""
        self._is_watched = False
        for its_id in list(self._follows):
            self._unfollow(its_id)

    def unattended(self, user_id: str) -> None:
        """Our client left; this user may come back."""
        self._absent = user_id
        self._joins = self._room.errands[user_id]

    def joined(self, user_id: str | None) -> bool:
        """A socket of this user's was opened. True: with it who is absent came back.

        Not so if it is an errand's: of those and of others there are as many as are told of.
        """
        if user_id is None or user_id != self._absent:
            return False
        self._joins += 1
        return self._joins > self._room.errands[user_id]

    @property
    def neighbours(self) -> list[Hashable]:
        """Where the others sent their prompts to."""
        others = (seat for seat in self._room.seats if seat is not self)
        return [seat.asked for seat in others if seat.asked is not None]

    def leave(self) -> None:
        self.on_news = _nobody
        self.hush()
        for its_id in list(self._follows):
            self._unfollow(its_id)
        self._room.seats.pop(self, None)

    def _unfollow(self, its_id: str) -> None:
        del self._follows[its_id]
        followers = self._room.followers[its_id]
        del followers[self]
        if not followers:
            del self._room.followers[its_id]


class _Sitting:
    """A seat for the time of one stream. No generator: that is a third of a kilobyte a stream."""

    __slots__ = ("_apart", "_rooms", "_seat", "_session")

    def __init__(
        self,
        rooms: dict[Hashable, Room],
        session: Hashable,
        apart: bool,  # noqa: FBT001 (as it is handed on)
    ) -> None:
        self._rooms = rooms
        self._session = session
        self._apart = apart

    def __enter__(self) -> Seat:
        room = self._rooms.get(self._session)
        if room is None:
            room = self._rooms[self._session] = Room(apart=self._apart)
        self._seat = Seat(room)
        return self._seat

    def __exit__(self, *_: object) -> None:
        self._seat.leave()
        if not self._rooms[self._session].seats:
            del self._rooms[self._session]


class Rooms:
    """The rooms of the sessions that have streams now. Owned by the composition root.

    As many as there are open streams at most; a room goes with its last stream. `apart` if
    other processes may have rooms of the same sessions.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._rooms: dict[Hashable, Room] = {}
        self._apart = apart

    def __len__(self) -> int:
        return len(self._rooms)

    def seat(self, session: Hashable) -> AbstractContextManager[Seat]:
        """Sit down in the room of this session, for the time of one stream."""
        return _Sitting(self._rooms, session, self._apart)

    @contextmanager
    def errand(self, session: Hashable, user_id: str) -> Iterator[None]:
        """Let the streams of this session know of a socket that is opened beside theirs."""
        room = self._rooms.get(session, Room())
        room.errands[user_id] += 1
        try:
            yield
        except BaseException:  # it may not have been opened
            room.errands[user_id] -= 1
            raise
