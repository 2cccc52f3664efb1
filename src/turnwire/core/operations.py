"""Operations: short requests to an agent beside a turn (stop, answer, read the history).

An `Operation` is one connection that does one such request. It does no I/O, like an
`AgentProtocol`: frames and times go in, frames to send come out, and in the end there is
a `result`. Each dialect has its own implementations.
"""

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct

from turnwire.core.body.attachments import Attachment
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event
from turnwire.core.rejection import Rejection


class OperationName(enum.Enum):
    """What a wire may have beside a prompt, or lack."""

    STOP = "stop"
    ANSWER = "answer"
    HISTORY = "history"
    RESUME = "resume"
    """Following a turn from its start. Its connection is that of an `AgentProtocol`."""


class StopResult(Struct, frozen=True):
    """Result of a stop. `reason` comes from the agent, or says why there was nothing to stop."""

    stopped: bool
    turn_id: str | None
    reason: str


class Answered(Struct, frozen=True):
    """Result of an answer: the agent has it."""


class HistoryPrompt(Struct, frozen=True):
    """A prompt, as its user sent it. `message_id` is the client's own id if that is known."""

    message_id: str
    text: str
    files: Sequence[Attachment] = ()


class HistoryTurn(Struct, frozen=True):
    """A finished turn, as its events without `TurnStarted`. `events` may be readable only once."""

    turn_id: str
    events: Iterable[Event]
    prompt_id: str | None = None
    """The prompt that the turn answers, if the agent names it."""
    all_events: Iterable[Event] | None = None
    """The events as the agent sent them, with all that it took back; None: it took nothing back."""


class History(Struct, frozen=True):
    """The history, oldest entry first. `entries` may be a generator: read it only once."""

    entries: Iterable[HistoryPrompt | HistoryTurn]


Result = TypeVar("Result", covariant=True)  # noqa: PLC0105 (the operation's result)


class Operation(Protocol[Result]):
    """One request to the agent. Times are seconds on the caller's monotonic clock."""

    @property
    def result(self) -> Result | Rejection | None:
        """The result, or why the request was rejected; None while the operation is under way.

        It may be there before the dial, if nothing has to be asked.
        """
        ...

    @property
    def deadline(self) -> float:
        """When to call `tick`, in seconds; `math.inf` for never."""
        ...

    def connect_request(self) -> ConnectRequest:
        """The request that opens the connection. Called once, before the dial."""
        ...

    def connection_opened(self, now: float, /) -> Sequence[bytes]:
        """The connection is open. Returns text frames to send, as do `receive_frame` and `tick`."""
        ...

    def receive_frame(self, frame: bytes, now: float, /) -> Sequence[bytes]:
        """Take one text frame, in valid UTF-8."""
        ...

    def prepare_frame(self, frame: bytes, /) -> Iterator[None]:
        """Check and decode a long frame in short steps, before `receive_frame` gets the same frame.

        Raises:
            TooManyError: the frame has more values than a valid one may (`core.wire.census`).

        """
        ...

    def tick(self, now: float, /) -> Sequence[bytes]:
        """Handle a passed deadline."""
        ...

    def connection_lost(self) -> None:
        """The agent closed the connection. Afterwards `result` is set."""
        ...


StopOperation: TypeAlias = Operation[StopResult]
AnswerOperation: TypeAlias = Operation[Answered]
HistoryOperation: TypeAlias = Operation[History]
