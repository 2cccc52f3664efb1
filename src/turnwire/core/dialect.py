"""The port between the core and an agent's wire.

A `Dialect` is one wire; a `Conversation` is one connection that speaks it, on
behalf of one request. It is pure like the core: frames and times go in; events
of *our* turn come out (frames to send among them), and beside them its next
deadline and what an abort would hit. Finding out which turn is ours lives
behind this port, and so does every quirk of a wire.

A new dialect is one module in `turnwire.dialects` and one entry in its table.
"""

import enum
import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
from msgspec import Raw, Struct

from turnwire.core.attachments import Attachment
from turnwire.core.bounds import MALFORMED_BYTES
from turnwire.core.errand import Answer, Answering, Recall, Recalling, Stop, Stopping
from turnwire.core.events import Event, Told
from turnwire.core.room import Seat
from turnwire.core.terms import Terms
from turnwire.core.vocabulary import Vocabulary


class Ask(Struct, frozen=True, kw_only=True):
    """What one request asks of the agent."""

    text: str
    prompt_id: str
    """Made by the gateway for this request; an agent that can, echoes it."""
    client_message_id: str | None = None
    """The id that the client gave the message, so that a retried POST can be recognised."""
    channel_type: str = "web"
    channel_id: str = "default"
    user_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    regenerates: bool = False
    """Whether the prompt was asked before, and its answer is not wanted."""
    replaces: str | None = None
    """The client's id of the message that this goes in place of: that answer, or, if it does
    not regenerate, the prompt before its user edited it."""

    def light(self) -> "Ask":
        """The same without the files, for whoever keeps it longer than it takes to send them."""
        return msgspec.structs.replace(self, attachments=()) if self.attachments else self


class Reply(Struct, frozen=True):
    """The answer to a question, from a client whose stream ended with it."""

    question_id: str
    answer: Raw
    """JSON."""
    subject: bytes | None = None
    """What was approved (`core.approval.subject`), where that is known: only that is answered."""


class Look(Struct, frozen=True, kw_only=True):
    """Which turn to watch: the one that runs or waits on a channel, whoever asked for it.

    With `replies` it is the one that asked, and what was told before its last
    question is not told again.
    """

    user_id: str
    channel_type: str = "web"
    channel_id: str = "default"
    init_s: float
    """How long to wait for the agent's hydration, in seconds."""
    replies: Sequence[Reply] = ()
    terms: Terms = Terms()
    """Of the replies."""
    prompt_id: str | None = None
    """The prompt of the turn, where no other's will do; not every agent names it."""


class Tally:
    """What a conversation counts besides its events."""

    __slots__ = ("doubled", "foreign", "malformed", "unrecognised", "wasted")

    KINDS_MAX = 32
    """Distinct unknown frame types counted by name in one stream; the rest are `other`."""

    def __init__(self) -> None:
        self.foreign = 0
        """Frames of other turns."""
        self.malformed = 0
        """Frames that are not JSON, or of a known type with wrong fields."""
        self.wasted = 0
        """Those that are no JSON, or of no type; and long ones, by their length."""
        self.doubled = 0
        """Deltas that the other spelling had told already."""
        self.unrecognised: dict[str, int] = {}
        """Frames of unknown types, by type."""

    def unread(self, frame: bytes) -> None:
        """Count a frame that cannot be read at all."""
        self.wasted += 1
        self.odd(frame)

    def odd(self, frame: bytes) -> None:
        """Count one of a known type with a field or a word that it has not. Agents do move on."""
        self.malformed += 1
        self.wasted += len(frame) // MALFORMED_BYTES

    def left_out(self, size: int) -> None:
        """Count so many bytes of a frame that cannot be read, though the rest of it can."""
        self.wasted += size // MALFORMED_BYTES

    def unknown(self, kind: str) -> None:
        """Count a frame of an unknown type."""
        kind = kind[:64]
        if kind not in self.unrecognised and len(self.unrecognised) >= self.KINDS_MAX:
            kind = "other"
        self.unrecognised[kind] = self.unrecognised.get(kind, 0) + 1


class Reach(enum.Enum):
    """Whom an abort would hit now."""

    NOTHING = enum.auto()
    """Nothing that may be stopped: not asked yet, over, only looked at, or not without harm."""
    OURS = enum.auto()
    """Our turn, or our prompt, alone."""
    OTHERS = enum.auto()
    """Another turn, perhaps: our prompt waits behind it, or is not known to be at work."""


class Conversation(Protocol):
    """One connection to the agent. Times are seconds on the caller's monotonic clock."""

    tally: Tally

    @property
    def committed(self) -> bool:
        """Whether it can no longer answer `Refused`, so that the response headers may go out."""
        ...

    @property
    def queued(self) -> bool:
        """Whether our prompt is known to wait behind another turn."""
        ...

    @property
    def deadline(self) -> float:
        """When to call `tick`; `math.inf` for never."""
        ...

    def open(self, now: float, /) -> Sequence[Event]:
        """The connection stands."""
        ...

    def hear(self, frame: bytes, now: float, /) -> Told:
        """One text frame came, in valid UTF-8. Never raises: what it cannot read it counts."""
        ...

    def look_into(self, frame: bytes, /) -> Iterator[None]:
        """`hear` comes with this long frame next: take it apart before, in short steps.

        Raises:
            TooManyError: more would be built of it than anybody means (`core.census`).

        """
        ...

    def tick(self, now: float, /) -> Sequence[Event]:
        """The deadline passed."""
        ...

    @property
    def accompanied(self) -> bool:
        """Whether somebody else follows our turn, or our user came back since `unattended`."""
        ...

    def unattended(self) -> None:
        """Our client left, and may come back."""
        ...

    def unwatched(self) -> None:
        """Our client left for good, and our turn goes on: we are nobody's company any more."""
        ...

    def doubt(self) -> None:
        """Nothing was read for a while: what was heard last may be long over."""
        ...

    @property
    def reach(self) -> Reach:
        """Whom an abort would hit now."""
        ...

    def abort(self) -> Sequence[bytes]:
        """The frames that abort our turn; none unless `reach` is `OURS`."""
        ...


class Dialect(Protocol):
    """One agent wire."""

    name: str
    subprotocols: Sequence[str]
    """WebSocket sub-protocols to offer."""
    idle_s: float
    """Default of `TURNWIRE_IDLE_S` on this wire."""
    vocabulary: Vocabulary
    """What is known of it."""

    def prompt(self, ask: Ask, seat: Seat | None = None, /) -> Conversation:
        """A conversation that sends a prompt and follows its turn.

        `seat` is its part in what the conversations of its session share; None: it is alone.
        """
        ...

    def resume(self, look: Look, seat: Seat | None = None, /) -> Conversation:
        """A conversation that follows a turn from its start, and never aborts it.

        It answers `Refused` with `Refusal.NOTHING` where there is none. With replies it
        answers first, tells what comes after the questions (`TurnContinued`), and means
        this turn when it aborts; `Refusal.CLOSED` where one of them is not open.
        """
        ...

    def stop(self, stop: Stop, /) -> Stopping:
        """An errand that stops the running turn."""
        ...

    def answer(self, answer: Answer, /) -> Answering:
        """An errand that answers an open question."""
        ...

    def recall(self, recall: Recall, /) -> Recalling:
        """An errand that reads the history."""
        ...


NEVER = math.inf
