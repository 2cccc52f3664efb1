"""Detect a stalled agent: an incomplete frame from it, or a prompt that it does not read."""

from collections.abc import Callable
from typing import Final, Self

from turnwire.core.agent import AgentProtocol
from turnwire.relay.agent.port import Connection
from turnwire.relay.memory_budget import SMALL_BYTES, Holder, Reservation

WHOLE_S: Final = 120.0
"""Most seconds for a frame to arrive, and for a prompt to be read, even with progress."""


class Parked:
    """Bytes of one incomplete transfer: `waiting` of them, since the time `now`.

    A later call with another `generation` is about another transfer.
    """

    __slots__ = ("_generation", "_moved_at", "_since", "_waiting")

    def __init__(self, waiting: int, now: float, generation: int) -> None:
        self._generation = generation
        self._since = self._moved_at = now
        self._waiting = waiting

    def is_overdue(self, now: float, stall_s: float) -> bool:
        """Whether nothing moved for `stall_s` seconds, or the transfer exceeds `WHOLE_S`."""
        return now >= min(self._moved_at + stall_s, self._since + WHOLE_S)

    def updated(self, waiting: int, now: float, generation: int) -> Self | None:
        """Update and return this transfer. None: another transfer waits now."""
        if generation != self._generation:
            return None
        if waiting != self._waiting:
            self._waiting, self._moved_at = waiting, now
        return self


def track(previous: Parked | None, waiting: int, now: float, generation: int = 0) -> Parked | None:
    """Return the transfer that waits now, `previous` being the last result; None: nothing waits."""
    if not waiting:
        return None
    updated = None if previous is None else previous.updated(waiting, now, generation)
    return updated or Parked(waiting, now, generation)


class AgentSide:
    """The memory that one stream holds for its agent.

    That is an incomplete frame, the unsent prompt, and what the protocol keeps of the turn.

    Most streams never hold any. This class has no timer: the stream calls `is_overdue` from its
    timer.
    `prompt` counts the bytes that are to be sent, and shrinks as the agent's socket takes them.
    `on_end` ends the stream, if one of these two is its largest reservation.
    """

    __slots__ = (
        "_holder",
        "_incoming",
        "_kept",
        "_outgoing",
        "_protocol",
        "_sent_prompt",
        "frame",
        "is_parked",
        "prompt",
    )

    def __init__(
        self,
        holder: Holder,
        prompt: Reservation | None,
        on_end: Callable[[], object],
        protocol: AgentProtocol | None = None,
    ) -> None:
        self._holder = holder
        self._protocol = protocol
        self.frame = holder.reserve(on_end)
        """For the received part of an incomplete frame."""
        self.prompt = prompt
        """The prompt that is to be sent; None once it is sent."""
        if prompt is not None:
            prompt.on_end = on_end
        self._kept: Reservation | None = None
        """For what the protocol keeps; None while that is little."""
        self._sent_prompt: Reservation | None = None
        """The sent prompt, until the agent's socket has taken all of it."""
        self._incoming: Parked | None = None
        self._outgoing: Parked | None = None
        """The result of the last check: the incomplete frame, and our prompt."""
        self.is_parked = False
        """Whether the last check found a transfer, so that another check is due soon."""

    def count_kept(self) -> None:
        """Count what the protocol keeps of the turn. If there is no room, it forgets that."""
        protocol, kept = self._protocol, self._kept
        kept_bytes = 0 if protocol is None else protocol.kept_bytes
        if protocol is None or (kept is None and kept_bytes <= SMALL_BYTES):
            return
        if kept is None:
            kept = self._kept = self._holder.reserve(protocol.forget)
        if not kept.set(kept_bytes):
            protocol.forget()
            kept.set(0)

    def hold_prompt(self, size: int) -> bool:
        """Count the prompt of another connection, of `size` bytes. False: the stream must end."""
        if self._sent_prompt is not None:  # the connection is closed that has not sent all of it
            self._sent_prompt.set(0)
            self._sent_prompt = None
        self._incoming = self._outgoing = None
        if size <= SMALL_BYTES:
            return True
        self.prompt = self._holder.reserve(self.frame.on_end)
        return self.prompt.set(size)

    def sent(self, longest: int, connection: Connection, now: float) -> bool:
        """Note that data was sent, such as frames, the longest of which has `longest` bytes.

        True: the prompt is among them, and still in our buffer. A frame is the prompt if it is at
        least as long as the reservation: no other frame is.
        """
        prompt = self.prompt
        if prompt is None or longest < prompt.held_bytes:
            return False
        self.prompt, self._sent_prompt = None, prompt
        self._outgoing = track(None, self._unwritten(connection), now)
        self.is_parked = self._outgoing is not None
        return self.is_parked

    def is_overdue(
        self,
        connection: Connection | None,
        now: float,
        stall_s: float,
        *,
        reads: int,
        is_read: bool,
    ) -> bool:
        """Whether the agent stopped within a frame, or does not read its prompt.

        With `is_read` False the gateway does not read the agent, so an incomplete frame cannot
        grow, and does not count. `reads` counts the reads that brought frames: such a read also
        completed the frame that was incomplete before.
        """
        incoming = self.frame.held_bytes if is_read else 0
        self._incoming = track(self._incoming, incoming, now, reads)
        unwritten = 0 if connection is None else self._unwritten(connection)
        self._outgoing = track(self._outgoing, unwritten, now)
        pending = [each for each in (self._incoming, self._outgoing) if each is not None]
        self.is_parked = bool(pending)
        return any(each.is_overdue(now, stall_s) for each in pending)

    def _unwritten(self, connection: Connection) -> int:
        """Return the bytes of the prompt that the agent's socket has not taken, and count them."""
        if self._sent_prompt is None:
            return 0
        unwritten = connection.unwritten_bytes
        self._sent_prompt.set(unwritten)
        if not unwritten:
            self._sent_prompt = None
        return unwritten
