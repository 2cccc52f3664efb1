"""One stream: pass inputs to its `Turn`, and carry out the `Output` of the `Turn`.

Make a `Stream` with a `Turn`, and await `run`. Each input of a stream is a callback (the agent's
socket, the client's buffer and disconnect, the one timer) and goes to the `Turn` with a time.
This module decides only about the dial, which comes before the `Turn`.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from turnwire.core.agent import NEVER, AgentProtocol
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import QuestionReply
from turnwire.core.turn import inputs
from turnwire.core.turn.inputs import Input
from turnwire.core.turn.outcome import BY_AGENT, INCOMPLETE, Outcome, undelivered_outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.parked import AgentSide
from turnwire.relay.agent.port import AgentTarget, Connection, Transport, no_target
from turnwire.relay.client_writer import Body, ClientWriter, Receive, Send, no_sample
from turnwire.relay.memory_budget import Holder, Reservation
from turnwire.relay.tcp import ClientSocket

_CHECKS_PER_STALL: Final = 8
"""Checks of a stalled peer in the stall time."""

_SAMPLED: Final = 16


class Stream:
    """One request's stream, from the dial to the last byte.

    `dial_s` bounds the dial. `stall_s` bounds the wait for a client that does not take the end of
    its stream, and for an agent that stops within a frame. Both are in seconds. `holder` counts the
    memory of the stream, what `protocol` keeps of the turn among it; `prompt` is its reservation
    for the prompt, until that is sent. `sample` gets the seconds from a read of the agent's socket
    to the write to the client: for the first read, and then for one in `_SAMPLED`.
    """

    __slots__ = (
        *("_agent_side", "_body_bytes", "_bug", "_client", "_client_socket", "_dial_s"),
        *("_dialled_at", "_is_open", "_link", "_loop", "_next_target", "_opens", "_reads"),
        *("_receive", "_sample", "_stall_s", "_timer", "_timer_at", "_transport"),
        *("arrived", "blocks", "dial_failure", "dial_status", "dial_took_s", "disconnect_code"),
        *("disconnect_reason", "ended", "first_byte_at", "has_client", "retry_after_s", "turn"),
    )

    def __init__(
        self,
        turn: Turn,
        *,
        send: Send,
        receive: Receive,
        headers: list[tuple[bytes, bytes]],
        dial_s: float,
        stall_s: float,
        holder: Holder,
        prompt: Reservation | None = None,
        protocol: AgentProtocol | None = None,
        client_socket: ClientSocket | None = None,
        body: Body | None = None,
        sample: Callable[[float], object] = no_sample,
    ) -> None:
        self.turn = turn
        self.dial_failure: DialFailure | None = None
        self.dial_status: int | None = None
        self.retry_after_s: float | None = None
        """How long the agent that refused asks to be left alone, in seconds, if it does."""
        self.disconnect_reason: DisconnectReason | None = None
        """Why the connection to the agent became unusable; None if the turn ended first."""
        self.disconnect_code: int | None = None
        """The transport's own number for that, only for the log."""
        self.first_byte_at: float | None = None
        self.dial_took_s: float | None = None
        self.arrived: bool | None = None
        """Whether the client received everything that was written; None: unknown."""
        self.has_client = True
        """Whether the client is not known to have left."""
        self.blocks = 0
        """How often the client's buffer was full."""
        self._sample = sample
        self._reads = 0
        self._agent_side = AgentSide(holder, prompt, self._over_budget, protocol)
        self._client = ClientWriter(send, headers, self, client_socket, body, holder=holder)
        self._client_socket = client_socket
        self._receive = receive
        self._dial_s = dial_s
        self._stall_s = stall_s
        self._loop = asyncio.get_running_loop()
        self.ended = self._loop.create_future()
        """Done when the turn is over."""
        self._link = AgentLink()
        self._dialled_at = 0.0
        self._body_bytes = 0
        """Of the request that opens the connection."""
        self._is_open = self._opens = False
        """Whether a connection is open; whether the next frames open it for the turn."""
        self._bug: Exception | None = None
        """The exception of a callback. The response must not end as if it were complete."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = NEVER

    @property
    def started(self) -> bool:
        """Whether the response headers are out."""
        return self._client.started

    @property
    def dial_error(self) -> str | None:
        return self._link.dial_error

    @property
    def bytes_written(self) -> int:
        return self._client.bytes_written

    async def run(
        self,
        transport: Transport,
        target: AgentTarget,
        *,
        refusable: Callable[[], bool],
        next_target: Callable[[ConnectRequest], AgentTarget] = no_target,
    ) -> None:
        """Dial, and relay until the turn is over.

        `refusable` is called when the first dial failed. True: the caller answers with an HTTP
        status. False: the failure goes into the stream. `next_target` says what to dial if the
        turn asks for another connection.
        """
        self._transport, self._next_target = transport, next_target
        self._dialled_at = self._loop.time()
        self._body_bytes = len(target.body)
        self._link.dial(transport, target, self, self._agent_side.frame, self._dial_s)
        del target  # its body: only the transport keeps it, until it is sent
        watching = self._watch()
        try:
            await self._relay(refusable)
            await self._finish_client()
            if self._bug is not None:
                raise self._bug
        finally:
            if watching is not None:
                watching.cancel()
            if self._client_socket is not None:
                self._client_socket.watch(None)
            self._client.detach()

    async def _relay(self, refusable: Callable[[], bool]) -> None:
        try:
            await self.ended
            if self._bug is not None and self.turn.outcome is not Outcome.CRASHED:
                raise self._bug
            if (
                self.dial_failure is not None
                and self.turn.outcome is None
                and (self.started or not refusable())
            ):
                self._handle(self._undialled(self.dial_failure))
        finally:
            # Without an `await`, so that a cancellation cannot interrupt these steps.
            if self._timer is not None:
                self._timer.cancel()
            if self.turn.outcome in BY_AGENT:
                self._link.finish()
            else:
                self._link.close()

    def _dial_again(self, connect: ConnectRequest) -> None:
        """Close the connection, if there is one, and open another for the same turn."""
        self._link.close()
        self._is_open = False
        target = self._next_target(connect)
        self._body_bytes = len(target.body)
        if not self._agent_side.hold_prompt(self._body_bytes):
            self._drop_agent(DisconnectReason.NO_ROOM)
            return
        self._link.dial(self._transport, target, self, self._agent_side.frame, self._dial_s)

    def when_delivered(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the client has the end of the stream, or can no longer get it."""
        client = self._client_socket
        is_final = self.turn.outcome in INCOMPLETE or self.arrived is False
        if client is None or not self.started or is_final:
            callback()
        else:
            client.when_acked(partial(self._delivered, client, callback))

    def _delivered(self, client: ClientSocket, callback: Callable[[], object]) -> None:
        self.arrived = True
        if client.is_lost:
            self._mark_missed(stalled=client.stalled)
        callback()

    def _mark_missed(self, *, stalled: bool) -> None:
        self.arrived = False
        self.turn.outcome = undelivered_outcome(self.turn.outcome, stalled=stalled)

    def wake(self) -> None:
        """What the protocol waits for has changed in another stream (`Member.on_change`)."""
        self._handle_or_fail(inputs.Tick())

    def reply(self, reply: QuestionReply, user_id: str) -> None:
        """A user answered a question of the turn, in a request beside this stream."""
        self._handle_or_fail(inputs.Replied(reply, user_id))

    def stop(self) -> None:
        """A user stopped the turn, in a request beside this stream: `ended` waits for its end."""
        self._handle_or_fail(inputs.Stopped())

    def read_by(self, readers: int) -> None:
        """So many clients read the turn in the turn log now."""
        self._handle_or_fail(inputs.Readers(readers))

    def drain(self) -> None:
        """The gateway stops. Never raises: the other streams get this notice too."""
        self._handle_or_fail(inputs.Drain())

    # Callbacks of the agent side (`relay.agent.link.LinkListener`).

    def agent_opened(self, connection: Connection) -> None:
        self._link.opened(connection)
        self._is_open = True
        if self.dial_took_s is None:
            self.dial_took_s = self._loop.time() - self._dialled_at
        elif self._waits_for_client:
            connection.pause()
        if self._body_bytes:
            self._note_sent(self._body_bytes, connection)
        self._opens = connection.brings_frames
        if not self._opens:
            self._handle_or_fail(inputs.Opened())

    def agent_refused(
        self, why: DialFailure, status: int | None, retry_after_s: float | None
    ) -> None:
        if self.turn.outcome is not None or self.dial_failure is not None:  # it is given up
            return
        if self.dial_took_s is not None and self.started:
            # Not now: the link, which is in the middle of this dial, is used for the next one.
            late = not self._link.is_dialling  # it had opened before its head came
            self._loop.call_soon(self._redial_failed, why, status, self._link.dials, late)
            return
        self.dial_failure = why
        self.dial_status, self.retry_after_s = status, retry_after_s
        self._end()

    def _redial_failed(
        self,
        why: DialFailure,
        status: int | None,
        dial: int,
        late: bool,  # noqa: FBT001 (a callback's)
    ) -> None:
        """The protocol may ask for another connection, or wait without one."""
        if self.turn.outcome is not None or self._link.dials != dial:
            return
        if not (late or self._link.is_dialling):
            return  # it has opened after all, or is known to have failed
        self._link.close()
        self._handle_or_fail(self._undialled(why))
        if self.turn.outcome is not None:
            self.dial_failure, self.dial_status = why, status

    def _undialled(self, why: DialFailure) -> Input:
        is_refused = self._transport.status_is_answer and why is DialFailure.STATUS
        return inputs.Refused() if is_refused else inputs.Unreachable()

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        self._reads += 1
        opens, self._opens = self._opens, False
        try:
            if self._reads % _SAMPLED != 1:
                self._apply(self.turn.frames(frames, self._loop.time(), opens=opens))
                return
            began = time.perf_counter()  # the loop's own time stands still within a callback
            self._apply(self.turn.frames(frames, self._loop.time(), opens=opens))
            self._sample(time.perf_counter() - began)
            self._agent_side.count_kept()
        except Exception as bug:  # noqa: BLE001 (any)
            self._fail(bug, has_begun=opens)

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        for _ in self.turn.prepare_frame(frame):
            self._reads += 1  # counts as progress
            yield
        portions = self.turn.long_frame(frame, self._loop.time())
        try:
            output = next(portions)
            while True:
                self._reads += 1
                self._apply(output)
                yield
                output = portions.send(self._loop.time())
        except StopIteration:
            return
        except Exception as bug:  # noqa: BLE001 (any)
            self._fail(bug)

    def agent_frame_begun(self) -> None:
        if not self._agent_side.is_parked:
            self._agent_side.is_parked = True
            self._arm(self.turn.deadline)  # or the next check might be a keepalive away

    def agent_left(self, why: DisconnectReason, code: int | None) -> None:
        if self.turn.outcome is not None:
            return
        is_unsound = why is DisconnectReason.UNSOUND
        self._handle_or_fail(inputs.Unsound() if is_unsound else inputs.AgentLeft())
        if self.turn.outcome is not None:  # else the turn goes on without this connection
            self.disconnect_reason, self.disconnect_code = why, code

    def dial_crashed(self, bug: Exception) -> None:
        self._fail(bug)

    def _drop_agent(self, why: DisconnectReason) -> None:
        """Close the connection to the agent, and end the turn, if it is not over."""
        if self.turn.outcome is not None:
            return
        if (connection := self._link.connection) is not None:
            connection.close()
        self.disconnect_reason = why
        self._handle_or_fail(inputs.AgentLeft())

    def _over_budget(self) -> None:
        """The memory budget is spent, and this stream must give its memory back."""
        if self._waits_for_client:  # so the memory is the client's: the agent is not read
            self.client_overflowed()
        else:
            self._drop_agent(DisconnectReason.NO_ROOM)

    @property
    def _waits_for_client(self) -> bool:
        """Whether the agent is not read, since the client's buffer is full."""
        return self._client.blocked and self.has_client

    # Callbacks of the client side (`relay.client_writer.Flow`).

    def client_blocked(self) -> None:
        self.blocks += 1
        if self._is_open and (connection := self._link.connection) is not None:
            connection.pause()
        self._client.progressed()  # measure the progress from here on
        self._handle(inputs.Blocked())
        self._arm(self.turn.deadline)

    def client_progressed(self) -> None:
        self._handle_or_fail(inputs.Progressed())

    def client_unblocked(self) -> None:
        if (connection := self._link.connection) is not None:
            connection.resume()
        self._handle_or_fail(inputs.Unblocked())

    def client_held(self, held_bytes: int) -> None:
        self._handle(inputs.Held(held_bytes))

    def client_overflowed(self) -> None:
        """The budget is spent: end as a slow client, even below the limit of this client."""
        self._handle_or_fail(inputs.Held(sys.maxsize))
        self._client.cut()

    # Giving inputs to the turn, and carrying out its outputs.

    def _handle(self, turn_input: Input) -> None:
        self._apply(self.turn.handle(turn_input, self._loop.time()))
        self._agent_side.count_kept()

    def _handle_or_fail(self, turn_input: Input) -> None:
        """On an exception, end the stream. For callbacks that no caller guards."""
        try:
            self._handle(turn_input)
        except Exception as bug:  # noqa: BLE001 (any)
            self._fail(bug)

    def _apply(self, output: Output) -> None:
        is_over = self.turn.outcome is not None
        if is_over:
            self._end()  # first, so that nothing that fails below leaves the stream open
        try:
            if output.to_agent and (connection := self._link.connection) is not None:
                connection.send(output.to_agent)
                if self._agent_side.prompt is not None:
                    self._note_sent(max(map(len, output.to_agent)), connection)
            if output.disconnect_client:
                self._disconnect_client(output)
            elif output.to_client:
                if self.first_byte_at is None:
                    self.first_byte_at = self._loop.time()
                self._client.write(output.to_client, is_last=is_over)
            if output.connect is not None:
                self._dial_again(output.connect)
        except Exception as bug:  # noqa: BLE001 (else the stream would end as if complete)
            self._fail(bug)
        if self.turn.deadline < self._timer_at:
            self._arm(self.turn.deadline)

    def _disconnect_client(self, output: Output) -> None:
        """Disconnect the client. Read the agent on: the turn may have frames to send to it."""
        self.has_client = False
        if output.ends_response and not self._client.blocked:
            self._client.write(output.to_client, is_last=True)
        else:
            self._client.cut()
        if (connection := self._link.connection) is not None:
            connection.resume()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def _arm(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._client.blocked or self._agent_side.is_parked:  # check for progress
            at = min(at, self._loop.time() + self._stall_s / _CHECKS_PER_STALL)
        self._timer_at = at
        if at < NEVER:
            self._timer = self._loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer, self._timer_at = None, NEVER
        try:
            self._time_passed()
        except Exception as bug:  # noqa: BLE001 (else no timer is left to end the stream)
            self._fail(bug)

    def _time_passed(self) -> None:
        now = self._loop.time()
        if self._client.blocked and self._client.progressed():
            self._handle(inputs.Progressed())
        if self._is_open and self._agent_side.is_overdue(
            self._link.connection,
            now,
            self._stall_s,
            reads=self._reads,
            is_read=not self._waits_for_client,
        ):
            self._drop_agent(DisconnectReason.STALLED)
        self._handle(inputs.Tick())

    def _note_sent(self, longest: int, connection: Connection) -> None:
        if self._agent_side.sent(longest, connection, self._loop.time()):
            self._arm(self.turn.deadline)

    def _watch(self) -> asyncio.Task[None] | None:
        """Watch for the client's disconnect: by a callback of our server, else by a task."""
        if self._client_socket is not None and self._client_socket.is_request_complete:
            self._client_socket.watch(self._client_left)
            return None
        return self._loop.create_task(self._watch_client())

    async def _watch_client(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._client_left()

    def _client_left(self) -> None:
        self.has_client = False
        is_stalled = self._client_socket is not None and self._client_socket.stalled
        self._handle_or_fail(inputs.ClientStalled() if is_stalled else inputs.ClientLeft())

    def _fail(self, bug: Exception, *, has_begun: bool = False) -> None:
        """End the stream, and close its agent; `run` raises the exception of the callback.

        What has begun ends with an error, if the turn can still say it; else it is cut.
        """
        is_first, self._bug = self._bug is None, self._bug or bug
        self._end()
        if is_first and (has_begun or self.started):
            with suppress(Exception):
                self._apply(self.turn.crashed(self._loop.time()))
        self._link.close()

    async def _finish_client(self) -> None:
        """Send the rest to the client, as long as the client reads."""
        outcome = self.turn.outcome
        if outcome is Outcome.SLOW_CLIENT:
            await self._cut_client()
        elif outcome is Outcome.CLIENT_GONE or outcome is Outcome.ABANDONED:
            self._client.discard()
        elif self._client.started and not await self._client.finish(self._stall_s):
            self._mark_missed(stalled=True)
            await self._cut_client()

    async def _cut_client(self) -> None:
        """Reset the connection to the client, and discard the data that it has not read."""
        self._client.cut()
        await self._client.wait_for_disconnect()
