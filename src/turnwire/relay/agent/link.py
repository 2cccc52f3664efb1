"""What a stream and an operation share on the agent's side: the dial, its time limit, the close."""

import asyncio
from functools import partial
from typing import Protocol

from turnwire.relay.agent.failures import DialError, DialFailure
from turnwire.relay.agent.port import AgentTarget, Connection, Listener, Transport
from turnwire.relay.memory_budget import Reservation


class LinkListener(Listener, Protocol):
    """A listener that gets all ends of a dial, also one that is not the agent's."""

    def dial_crashed(self, bug: Exception, /) -> None:
        """The transport raised an exception that it does not declare."""
        ...


class AgentLink:
    """The connection of one request to its agent, from the dial to the close.

    It keeps no listener after the dial, and `close` drops the connection, so no reference cycle
    outlives it.
    """

    __slots__ = ("_dialling", "_timer", "connection", "dial_error", "dials")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.dial_error: str | None = None
        """The error of the operating system or of TLS, only for the log."""
        self.dials = 0
        """How many were begun."""
        self._dialling: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def dial(
        self,
        transport: Transport,
        target: AgentTarget,
        listener: LinkListener,
        reservation: Reservation,
        dial_s: float,
    ) -> None:
        """Begin to dial. The agent has `dial_s` seconds in all until it accepts."""
        loop = asyncio.get_running_loop()
        self.dials += 1
        self._timer = loop.call_later(dial_s, partial(self._overdue, listener))
        try:
            self.connection = transport.open_kept(target, listener, reservation)
        except Exception as bug:  # noqa: BLE001 (as in `_open`)
            listener.dial_crashed(bug)
            return
        if self.connection is None:
            self._dialling = loop.create_task(self._open(transport, target, listener, reservation))

    @property
    def is_dialling(self) -> bool:
        """Whether a dial is under way, or failed and was not closed yet."""
        return self._timer is not None

    def opened(self, connection: Connection) -> None:
        """Note that the agent accepted: the time limit is over."""
        self.connection = connection
        self._stop_timer()

    def finish(self) -> None:
        """Close after the end of the turn: as `close`, but without an abort."""
        if self.connection is not None:
            self.connection.finish()
            self.connection = None
        self.close()

    def close(self) -> None:
        """Give up the dial, or close the connection. May be called again, and `dial` after it."""
        if self._dialling is not None:
            self._dialling.cancel()
            self._dialling = None
        self._stop_timer()
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _overdue(self, listener: LinkListener) -> None:
        """The agent had its time, and has not accepted."""
        connection = self.connection
        try:
            if connection is not None and connection.may_open_late():
                listener.agent_opened(connection)
            else:
                listener.agent_refused(DialFailure.TIMEOUT, None, None)
        except Exception as bug:  # noqa: BLE001 (else nothing would end the stream)
            listener.dial_crashed(bug)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _open(
        self,
        transport: Transport,
        target: AgentTarget,
        listener: LinkListener,
        reservation: Reservation,
    ) -> None:
        try:
            self.connection = await transport.open(target, listener, reservation)
        except DialError as failure:
            self.dial_error = None if failure.__cause__ is None else repr(failure.__cause__)
            listener.agent_refused(failure.why, None, None)
        except Exception as bug:  # noqa: BLE001 (else nothing would end the dial but its limit)
            listener.dial_crashed(bug)
        # Frees half a kilobyte, which most streams would hold for hours. A cancelled dial does not
        # come here: `close` dropped it, and another may be under way.
        self._dialling = None
