"""What Redis has of the last turn of a chat: as it is written, and as it is found."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from turnwire.core.events import QuestionClosed
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import Joined, UnreadableError

RECEIVED: Final = "received"
LONG: Final = "long"
LOST: Final = "lost"
"""What Redis notes of a turn: a client has its end; it is longer than is kept; something of it was
lost. The last two are not read any more."""

RUNNING: Final = "running"
OVER: Final = "over"
WAITING: Final = "waiting"
GONE: Final = "gone"
"""The states of a turn. The last one: its process stopped, and left it."""

Fields: TypeAlias = Mapping[str, bytes | str | int]


class Batch(Struct, frozen=True):
    """What is written of a turn at once. `first` is the index of the first frame."""

    first: int
    frames: Sequence[bytes]
    count: int
    """The entries of the turn, with these frames."""
    fields: Fields
    base: int
    """The frames before this index are forgotten."""
    ends: str
    """The state in which the turn gives the chat up; empty: it runs on."""
    kept_ms: int
    """How long it is kept after its end; -1: as long as it was to wait before."""


class FoundTurn(Struct, frozen=True):
    """The turn, as the hash has it."""

    turn_id: str
    state: str
    head: bytes
    count: int
    closed: Sequence[QuestionClosed]
    note: str
    base: int
    lives: bool
    """Whether its process does."""

    @property
    def is_running(self) -> bool:
        return self.state == RUNNING and self.lives

    @property
    def is_read(self) -> bool:
        """Whether readers get it."""
        return self.note not in {LONG, LOST}

    @property
    def is_undelivered(self) -> bool:
        """Whether readers get it, and its client has not got its end."""
        return self.is_read and self.note != RECEIVED and self.count > 0

    def refusal(self, replies: Sequence[QuestionReply]) -> Rejection:
        """Return why the turn takes no answers, if it does not run."""
        is_known = self.state != OVER or entries.are_closed(replies, self.closed)
        return Rejection.CLOSED if is_known else Rejection.UNKNOWN

    def opening(self) -> bytes:
        """Return the first frame of a reader."""
        joined = Joined(self.count, self.note == RECEIVED)
        return entries.opening(self.head, joined, self.closed)


def found_turn(reply: Sequence[Any]) -> FoundTurn | None:
    """Read a reply to `scripts.FIND`. None: the chat has no turn, or one of another release."""
    try:
        turn_id, state, head, count, closed, note, base, lives = reply
        if not turn_id:
            return None
        return FoundTurn(
            turn_id.decode(),
            state.decode(),
            bytes(head),
            int(count or 0),
            _closed(closed),
            note.decode(),
            int(base or 0),
            bool(lives),
        )
    except (TypeError, ValueError, AttributeError):
        return None


def is_taken_by_another(head: bytes, reply: Sequence[Any]) -> bool:
    """Whether another prompt's turn has the chat, by a reply to `scripts.CLAIM`.

    `head`: of the turn that the chat was claimed for. A prompt that comes twice, by its client's
    id, is not another one.
    """
    if reply[0]:
        return False
    try:
        ours, theirs = entries.read_head(head), entries.read_head(reply[1])
    except UnreadableError:
        return True
    message_id = ours.client_message_id
    return message_id is None or message_id != theirs.client_message_id


def _closed(data: bytes) -> list[QuestionClosed]:
    found = entries.read(data) if data else []
    return [entry for entry in found if isinstance(entry, QuestionClosed)]


def user_of(head: bytes) -> str:
    """Return who sent the prompt of a turn with this head; empty: nobody can read it here."""
    try:
        return entries.read_head(head).user_id
    except UnreadableError:  # of another release: whoever continues the turn refuses it
        return ""
