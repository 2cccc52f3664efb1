"""One turn that is played: the same `Turn` as in a gateway, and what came of it.

Make a `Play`, `begin` it, wait `until` something is there, and `close` it. The connection stays
open after the end of the turn, so that what comes too late is seen.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar, cast

from turnwire.conform.seen import SeenProtocol, TimedEvent
from turnwire.conform.silent_output import SilentOutput
from turnwire.core.agent import NEVER, AgentProtocol
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event, Reason, TextDelta, ToolUpdate, TurnFinished
from turnwire.core.turn import inputs
from turnwire.core.turn.inputs import Input
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.wire.schema import WireSchema, type_by
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.port import AgentTarget, Connection, Transport
from turnwire.relay.memory_budget import Holder

LATE_MAX: Final = 10_000
"""Frames after the end that are kept."""

EventT = TypeVar("EventT", bound=Event)


class Play:
    """A `relay.agent.link.LinkListener` that drives one turn. Times are the loop's, in seconds."""

    def __init__(
        self,
        protocol: AgentProtocol,
        limits: Limits,
        *,
        transport: Transport,
        target: Callable[[ConnectRequest], AgentTarget],
        holder: Holder,
        can_pause: bool,
    ) -> None:
        self.refused: tuple[DialFailure, int | None] | None = None
        """Why the connection did not open, and the HTTP status, if there is one."""
        self.left: DisconnectReason | None = None
        """Why the agent's connection ended, if it did not end by us."""
        self.opened_at: float | None = None
        self.ended_at: float | None = None
        """When the turn was over for a gateway."""
        self.late_frames: list[bytes] = []
        """Frames that came after the end of the turn."""
        self.bug: Exception | None = None
        self._seen = SeenProtocol(protocol)
        self._protocol = cast("AgentProtocol", self._seen)
        self.turn = Turn(self._protocol, limits, SilentOutput(can_pause=can_pause))
        self._transport = transport
        self._target = target
        self._frame = holder.reserve(self._over_budget)
        self._loop = asyncio.get_running_loop()
        self._link = AgentLink()
        self._timer: asyncio.TimerHandle | None = None
        self._stirred = asyncio.Event()
        self._is_closed = False
        self.began_at = self._loop.time()

    # What came of it.

    @property
    def timed_events(self) -> Sequence[TimedEvent]:
        """All events of the turn, up to the agent's verdict."""
        events = self._seen.timed_events
        ends = (at for at, each in enumerate(events) if isinstance(each.event, TurnFinished))
        return events[: next(ends, len(events)) + 1]

    def events(self, kind: type[EventT]) -> list[EventT]:
        """The events of one kind, in their order."""
        return [each.event for each in self.timed_events if isinstance(each.event, kind)]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events(TextDelta))

    @property
    def finish(self) -> TurnFinished | None:
        """The agent's verdict."""
        return next(iter(self.events(TurnFinished)), None)

    @property
    def finished_at(self) -> float | None:
        """When the agent's verdict came, on the loop's clock."""
        times = (each.at for each in self.timed_events if isinstance(each.event, TurnFinished))
        return next(times, None)

    @property
    def is_over(self) -> bool:
        """Whether the turn is over, or never began."""
        return self.turn.outcome is not None or self.refused is not None or self.bug is not None

    @property
    def is_completed(self) -> bool:
        finish = self.finish
        return finish is not None and finish.reason is Reason.END_TURN

    def open_calls(self) -> dict[str, ToolUpdate]:
        """The calls whose last state is no end, by their id."""
        last = {update.call_id: update for update in self.events(ToolUpdate)}
        return {call_id: update for call_id, update in last.items() if not update.phase.is_over}

    def late_deltas(self, schema: WireSchema, *, is_shared: bool) -> int:
        """How many deltas of this turn came after its end.

        `is_shared`: the connection carries other turns too, so a delta must name ours.
        """
        named = b"" if not is_shared else (self.turn.turn_id or "\0").encode()
        return sum(_is_delta(frame, schema) and named in frame for frame in self.late_frames)

    def ending(self) -> str:
        """How it ended, in words that continue a sentence about the turn."""
        if self.bug is not None:
            return f"could not be played: {self.bug!r}"
        if self.refused is not None:
            why, status = self.refused
            return "was refused: " + (why.value if status is None else f"HTTP status {status}")
        finish, outcome = self.finish, self.turn.outcome
        if finish is not None:
            error = f": {finish.error}" if finish.error else ""
            return f"ended with the verdict `{finish.reason.value}`{error}"
        if self.turn.rejection is not None:
            return f"was rejected: {self.turn.rejection.value}"
        if outcome is None:
            took_s = self._loop.time() - self.began_at
            return f"had no end after {took_s:.1f} s and {len(self.text)} characters of text"
        if self.left is not None:
            return f"lost its connection ({self.left.value}) before it had a verdict"
        return f"ended without a verdict: {outcome.meaning}"

    # What is done.

    def begin(self, dial_s: float) -> None:
        """Dial. All else follows by itself."""
        target = self._target(self._protocol.connect_request())
        self._dial_s = dial_s
        self._link.dial(self._transport, target, self, self._frame, dial_s)

    def hand(self, turn_input: Input) -> None:
        """Give the turn an input, as of its client."""
        self._apply(self.turn.handle(turn_input, self._loop.time()))

    def send(self, frames: Sequence[bytes]) -> None:
        """Send frames on its connection, also after its end."""
        if frames and (connection := self._link.connection) is not None:
            connection.send(frames)

    def abort_frames(self) -> Sequence[bytes]:
        """The frames that would abort the turn now; they are not sent."""
        return self._seen.abort_frames()

    async def until(self, fact: Callable[[], bool], within_s: float) -> bool:
        """Wait until the fact is true. False: it was not, for so many seconds."""
        deadline = self._loop.time() + within_s
        while not fact():
            stirred = self._stirred
            try:
                async with asyncio.timeout_at(deadline):
                    await stirred.wait()
            except TimeoutError:
                return fact()
        return True

    async def to_end(self, within_s: float) -> bool:
        """Wait until the turn is over. False: it was not, for so many seconds."""
        return await self.until(lambda: self.is_over, within_s)

    def close(self) -> None:
        """Close the connection, if it is open. May be called again."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self.turn.outcome is not None:
            self._link.finish()
        self._link.close()
        self._frame.release()

    # Callbacks of the agent side.

    def agent_opened(self, connection: Connection) -> None:
        self._link.opened(connection)
        self.opened_at = self.opened_at or self._loop.time()
        self._handle(inputs.Opened())

    def agent_refused(
        self, why: DialFailure, status: int | None, _retry_after_s: float | None
    ) -> None:
        if self.opened_at is not None:
            # Not now: the link, which is in the middle of this dial, is used for the next one.
            self._loop.call_soon(self._redial_failed, why, status, self._link.dials)
            return
        self.refused = why, status
        self._stir()

    def _redial_failed(self, why: DialFailure, status: int | None, dial: int) -> None:
        """As in a gateway, the protocol may ask for another connection."""
        if self._link.dials != dial or not self._link.is_dialling:
            return
        self._link.close()
        self._handle(inputs.Unreachable())
        if self.turn.outcome is not None:
            self.refused = why, status

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        now = self._loop.time()
        for frame in frames:  # one by one: some may come after the end
            if self.turn.outcome is None:
                self._apply(self.turn.frames((frame,), now))
            else:
                self._take_late(frame, now)
        self._stir()

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        yield from self.turn.prepare_frame(frame)
        if self.turn.outcome is not None:
            self._take_late(frame, self._loop.time())
            return
        portions = self.turn.long_frame(frame, self._loop.time())
        try:
            output = next(portions)
            while True:
                self._apply(output)
                yield
                output = portions.send(self._loop.time())
        except StopIteration:
            self._stir()

    def agent_frame_begun(self) -> None:
        """No extra timeout: whoever waits for the turn has one."""

    def agent_left(self, why: DisconnectReason, _code: int | None) -> None:
        self.left = why
        self._handle(inputs.Unsound() if why is DisconnectReason.UNSOUND else inputs.AgentLeft())

    def dial_crashed(self, bug: Exception) -> None:
        self.bug = bug
        self._stir()

    def wake(self) -> None:
        """What the protocol waits for has changed in another stream (`Member.on_change`)."""
        self._handle(inputs.Tick())

    def _handle(self, turn_input: Input) -> None:
        self._apply(self.turn.handle(turn_input, self._loop.time()))
        self._stir()

    def _take_late(self, frame: bytes, now: float) -> None:
        """Take a frame after the end: of an abort, the agent's verdict comes like that."""
        if len(self.late_frames) < LATE_MAX:
            self.late_frames.append(frame)
        self._protocol.receive_frame(frame, now)

    def _apply(self, output: Output) -> None:
        if self._is_closed:
            return
        self.send(output.to_agent)
        if output.connect is not None:
            self._link.close()
            self._link.dial(
                self._transport, self._target(output.connect), self, self._frame, self._dial_s
            )
        if self.turn.outcome is not None and self.ended_at is None:
            self.ended_at = self._loop.time()
            if self.turn.outcome in _HANG_UPS and not output.to_agent:
                self._link.close()  # on this wire, that is the abort
        if self._timer is not None:
            self._timer.cancel()
        if self.turn.deadline < NEVER:
            self._timer = self._loop.call_at(self.turn.deadline, self.wake)
        self._stir()

    def _over_budget(self) -> None:
        """Never called: the budget has no limit."""

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()


_HANG_UPS: Final = frozenset({Outcome.CLIENT_GONE, Outcome.ABANDONED, Outcome.CANCELED})


def _is_delta(frame: bytes, schema: WireSchema) -> bool:
    """Whether a frame is one with a delta."""
    type_of = schema.type_of or (schema.split and type_by(schema.split))
    if type_of is not None:
        return type_of(frame) in schema.deltas
    try:
        decoded = json.loads(frame)
    except (ValueError, RecursionError):
        return False
    return isinstance(decoded, dict) and decoded.get("type") in schema.deltas
