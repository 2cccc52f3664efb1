"""A turn between a scripted agent and a strict client, without I/O."""

from collections.abc import Sequence
from typing import Final

from turnwire.core.agent import AbortScope, AgentProtocol
from turnwire.core.output import OutputProtocol
from turnwire.core.turn.inputs import AgentLeft, Input, Opened, Tick, Unreachable
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.core.wire.census import TooManyError
from turnwire.testing.client_model import Client, need

LIMITS: Final = Limits()
_ENDS_MAX: Final = 4
"""Connections that may end before the turn does: it may wait without one, or ask for another."""


_SETTLED_S: Final = 15.0
"""Longest time after which a turn is over whose agent said that it is, in seconds."""


class Played:
    """One turn. Its client raises at whatever breaks a promise to it."""

    def __init__(
        self,
        protocol: AgentProtocol,
        *,
        limits: Limits = LIMITS,
        output: OutputProtocol | None = None,
        observers: Sequence[TurnObserver] = (),
        client: Client | None = None,
    ) -> None:
        self.protocol = protocol
        self.request = protocol.connect_request()
        self.requests = [self.request]
        """The requests that opened its connections."""
        self.turn = Turn(
            protocol,
            limits,
            output or UIMessageStream(StreamOptions(usage=True)),
            observers=observers,
        )
        self.client = client or Client()
        self.now = 0.0
        self.written = b""
        """The whole response."""
        self.sent: list[bytes] = []
        """The frames to the agent."""
        self.opened = 0
        """Connections that were opened."""
        self.refused_dials = 0
        """How many of the next connections cannot be opened."""
        self.is_woken = False
        """Whether another stream of the session did something that this one waits for."""
        self._dial()

    def handle(self, turn_input: Input) -> "Played":
        """Give the turn any input but frames."""
        self._do(self.turn.handle(turn_input, self.now))
        return self

    def receive(self, frames: Sequence[bytes]) -> "Played":
        """Give the turn these frames, each in a read of its own."""
        for frame in frames:
            self.read([frame])
        return self

    def read(self, frames: Sequence[bytes]) -> None:
        """Give the turn these frames in one read."""
        self._do(self.turn.frames(frames, self.now))

    def prepare(self, frame: bytes) -> bool:
        """Count a frame, as one that is long. Returns whether it may be decoded."""
        try:
            for _ in self.turn.prepare_frame(frame):
                pass
        except TooManyError:
            return False
        return True

    def read_long(self, frame: bytes) -> None:
        """Give the turn a frame as a long one is given: counted before, and in portions."""
        if not self.prepare(frame):
            return
        for output in self.turn.long_frame(frame, self.now):
            self._do(output)

    def wake(self) -> None:
        """Note that a tick is due at once."""
        self.is_woken = True

    def leave(self) -> "Played":
        """The agent closes the connection: that ends the turn."""
        for _ in range(_ENDS_MAX):
            self.handle(AgentLeft())
            if self.turn.outcome is not None:
                break
        self.wait()
        return self

    def settle(self) -> "Played":
        """Let the few seconds pass that a dialect may wait for more behind the last frame."""
        until = self.now + _SETTLED_S
        while self.turn.outcome is None and self.protocol.deadline <= until:
            self.now = max(self.now, self.turn.deadline)
            self.handle(Tick())
            need(self.turn.deadline > self.now, "a tick leaves the deadline in the past")
        return self

    def wait(self) -> "Played":
        """Let time pass, until the turn is over."""
        ticks = 0
        while self.turn.outcome is None:
            before, self.now = self.now, max(self.now, self.turn.deadline)
            need(self.now < float("inf"), "the turn has no deadline, and would never end")
            self.handle(Tick())
            ticks = 0 if self.now > before else ticks + 1
            need(ticks < _ENDS_MAX, f"a tick at {self.now} s leaves the deadline in the past")
            need(self.now < LIMITS.turn_s * 3, "the turn does not end")
        return self

    def close(self) -> "Played":
        """The stream must be whole."""
        need(self.turn.outcome is not None, "the turn is not over")
        self.client.close()
        return self

    def _do(self, output: Output) -> None:
        self.written += output.to_client
        self.client.read(output.to_client)
        for frame in output.to_agent:
            need(isinstance(frame, bytes), f"a frame to the agent is no bytes: {type(frame)}")
            frame.decode()
            self.sent.append(frame)
        self._check_protocol()
        if output.connect is not None:
            self.requests.append(output.connect)
            self._dial()

    def _dial(self) -> None:
        if self.refused_dials:
            self.refused_dials -= 1
            self.handle(Unreachable())
            return
        self.opened += 1
        self.handle(Opened())

    def _check_protocol(self) -> None:
        protocol = self.protocol
        need(isinstance(protocol.abort_scope, AbortScope), "`abort_scope` is no AbortScope")
        need(isinstance(protocol.deadline, int | float), "`deadline` is no number")
        need(protocol.deadline == protocol.deadline, "`deadline` is NaN")
        for name in ("accepted", "queued", "has_other_watchers"):
            need(isinstance(getattr(protocol, name), bool), f"`{name}` is no bool")
        need(isinstance(protocol.kept_bytes, int), "`kept_bytes` is no int")
