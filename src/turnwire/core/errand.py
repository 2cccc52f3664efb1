"""What is asked of an agent beside a turn: stop, answer, recall what was said.

An `Errand` is one connection that does one such thing, pure like a
`Conversation`: frames and times go in, frames to send come out, and in the end
a `result`. Each dialect makes its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Raw, Struct

from turnwire.core.attachments import Attachment
from turnwire.core.events import Event
from turnwire.core.refusal import Refusal
from turnwire.core.terms import Terms


class Errant(Struct, frozen=True, kw_only=True):
    """Where an errand goes, and how long it may wait. Times are in seconds."""

    user_id: str
    channel_type: str = "web"
    channel_id: str = "default"
    init_s: float
    """For the agent's hydration; an agent that sends none is served without, where that is safe."""
    verdict_s: float
    """For what the agent says about it."""


class Stop(Errant, frozen=True, kw_only=True):
    """Stop the running turn: the named one, or whichever runs on the channel."""

    turn_id: str | None = None


class Answer(Errant, frozen=True, kw_only=True):
    """Answer an open question."""

    question_id: str
    answer: Raw
    """JSON."""
    subject: bytes | None = None
    """As in a `core.dialect.Reply`."""
    terms: Terms = Terms()


class Recall(Errant, frozen=True, kw_only=True):
    """What was said on a channel, in its order: the last `limit` messages before `before`."""

    limit: int
    before: str | None = None


class Receipt(Struct, frozen=True):
    """What became of a stop. `reason` is the agent's, or why there was nothing to stop."""

    stopped: bool
    turn_id: str | None
    reason: str


class Answered(Struct, frozen=True):
    """The agent has the answer."""


class Asked(Struct, frozen=True):
    """A prompt, as it was asked. `message_id` is the client's own id of it where it is known."""

    message_id: str
    text: str
    files: Sequence[Attachment] = ()


class Told(Struct, frozen=True):
    """A turn that is over: the events that would tell it, but for its start; perhaps for once."""

    turn_id: str
    events: Iterable[Event]
    prompt_id: str | None = None
    """Which prompt it answers, where the agent says so."""


class Transcript(Struct, frozen=True):
    """What was said, oldest first. It may be made as it is read, and then it is read once."""

    said: Iterable[Asked | Told]


Result = TypeVar("Result", covariant=True)  # noqa: PLC0105 (it is the errand's result)


class Errand(Protocol[Result]):
    """One thing asked of the agent. Times are seconds on the caller's monotonic clock."""

    @property
    def result(self) -> Result | Refusal | None:
        """What came of it; None while it is under way."""
        ...

    @property
    def deadline(self) -> float:
        """When to call `tick`; `math.inf` for never."""
        ...

    def open(self, now: float, /) -> Sequence[bytes]:
        """The connection stands. Returns text frames to send, as the others do."""
        ...

    def hear(self, frame: bytes, now: float, /) -> Sequence[bytes]:
        """One text frame came, in valid UTF-8."""
        ...

    def look_into(self, frame: bytes, /) -> Iterator[None]:
        """`hear` comes with this long frame next: take it apart before, in short steps.

        Raises:
            TooManyError: more would be built of it than anybody means (`core.census`).

        """
        ...

    def tick(self, now: float, /) -> Sequence[bytes]:
        """The deadline passed."""
        ...

    def left(self) -> None:
        """The agent closed: there is a result now."""
        ...


Stopping: TypeAlias = Errand[Receipt]
Answering: TypeAlias = Errand[Answered]
Recalling: TypeAlias = Errand[Transcript]
