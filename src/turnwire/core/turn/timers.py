"""The timers of one stream: when it ends or writes a keepalive, if no input comes before.

Times are seconds on the caller's clock. `NEVER` is an unset timer.
"""

from turnwire.core.agent import NEVER, AbortScope, AgentProtocol
from turnwire.core.turn.client_state import ABSENT, BLOCKED, ClientState
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.open_work import OpenWork

_SHARED = AbortScope.SHARED  # access to an enum's attributes is slow


class Deadlines:
    """When the last events happened, and when the next timer is due."""

    __slots__ = (
        "_client_state",
        "_limits",
        "_longest_at",
        "_open_work",
        "_protocol",
        "drain_at",
        "hold_until",
        "last_frame_at",
        "last_write_at",
    )

    def __init__(
        self,
        limits: Limits,
        protocol: AgentProtocol,
        open_work: OpenWork,
        client_state: ClientState,
    ) -> None:
        self.last_frame_at = self.last_write_at = NEVER
        """The last frame of our turn, and the last write to the client."""
        self.hold_until = self.drain_at = self._longest_at = NEVER
        self._limits = limits
        self._protocol = protocol
        self._open_work = open_work
        self._client_state = client_state

    def opened(self, now: float) -> None:
        """A connection opened: the first one, or another one for the same turn."""
        self.last_frame_at = now
        if self.hold_until == NEVER:
            self.last_write_at = now
            self.hold_until = now + self._limits.hold_s
            self.turn_began(now)

    def turn_began(self, now: float) -> None:
        self._longest_at = now + self._limits.turn_s

    def drain(self, now: float) -> None:
        self.drain_at = min(self.drain_at, now + self._limits.drain_s)

    @property
    def ends_on_drain(self) -> bool:
        """Whether the stream ends now, as the gateway stops and the turn needs no stream."""
        if self._limits.holds_turn:
            return False
        is_accepted = self.last_frame_at < NEVER and self._protocol.accepted
        return self._client_state.client is ABSENT and is_accepted and self.drain_at < NEVER

    def reading_resumed(self, since: float, now: float) -> None:
        """Frames are read again after a pause since `since`. A pause is not silence."""
        if self.last_frame_at < NEVER:
            self.last_frame_at += now - max(since, self.last_frame_at)
        self.last_write_at = now

    @property
    def silence_at(self) -> float:
        if self._client_state.client is BLOCKED:
            return NEVER
        limits = self._limits
        longest = [limits.queue_wait_s] if self._protocol.queued else []
        if self._open_work.calls:
            longest.append(limits.tool_silence_s)
        if self._open_work.has_questions:
            longest.append(limits.question_wait_s)
        return max(self.last_frame_at + max(longest, default=limits.idle_s), self._hold_ends_at)

    @property
    def longest_at(self) -> float:
        return max(self._longest_at, self._hold_ends_at)

    @property
    def _hold_ends_at(self) -> float:
        """The time before which neither a silent agent nor a long turn ends the stream.

        Until then the dialect may accept or reject the request. After it accepted: always passed.
        """
        return -NEVER if self._protocol.accepted else self.hold_until

    @property
    def keepalive_at(self) -> float:
        """When to write a keepalive. Only valid after the headers went out."""
        is_unwritable = self._client_state.client is BLOCKED or self._client_state.has_left
        return NEVER if is_unwritable else self.last_write_at + self._limits.keepalive_s

    @property
    def expires_at(self) -> float:
        """When the token ends the stream: never while an abort would stop another turn too."""
        is_deferred = self._client_state.has_left or self._protocol.abort_scope is _SHARED
        return NEVER if is_deferred else self._limits.expires_at

    def next(self, *, headers_due: bool) -> float:
        """The time of the first timer that is due."""
        hold_until = NEVER if headers_due or self._client_state.has_left else self.hold_until
        return min(
            hold_until,
            self.keepalive_at if headers_due else NEVER,
            self.silence_at,
            self.longest_at,
            self.drain_at,
            self.expires_at,
            self._client_state.deadline,
            self._protocol.deadline,
        )
