"""One stream: carries inputs to its `Turn` and does what the `Turn` says.

What can happen to a stream comes in as a callback (the agent's socket, the
client's buffer and its end, the one timer) and goes to the `Turn` with a time.
Nothing here decides anything, but for what lies before the `Turn`: the dial.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec import Struct

from turnwire.core.act import Act
from turnwire.core.dialect import NEVER
from turnwire.core.outcome import Outcome, missed
from turnwire.core.turn import Turn
from turnwire.relay.budget import Hold, Holder
from turnwire.relay.client import Body, ClientWriter, Message, Send
from turnwire.relay.dialler import DialError, Dialler
from turnwire.relay.leaving import DialFailure, Leaving
from turnwire.relay.parked import AgentSide
from turnwire.relay.sockets import ClientSocket
from turnwire.relay.upstream import Upstream

_LOOKS: Final = 8
"""How often who stalls is looked at in the time that is given for it."""

_SAMPLED: Final = 16

_SLOW_CLIENT: Final = Outcome.SLOW_CLIENT
_CLIENT_GONE: Final = Outcome.CLIENT_GONE
_ABANDONED: Final = Outcome.ABANDONED
_LEFT: Final = frozenset({_SLOW_CLIENT, _CLIENT_GONE, _ABANDONED, None})
"""Outcomes of streams whose client has not all, and of one that crashed."""

Receive = Callable[[], Awaitable[Message]]

SOCKET_EXTENSION: Final = "turnwire.client_socket"
"""ASGI scope extension, where the server is ours: the `ClientSocket` of the request."""

BODY_EXTENSION: Final = "turnwire.body"
"""The same: a call that gives the `Body` of its response, for as long as there is one.

