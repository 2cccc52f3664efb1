"""Bases of dialects whose agents answer one request with one response, as most do over HTTP."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Never

from msgspec import Raw

from turnwire.core.agent import NEVER, AbortScope, AgentProtocol, Decoded, Feature, OneConnection
from turnwire.core.body.conversation import Message
from turnwire.core.events import Event, Reason, TurnFinished, TurnStarted
from turnwire.core.operations import OperationName
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats


class OneResponse(OneConnection):
    """A base of protocols whose turn is the response to one request, and asks nothing.

    A subclass has `connect_request` and `receive_frame`. The turn begins when the agent answers. To
    close the connection is the abort. A response that ends without `finished` is an interrupted
    turn.
    """

    accepted = True
    queued = False
    has_other_watchers = False
    deadline = NEVER

    decoded_depth: ClassVar = 4
    """How many lists and objects, one in the other, a frame may have that are decoded to objects:
    their values are counted before a long frame is decoded (`census`). What stays `Raw` does not
    count."""

    def __init__(self, turn_id: str) -> None:
        """`turn_id` names the turn, and the message of the client: the prompt's id will do."""
        self._turn_id = turn_id
        self.frame_stats = FrameStats()
        self.abort_scope = AbortScope.OURS

    def finished(
        self,
        *events: Event,
        reason: Reason | None = None,
        error: str | None = None,
        usage: Raw | None = None,
    ) -> Decoded:
        """Return the last events of the turn, and its end after them.

        `reason` is `ERROR` if there is an `error`, and `END_TURN` otherwise, unless it is given.
        `usage` is a JSON object with the counts of tokens (`Feature.USAGE`, `TurnFinished.usage`).
        """
        reason = reason or (Reason.END_TURN if error is None else Reason.ERROR)
        self.abort_scope = AbortScope.NONE
        return Decoded([*events, TurnFinished(reason=reason, error=error, usage=usage)])

    def connection_opened(self, _now: float) -> Decoded:
        """Begin the turn."""
        return Decoded([TurnStarted(self._turn_id)])

    def prepare_frame(self, frame: bytes) -> Iterator[None]:
        """Count the values of a long frame."""
        return census(frame, self.decoded_depth)

    def tick(self, _now: float) -> Decoded:
        """Do nothing: there is no deadline."""
        return Decoded()

    def client_detached(self) -> None:
        """Do nothing: no other stream follows the turn."""

    def unwatched(self) -> None:
        """Do nothing, as `client_detached`."""

    def mark_stale(self) -> None:
        """Do nothing: no state can be out of date."""

    def abort(self) -> Sequence[bytes]:
        """Send nothing: the connection is closed."""
        return ()


class PromptsOnly:
    """A base of dialects that take prompts, and have no operation beside that.

    A subclass has `name`, `schema` and `prompt`. The gateway's turn log brings resume and stop; the
    history is a 501. If the agent does not keep the conversation, the dialect has
    `keeps_history = False`, and `write_message`.
    """

    name: str
    transport: str = "http"
    operations: frozenset[OperationName] = frozenset()
    features: frozenset[Feature] = frozenset()
    idle_s: float = 300.0
    """In seconds. A model that thinks, or a tool that runs, may be silent for minutes."""
    keeps_history: bool = True
    names_sessions: bool = False
    needs: frozenset[str] = frozenset()
    request_fields: frozenset[str] = frozenset()

    def write_message(self, _message: Message, /) -> Iterable[bytes]:
        """Fail: an agent that keeps the conversation is sent no earlier messages."""
        raise NotImplementedError("this wire sends no conversation")

    def resume(self, _request: ResumeRequest, _member: Member | None = None, /) -> AgentProtocol:
        """Refuse the answers: a turn on this wire asks nothing.

        Raises:
            RejectedError: always.

        """
        raise RejectedError(Rejection.CLOSED)

    def _missing(self, _request: object, /) -> Never:
        raise NotImplementedError("this wire has no such operation")

    stop = answer = read_history = _missing
