"""The port between the core and an agent's wire.

A `Dialect` is one wire. An `AgentProtocol` is one turn on that wire, for
one request. It does no I/O, like the rest of the core: frames and times go in;
events of *our* turn and frames to send come out (`Decoded`). It also tells its
next deadline and which turns an abort would stop. The code behind this port
finds out which turn is ours, and handles every peculiarity of a wire.

A new dialect is one package in `turnwire.dialects` and one entry in its table.
"""

import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from turnwire.core.body.conversation import Message
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event
from turnwire.core.operations import AnswerOperation, HistoryOperation, OperationName, StopOperation
from turnwire.core.rejection import Rejection
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.session_group import Member
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import WireSchema


class Feature(enum.Enum):
    """What a wire can say beside texts and tool calls, so that a client can see or send it."""

    FILES_SENT = enum.auto()
    """The user's files reach the agent. Without it, a prompt with files is answered with 400."""
    QUESTIONS = enum.auto()
    """The agent asks its user questions."""
    APPROVALS = enum.auto()
    """The agent asks whether a tool call may run."""
    REASONING = enum.auto()
    """The agent sends its reasoning."""
    TOOL_INPUT = enum.auto()
    """The input of a tool call comes in pieces, while the model writes it."""
    FILES_MADE = enum.auto()
    """The agent sends files."""
    SOURCES = enum.auto()
    """The agent names the web pages that it used."""
    USAGE = enum.auto()
    """The agent counts the tokens of a turn."""
    RETRACTS = enum.auto()
    """The agent takes back the parts of an attempt that was lost."""


class AbortScope(enum.Enum):
    """Which turns an abort would stop now."""

    NONE = enum.auto()
    """No turn that we may stop: our prompt is not sent, our turn is over, the stream only follows
    a turn, or an abort would always stop other turns too. No abort is sent, and a stream whose
    client is gone ends at once."""
    OURS = enum.auto()
    """Only our turn, or only our prompt. An abort is sent."""
    SHARED = enum.auto()
    """Perhaps another turn, but not for long: our prompt waits behind that turn, or it is not yet
    known whether our prompt runs. A stream whose client is gone goes on until the scope changes."""


class Decoded(Struct, frozen=True):
    """What an input means for our turn, and what to send to the agent because of it.

    A frame without events is a sign of life: it was about our turn, our queue position or the
    session's lifecycle.
    """

    events: Sequence[Event] = ()
    """Events of our turn, in their order."""
    to_agent: Sequence[bytes] = ()
    """Text frames to send to the agent. None is sent if one of the events ends the turn."""
    rejection: Rejection | None = None
    """Why the request cannot be done; then there are no events. The client gets an HTTP status
    while the headers are held back, otherwise an error chunk."""
    connect: ConnectRequest | None = None
    """Close the connection, and open another one for the same turn. Its frames come to the same
    protocol, after another `connection_opened`; `connection_lost` is not called for the connection
    that is closed. If it cannot be opened, the turn ends (`unreachable`, or `refused`), unless the
    protocol is asked (`Redials`). Nothing of this is done if one of the events ends the turn, or
    with a rejection."""
    is_cut: bool = False
    """For `connection_lost` alone: these events are the last ones, and the turn is interrupted."""


ALIVE: Final = Decoded()
"""A sign of life of our turn, and nothing to show."""