Starlette puts two coroutines before the server's, which look at the head of a response alone.
So the head takes their way, and the chunks this one.
"""


def _unsampled(_: float) -> None:
    """Nobody wants to know."""


class Call(Struct, frozen=True):
    """Where to dial, and with what."""

    url: str
    headers: Mapping[str, str]
    subprotocols: Sequence[str] = ()


class Stream:
    """One request's stream, from the dial to the last byte.

    `dial_s` bounds the dial, `stall_s` the wait for a client that does not take
    the end of its stream, and for an agent in the midst of a frame; both in seconds. `holder` is
    told what is held for it; `prompt`, of that, is what is to be sent to the agent, until it is.
    `sample` is told how long a read of the agent's socket took on its way to the client, of the
    first read and then of one in `_SAMPLED`.
    """

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
        prompt: Hold | None = None,
        client_socket: ClientSocket | None = None,
        body: Body | None = None,
        sample: Callable[[float], object] = _unsampled,
    ) -> None:
        self.turn = turn
        self.dial_failure: DialFailure | None = None
        self.dial_status: int | None = None
        self.left: Leaving | None = None
        """Why the agent's connection was of no more use, where it ended by itself."""
        self.close_code: int | None = None
        self.dial_error: str | None = None
        """What the operating system or TLS said, for the log alone."""
        self.first_byte_at: float | None = None
        self.dial_took_s: float | None = None
        self.arrived: bool | None = None
        """Whether the client had all that was written to it; None: nobody can say."""
        self.blocks = 0
        """How often the client's buffer was full."""
        self._sample = sample
        self._reads = 0
        self._agent_side = AgentSide(holder, prompt, self._no_room)
        self._client = ClientWriter(send, headers, self, client_socket, body, holder=holder)
        self._client_socket = client_socket
        self._receive = receive
        self._dial_s = dial_s
        self._stall_s = stall_s
        self._loop = asyncio.get_running_loop()
        self._over = self._loop.create_future()
        self._upstream: Upstream | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._is_open = False
        self._bug: Exception | None = None
        """What a callback raised: the response is not to end as if it were whole."""
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = self._dial_until = NEVER

    @property
    def started(self) -> bool:
        """Whether the response headers are out."""
        return self._client.started

    @property
    def bytes_written(self) -> int:
        return self._client.bytes_written

    async def run(self, dialler: Dialler, call: Call, *, refusable: Callable[[], bool]) -> None:
        """Dial, and relay until the turn is over.

        `refusable` is asked when the dial failed: True leaves the response to
        the caller, who answers with a status; False streams the failure.
        """
        self._dialling = self._loop.create_task(self._dial(dialler, call))
        watching = self._watch()
        self._dial_until = self._loop.time() + self._dial_s
        self._arm(min(self._dial_until, self.turn.deadline))
        try:
            await self._talk(refusable)
            await self._say_goodbye()
            self._own_up()
        finally:
            if watching is not None:
                watching.cancel()
            if self._client_socket is not None:
                self._client_socket.watch(None)
            self._client.leave()

    async def _talk(self, refusable: Callable[[], bool]) -> None:
        try:
            await self._over
            self._own_up()
            if self.dial_failure is not None and self.turn.outcome is None and not refusable():
                self._do(self.turn.unreachable(self._loop.time()))
        finally:
            # Without an await in between, so that a cancellation cannot get in between.
            if self._dialling is not None:
                self._dialling.cancel()
            if self._timer is not None:
                self._timer.cancel()
            if self._upstream is not None:
                self._upstream.close()
                self._upstream = None  # or the two would hold each other

    def when_taken(self, tell: Callable[[], object]) -> None:
        """Tell when it is known how the stream ended: its client has the end, or never will."""
        client, is_told = self._client_socket, self.turn.outcome in _LEFT or self.arrived is False
        if client is None or not self.started or is_told:
            tell()
        else:
            client.when_taken(partial(self._taken, client, tell))

    def _taken(self, client: ClientSocket, tell: Callable[[], object]) -> None:
        self.arrived = True
        if client.is_lost:
            self._missed(stalled=client.stalled)
        tell()

    def _missed(self, *, stalled: bool) -> None:
        self.arrived = False
        self.turn.outcome = missed(self.turn.outcome, stalled=stalled)

    def look(self) -> None:
        """What the conversation waited for, beside the agent, is there."""
        self._do_or_fail(self.turn.tick)

    def drain(self) -> None:
        """The gateway stops. Never raises: the others are to be told too."""
        self._do_or_fail(self.turn.drain)

    # The agent's side (relay.upstream.Listener).

    def agent_opened(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._is_open = True
        self.dial_took_s = self._loop.time() - self._dial_until + self._dial_s
        self._do(self.turn.opened(self._loop.time()))
        self._arm(self.turn.deadline)

    def agent_refused(self, why: DialFailure, status: int | None = None) -> None:
        self.dial_failure = why
        self.dial_status = status
        self._end()

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        self._reads += 1
        if self._reads % _SAMPLED != 1:
            self._do(self.turn.frames(frames, self._loop.time()))
            return
        began = time.perf_counter()  # the loop's own time stands still within a callback
        self._do(self.turn.frames(frames, self._loop.time()))
        self._sample(time.perf_counter() - began)

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        for _ in self.turn.look_into(frame):
            self._reads += 1  # it goes on
            yield
        portions = self.turn.portions(frame, self._loop.time())
        with suppress(StopIteration):
            act = next(portions)
            while True:
                self._reads += 1
                self._do(act)
                yield
                act = portions.send(self._loop.time())

    def agent_frame_begun(self) -> None:
        if not self._agent_side.is_parked:
            self._agent_side.is_parked = True
            self._arm(self.turn.deadline)  # else nobody might look for as long as a keepalive

    def agent_left(self, why: Leaving, close_code: int | None) -> None:
        self.left, self.close_code = why, close_code
        told = self.turn.unsound if why is Leaving.UNSOUND else self.turn.agent_left
        self._do(told(self._loop.time()))

    def _leave(self, why: Leaving) -> None:
        """Have no more to do with the agent's connection."""
        if self.turn.outcome is not None:
            return
        if self._upstream is not None:
            self._upstream.close()
        self.left = why
        self._do_or_fail(self.turn.agent_left)

    def _no_room(self) -> None:
        """There is no room in the process, and this is where it is made."""
        if self._client.blocked:  # for whom the agent is not read
            self.client_overflowed()
        else:
            self._leave(Leaving.NO_ROOM)

    # The client's side (relay.client.Flow).

    def client_blocked(self) -> None:
        self.blocks += 1
        if self._upstream is not None:
            self._upstream.pause()
        self._client.progressed()  # from here on
        self._do(self.turn.blocked(self._loop.time()))
        self._arm(self.turn.deadline)

    def client_progressed(self) -> None:
        self._do_or_fail(self.turn.progressed)

    def client_unblocked(self) -> None:
        if self._upstream is not None:
            self._upstream.resume()
        self._do_or_fail(self.turn.unblocked)

    def client_held(self, held_bytes: int) -> None:
        self._do(self.turn.held(held_bytes, self._loop.time()))

    def client_overflowed(self) -> None:
        """Over its own bound or not, there is no room for what this client has not taken."""
        self._do_or_fail(partial(self.turn.held, sys.maxsize))
        self._client.cut()

    # What is done about it.

    def _do(self, act: Act) -> None:
        is_over = self.turn.outcome is not None
        if is_over:
            self._end()  # first, so that nothing that fails below leaves the stream open
        try:
            if act.tell and self._upstream is not None:
                self._upstream.send(act.tell)
                if self._agent_side.prompt is not None:
                    self._told(self._upstream, act.tell)
            if act.cut:
                self._cut_off()
            elif act.write:
                if self.first_byte_at is None:
                    self.first_byte_at = self._loop.time()
                self._client.write(act.write, is_last=is_over)
        except Exception as bug:  # noqa: BLE001 (else the stream would end as if all were said)
            self._fail(bug)
        if self.turn.deadline < self._timer_at:
            self._arm(self.turn.deadline)

    def _do_or_fail(self, told: Callable[[float], Act]) -> None:
        """For callbacks above which nobody would end the stream, or say why."""
        try:
            self._do(told(self._loop.time()))
        except Exception as bug:  # noqa: BLE001 (any)
            self._fail(bug)

    def _cut_off(self) -> None:
        """Nobody reads; the agent is read on, for what may be left to tell it."""
        self._client.cut()
        if self._upstream is not None:
            self._upstream.resume()

    def _end(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _arm(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._client.blocked or self._agent_side.is_parked:  # look now and then if it goes on
            at = min(at, self._loop.time() + self._stall_s / _LOOKS)
        self._timer_at = at
        if at < NEVER:
            self._timer = self._loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer, self._timer_at = None, NEVER
        try:
            self._time_passed()
        except Exception as bug:  # noqa: BLE001 (no timer would be left to end the stream)
            self._fail(bug)

    def _time_passed(self) -> None:
        now = self._loop.time()
        if self._client.blocked and self._client.progressed():
            self._do(self.turn.progressed(now))
        if self._is_open and self._agent_side.is_overdue(
            self._upstream,
            now,
            self._stall_s,
            reads=self._reads,
            is_read=not self._client.blocked,
        ):
            self._leave(Leaving.STALLED)
        self._do(self.turn.tick(now))
        if self._is_open or self.turn.outcome is not None:
            return
        if now >= self._dial_until:
            self.agent_refused(DialFailure.TIMEOUT)
        else:
            self._arm(min(self._dial_until, self.turn.deadline))

    def _told(self, upstream: Upstream, frames: Sequence[bytes]) -> None:
        if self._agent_side.told(frames, upstream, self._loop.time()):
            self._arm(self.turn.deadline)

    async def _dial(self, dialler: Dialler, call: Call) -> None:
        try:
            self._upstream = await dialler.dial(
                call.url, call.headers, self, call.subprotocols, self._agent_side.frame
            )
        except DialError as failure:
            self.dial_error = None if failure.__cause__ is None else repr(failure.__cause__)
            self.agent_refused(failure.why)
        except Exception as bug:  # noqa: BLE001 (as below)
            self._fail(bug)
        finally:
            self._dialling = None  # half a kilobyte that most streams would hold for hours

    def _watch(self) -> asyncio.Task[None] | None:
        """Watch for the client's end, by a task where the server does not tell of itself."""
        if self._client_socket is not None and self._client_socket.is_heard:
            self._client_socket.watch(self._client_left)
            return None
        return self._loop.create_task(self._watch_client())

    async def _watch_client(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._client_left()

    def _client_left(self) -> None:
        is_stalled = self._client_socket is not None and self._client_socket.stalled
        self._do_or_fail(partial(self.turn.client_left, stalled=is_stalled))

    def _fail(self, bug: Exception) -> None:
        """Have `run` raise what a callback did."""
        self._bug = self._bug or bug
        self._end()

    def _own_up(self) -> None:
        if self._bug is not None:
            raise self._bug

    async def _say_goodbye(self) -> None:
        """Give the client the rest, for as long as it reads."""
        outcome = self.turn.outcome
        if outcome is _SLOW_CLIENT:
            await self._cut()
        elif outcome is _CLIENT_GONE or outcome is _ABANDONED:
            self._client.discard()
        elif self._client.started and not await self._client.finish(self._stall_s):
            self._missed(stalled=True)
            await self._cut()

    async def _cut(self) -> None:
        """Close the connection over what the client has not read."""
        self._client.cut()
        await self._client.settled()
