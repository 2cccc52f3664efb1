"""Runs one errand on a connection of its own: dial, frames in, frames out, a result."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from turnwire.core.dialect import NEVER
from turnwire.core.errand import Errand
from turnwire.core.refusal import Refusal
from turnwire.core.steps import Steps, whole
from turnwire.relay.budget import Hold, Holder
from turnwire.relay.dialler import DialError, Dialler
from turnwire.relay.leaving import DialFailure, Leaving
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


class ErrandRun(Generic[Result, Made]):
    """One errand on its way. Times are the loop's.

    `make` makes of the result what is wanted, in steps: while it does, the frame that the result is
    of still counts.
    """

    def __init__(self, errand: Errand[Result], make: Callable[[Result], Steps[Made]]) -> None:
        self._errand = errand
        self._make = make
        self._is_making = False
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[Made | Refusal] = self._loop.create_future()
        self._upstream: Upstream | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self, dialler: Dialler, call: Call, *, dial_s: float, holder: Holder
    ) -> Made | Refusal:
        """Dial, and see the errand through. `holder` is told what is held for it.

        Raises:
            NotReachedError: the agent could not be dialled within `dial_s` seconds.

        """
        frame = holder.hold(self._no_room)
        dialling = self._loop.create_task(self._dial(dialler, call, frame))
        self._timer = self._loop.call_later(dial_s, self.agent_refused, DialFailure.TIMEOUT)
        try:
            return await self._over
        finally:
            dialling.cancel()
            self._timer.cancel()
            if self._upstream is not None:
                self._upstream.close()
                self._upstream = None  # or the two would hold each other
            frame.drop()

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
        if self._errand.result is None:
            self._tell(self._errand.hear(frame, self._loop.time()))
            yield from self._finish()

    def agent_left(self, _why: Leaving, _close_code: int | None) -> None:
        self._errand.left()
        self._do(())

    def _no_room(self) -> None:
        """There is no room in the process for what this agent began to say."""
        if self._upstream is not None:
            self._upstream.close()
        self.agent_left(Leaving.NO_ROOM, None)
        if not self._over.done():  # it was being made
            self._over.set_result(Refusal.SILENT)

    def _tick(self) -> None:
        self._do(self._errand.tick(self._loop.time()))

    def _do(self, tell: Sequence[bytes]) -> None:
        self._tell(tell)
        whole(self._finish())

    def _finish(self) -> Steps[None]:
        """Make something of the result, if there is one."""
        result = self._errand.result
        if result is None or self._is_making:
            return
        self._is_making = True
        try:
            made = result if isinstance(result, Refusal) else (yield from self._make(result))
        except Exception as bug:  # noqa: BLE001 (whoever waits is to have it)
            self._over.set_exception(bug)
            return
        if not self._over.done():
            self._over.set_result(made)

    def _tell(self, tell: Sequence[bytes]) -> None:
        if tell and self._upstream is not None:
            self._upstream.send(tell)
        if self._timer is not None:
            self._timer.cancel()
        if self._errand.result is None and self._errand.deadline < NEVER:
            self._timer = self._loop.call_at(self._errand.deadline, self._tick)

    async def _dial(self, dialler: Dialler, call: Call, frame: Hold) -> None:
        try:
            self._upstream = await dialler.dial(
                call.url, call.headers, self, call.subprotocols, frame
            )
        except DialError as failure:
            self.agent_refused(failure.why)