class AgentProtocol(Protocol):
    """The turn at the agent, over one connection, or over one after the other.

    Times are seconds on the caller's monotonic clock.
    """

    frame_stats: FrameStats

    @property
    def accepted(self) -> bool:
        """Whether a rejection can no longer come, so that the response headers may go out."""
        ...

    @property
    def queued(self) -> bool:
        """Whether the agent said that our prompt waits behind another turn."""
        ...

    @property
    def deadline(self) -> float:
        """When to call `tick`, in seconds; `math.inf` for never."""
        ...

    def connect_request(self) -> ConnectRequest:
        """The request that opens the connection. Called once, before the dial.

        The protocol makes it, and not the dialect: on some wires the prompt is its body, and the
        events that follow are about the ids in it. The caller drops it when it is sent.
        """
        ...

    def connection_opened(self, now: float, /) -> Decoded:
        """The connection is open. The caller goes on as after `receive_frame`."""
        ...

    def connection_lost(self, now: float, /) -> Decoded | None:
        """The open connection ended, by the agent, the network or the gateway.

        None: the turn needed it, so the turn is interrupted. Otherwise the turn goes on without a
        connection (it waits for an answer, or asks for another connection by `connect`, now or in
        a later `tick`), or the events end it. Not called when a dial fails: that ends the turn,
        unless the protocol has `Redials`. The caller goes on as after `receive_frame`.
        """
        ...

    def reply(self, reply: QuestionReply, user_id: str, now: float, /) -> Decoded:
        """Take the user's answer to a question of our turn, which came beside the stream.

        Called only if the wire has no operation that answers (`OperationName.ANSWER`). The caller
        goes on as after `receive_frame`.
        """
        ...

    def receive_frame(self, frame: bytes, now: float, /) -> Decoded | str | None:
        """Take one text frame, in valid UTF-8. Never raises: an unreadable frame is counted.

        A bare `str` is a `TextDelta` of our turn. Turns have hundreds of thousands of these, so a
        delta is returned without a struct around it. `""` is a frame of our turn that adds
        nothing new (a repeated delta). None is a frame that is not ours.

        The caller then takes the `events`. Unless one of them ends the turn, it sends `to_agent`,
        or ends the stream with the `rejection`. Then it reads `deadline`, `accepted` and
        `abort_scope` again.
        """
        ...

    def prepare_frame(self, frame: bytes, /) -> Iterator[None]:
        """Check and decode a long frame in short steps, before `receive_frame` gets the same frame.

        Raises:
            TooManyError: the frame has more values than a valid one may (`core.wire.census`).

        """
        ...

    def tick(self, now: float, /) -> Decoded:
        """Handle a passed deadline. The caller goes on as after `receive_frame`."""
        ...

    @property
    def kept_bytes(self) -> int:
        """About how many bytes the protocol keeps of the turn, for another connection."""
        ...

    def forget(self) -> None:
        """Give the bytes of `kept_bytes` back: the process is short of memory.

        The turn goes on. If it needs another connection later, it ends with an error.
        """
        ...

    @property
    def has_other_watchers(self) -> bool:
        """Whether another client follows our turn, or our user returned since `client_detached`."""
        ...

    def client_detached(self) -> None:
        """Note that our client left, and may come back."""
        ...

    def unwatched(self) -> None:
        """Note that our client left for good, while our turn goes on.

        Other streams of this turn no longer count us in `has_other_watchers`.
        """
        ...

    def mark_stale(self) -> None:
        """Note that no frame was read for a while: the last known state may be out of date."""
        ...

    @property
    def abort_scope(self) -> AbortScope:
        """Which turns an abort would stop now."""
        ...

    def begin_stop(self, now: float, /) -> Decoded | None:
        """Stop our turn, on a wire whose agent confirms a stop. May be called again.

        None: the agent confirms nothing, or nothing runs, so that an `abort` ends the stream at
        once. Otherwise the turn shows nothing more, and ends by an event in a few seconds
        (`deadline`), whether the agent confirms the stop or not.
        """
        ...

    def abort(self) -> Sequence[bytes]:
        """The frames that abort our turn; empty unless `abort_scope` is `OURS`."""
        ...


@runtime_checkable
class Redials(Protocol):
    """A method that an `AgentProtocol` may have, too, if its turn needs several connections."""

    def dial_failed(self, now: float, /) -> Decoded | None:
        """Another connection, for which the protocol asked by `connect`, could not be opened.

        None: the turn ends. Otherwise it goes on, as after `connection_lost`: the protocol asks for
        another one at once, or in a later `tick`. Each dial has `TURNWIRE_DIAL_S`. The turn ends
        anyway when more than ten fail in a row. Never called for the first connection, nor before
        the response to the client has begun: then the client gets an HTTP status.
        """
        ...


