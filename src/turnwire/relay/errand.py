"""Runs one errand on a connection of its own: dial, frames in, frames out, a result."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from turnwire.core.dialect import NEVER
from turnwire.core.errand import Errand
from turnwire.core.refusal import Refusal
from turnwire.core.steps import Steps
from turnwire.relay.budget import Hold, Holder, NoRoomError
from turnwire.relay.dialler import DialError, Dialler
from turnwire.relay.interrupted import Interruptible
from turnwire.relay.leaving import DialFailure, Leaving
from turnwire.relay.rounds import done
from turnwire.relay.stream import Call
from turnwire.relay.upstream import Upstream

Result = TypeVar("Result")
Made = TypeVar("Made")


class NotReachedError(Exception):
    """The agent could not be dialled; `status` is the one it answered the handshake with."""

    def __init__(self, why: DialFailure, status: int | None) -> None:
        super().__init__(why.value if status is None else f"{why.value} {status}")
        self.why = why
        self.status = status


class ErrandRun(Generic[Result]):
    """One errand on its way. Times are the loop's."""

    def __init__(self, errand: Errand[Result], holder: Holder) -> None:
        self._errand = errand
        self._holder = holder
        self._heard = holder.hold(self._no_room_to_make)
        """For a long frame that the result is made of."""
        self._is_long = self._is_ended = False
        """Whether there is one; whether there is no room for it any more."""
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[Result | Refusal] = self._loop.create_future()
        self._upstream: Upstream | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self, dialler: Dialler, call: Call, make: Callable[[Result], Steps[Made]], *, dial_s: float
    ) -> Made | Refusal:
        """Dial, see the errand through, and make something of its result, in steps.

        Raises:
            NotReachedError: the agent could not be dialled within `dial_s` seconds.

        """
        frame = self._holder.hold(self._no_room)
        dialling = self._loop.create_task(self._dial(dialler, call, frame))
        self._timer = self._loop.call_later(dial_s, self.agent_refused, DialFailure.TIMEOUT)
        try:
            await self._over
        finally:
            dialling.cancel()
            self._timer.cancel()
            self._hang_up()
            frame.drop()
        if self._is_ended:
            return Refusal.SILENT
        if not self._is_long:
            return await self._made(dialler, make)
        try:
            async with Interruptible(NoRoomError()) as work:
                self._heard.on_end = work.end
                async with self._holder.user.one_by_one():
                    return await self._made(dialler, make)
        except NoRoomError:
            return Refusal.SILENT
        finally:
            self._heard.drop()

    async def _made(
        self, dialler: Dialler, make: Callable[[Result], Steps[Made]]
    ) -> Made | Refusal:
        result = self._over.result()
        if isinstance(result, Refusal):
            return result
        try:
            return await done(dialler.rounds, make(result))
        except RecursionError:  # nested just so deeply that the first look at it went well
            return Refusal.SILENT

    # The agent's side (relay.upstream.Listener).

    def agent_opened(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._do(self._errand.open(self._loop.time()))

    def agent_refused(self, why: DialFailure, status: int | None = None) -> None:
        if not self._over.done():
            self._over.set_exception(NotReachedError(why, status))

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        now = self._loop.time()
        for frame in frames:
            if self._errand.result is None:
                self._do(self._errand.hear(frame, now))

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        yield from self._errand.look_into(frame)
        self.agent_frames([frame])
        if self._errand.result is not None:
            self._hang_up()  # which counts the frame no more
            self._is_long = True
            self._is_ended = not self._heard.set(len(frame))

    def agent_frame_begun(self) -> None:
        """It has its time, with whatever else is waited for."""

    def agent_left(self, _why: Leaving, _close_code: int | None) -> None:
        self._errand.left()
        self._do(())

    def _no_room(self) -> None:
        """There is no room in the process for what this agent began to say."""
        self._hang_up()
        self.agent_left(Leaving.NO_ROOM, None)

    def _no_room_to_make(self) -> None:
        """There is none, before anything began to be made."""
        self._is_ended = True

    def _hang_up(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
            self._upstream = None  # or the two would hold each other

    def _tick(self) -> None:
        self._do(self._errand.tick(self._loop.time()))

    def _do(self, tell: Sequence[bytes]) -> None:
        if tell and self._upstream is not None:
            self._upstream.send(tell)
        if self._timer is not None:
            self._timer.cancel()
        result = self._errand.result
        if result is None:
            if self._errand.deadline < NEVER:
                self._timer = self._loop.call_at(self._errand.deadline, self._tick)
        elif not self._over.done():
            self._over.set_result(result)

    async def _dial(self, dialler: Dialler, call: Call, frame: Hold) -> None:
        try:
            self._upstream = await dialler.dial(
                call.url, call.headers, self, call.subprotocols, frame
            )
        except DialError as failure:
            self.agent_refused(failure.why)
