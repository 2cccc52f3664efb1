"""Run one operation on its own connection to the agent: dial, exchange frames, return a result."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from turnwire.core.agent import NEVER
from turnwire.core.operations import Operation
from turnwire.core.rejection import Rejection
from turnwire.core.steps import Steps
from turnwire.relay.agent.dialer import DialError, Dialler
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.websocket import Upstream
from turnwire.relay.interrupted import Interruptible
from turnwire.relay.memory_budget import Holder, OverBudgetError, Reservation
from turnwire.relay.rounds import run_in_slices
from turnwire.relay.turn_stream import AgentTarget

Result = TypeVar("Result")
Converted = TypeVar("Converted")


class NotReachedError(Exception):
    """The dial failed. `status` is the HTTP status of the agent's handshake response, if any."""

    def __init__(self, why: DialFailure, status: int | None) -> None:
        super().__init__(why.value if status is None else f"{why.value} {status}")
        self.why = why
        self.status = status


class OperationCall(Generic[Result]):
    """One run of an operation. All times are times of the event loop."""

    def __init__(self, operation: Operation[Result], holder: Holder) -> None:
        self._operation = operation
        self._holder = holder
        self._result_reservation = holder.reserve(self._over_budget_for_result)
        """For a long frame that holds the result."""
        self._is_long = self._is_over_budget = False
        """Whether such a frame came; whether the budget has no memory left for it."""
        self._loop = asyncio.get_running_loop()
        self._result_future: asyncio.Future[Result | Rejection] = self._loop.create_future()
        self._upstream: Upstream | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self,
        dialler: Dialler,
        target: AgentTarget,
        convert: Callable[[Result], Steps[Converted]],
        *,
        dial_s: float,
    ) -> Converted | Rejection:
        """Dial, run the operation to its end, and return its result as `convert` converts it.

        The conversion runs in time slices (`relay.rounds`).

        Raises:
            NotReachedError: the agent could not be dialled within `dial_s` seconds.

        """
        frame = self._holder.reserve(self._over_budget_for_frame)
        dialling = self._loop.create_task(self._dial(dialler, target, frame))
        self._timer = self._loop.call_later(dial_s, self.agent_refused, DialFailure.TIMEOUT)
        try:
            await self._result_future
        finally:
            dialling.cancel()
            self._timer.cancel()
            self._disconnect()
            frame.release()
        if self._is_over_budget:
            return Rejection.SILENT
        if not self._is_long:
            return await self._convert(dialler, convert)
        try:
            async with Interruptible(OverBudgetError()) as work:
                self._result_reservation.on_end = work.end
                async with self._holder.user.work_lock():
                    return await self._convert(dialler, convert)
        except OverBudgetError:
            return Rejection.SILENT
        finally:
            self._result_reservation.release()

    async def _convert(
        self, dialler: Dialler, convert: Callable[[Result], Steps[Converted]]
    ) -> Converted | Rejection:
        result = self._result_future.result()
        if isinstance(result, Rejection):
            return result
        try:
            return await run_in_slices(dialler.rounds, convert(result))
        except RecursionError:  # nested so deeply that only the first decoding succeeded
            return Rejection.SILENT

    # Callbacks of the agent side (`relay.agent.websocket.Listener`).

    def agent_opened(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._apply(self._operation.connection_opened(self._loop.time()))

    def agent_refused(self, why: DialFailure, status: int | None = None) -> None:
        if not self._result_future.done():
            self._result_future.set_exception(NotReachedError(why, status))

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        now = self._loop.time()
        for frame in frames:
            if self._operation.result is None:
                self._apply(self._operation.receive_frame(frame, now))

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        yield from self._operation.prepare_frame(frame)
        self.agent_frames([frame])
        if self._operation.result is not None:
            self._disconnect()  # this releases the reservation of the frame
            self._is_long = True
            self._is_over_budget = not self._result_reservation.set(len(frame))

    def agent_frame_begun(self) -> None:
        """No extra timeout: the deadline of the operation covers the frame too."""

    def agent_left(self, _why: DisconnectReason, _close_code: int | None) -> None:
        self._operation.connection_lost()
        self._apply(())

    def _over_budget_for_frame(self) -> None:
        """The memory budget is spent: the incomplete frame must go."""
        self._disconnect()
        self.agent_left(DisconnectReason.NO_ROOM, None)

    def _over_budget_for_result(self) -> None:
        """The memory budget is spent before the conversion began."""
        self._is_over_budget = True

    def _disconnect(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
            self._upstream = None  # breaks the reference cycle

    def _tick(self) -> None:
        self._apply(self._operation.tick(self._loop.time()))

    def _apply(self, frames: Sequence[bytes]) -> None:
        if frames and self._upstream is not None:
            self._upstream.send(frames)
        if self._timer is not None:
            self._timer.cancel()
        result = self._operation.result
        if result is None:
            if self._operation.deadline < NEVER:
                self._timer = self._loop.call_at(self._operation.deadline, self._tick)
        elif not self._result_future.done():
            self._result_future.set_result(result)

    async def _dial(self, dialler: Dialler, target: AgentTarget, frame: Reservation) -> None:
        try:
            self._upstream = await dialler.dial(
                target.url, target.headers, self, target.subprotocols, frame
            )
        except DialError as failure:
            self.agent_refused(failure.why)