class StopsAtOnce:
    """A base of protocols whose agent does not say that it stopped a turn."""

    __slots__ = ()

    def begin_stop(self, _now: float) -> Decoded | None:
        """Return None: an abort ends the stream."""
        return None


class KeepsNothing(StopsAtOnce):
    """A base of protocols that keep nothing of the turn."""

    __slots__ = ()
    kept_bytes = 0

    def forget(self) -> None:
        """Do nothing: nothing is kept."""


class OneConnection(KeepsNothing):
    """A base of protocols with one connection for a turn, on a wire with an answer operation."""

    __slots__ = ()

    def connection_lost(self, _now: float) -> Decoded | None:
        """Return None: nothing of the turn can come any more."""
        return None

    def reply(self, _reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        """Ignore the answer: the wire has an operation for answers, and this is never called."""
        return Decoded()


class Dialect(Protocol):
    """One agent wire."""

    name: str
    transport: str
    """The name of the transport that carries this wire."""
    operations: frozenset[OperationName]
    """What this wire has beside a prompt. The method of another operation is never called, except
    for `resume` with replies if not `keeps_history`: they go into a new request for the agent."""
    features: frozenset[Feature]
    """What this wire can say beside texts and tool calls."""
    idle_s: float
    """Default of `TURNWIRE_IDLE_S` on this wire."""
    schema: WireSchema
    """Its frame types and their fields."""
    keeps_history: bool
    """Whether the agent keeps the conversation, so that it is sent only what is new. A prompt or a
    resume on another wire has a `Conversation`: it is written by `write_message`."""

    names_sessions: bool
    """Whether the agent gives its sessions ids of its own, so that the caller keeps which of them
    belongs to a channel (`AgentRequest.agent_session`)."""
    needs: frozenset[str]
    """Settings that have no default on this wire, by their field's name: the operator sets each."""
    request_fields: frozenset[str]
    """The fields of a request that the dialect sets itself, so that the operator may not. Others
    come as `DialectOptions.fields`, and the dialect puts them where its wire has room: into the
    body of a request, or into the first frame. Empty: nobody adds any."""

    def write_message(self, message: Message, /) -> Iterable[bytes]:
        """Write a message of a conversation in the words of this wire, as JSON.

        Called while the request is read, once for each message, so that `connect_request` only
        joins bytes. Never called if `keeps_history`. Each item is a whole message, or a part of one
        that `connect_request` joins with others. An empty item means that other work may be done
        before the next one, since a message may have megabytes.

        Raises:
            UnsayableError: this wire has no words for some parts of the message. Raised before
                the first item.

        """
        ...

    def prompt(self, request: PromptRequest, member: Member | None = None, /) -> AgentProtocol:
        """A protocol that sends a prompt and follows its turn.

        `member` gives access to what the streams of one session share. None: the stream has no
        others beside it.
        """
        ...

    def resume(self, request: ResumeRequest, member: Member | None = None, /) -> AgentProtocol:
        """A protocol that follows a turn from its start, and never aborts it.

        If there is no turn, it returns the rejection `Rejection.NO_TURN`. With replies it first
        sends the answers, then returns the events after the questions (`ReplayStarted`), and may
        abort this turn. If one of the questions is not open, it returns `Rejection.CLOSED`.

        Raises:
            RejectedError: the replies cannot be accepted, and that is known before a connection.

        """
        ...

    def stop(self, request: StopRequest, /) -> StopOperation:
        """An operation that stops the running turn."""
        ...

    def answer(self, request: AnswerRequest, /) -> AnswerOperation:
        """An operation that answers an open question."""
        ...

    def read_history(self, request: HistoryRequest, /) -> HistoryOperation:
        """An operation that reads the history."""
        ...


NEVER = math.inf
