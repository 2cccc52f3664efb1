"""Run one operation on its own connection to the agent: dial, exchange frames, return a result."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from turnwire.core.agent import NEVER
from turnwire.core.operations import Operation
from turnwire.core.rejection import Rejection
from turnwire.core.steps import Steps
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.port import AgentTarget, Connection, Transport
from turnwire.relay.interrupted import Interruptible
from turnwire.relay.memory_budget import Holder, OverBudgetError
from turnwire.relay.rounds import Rounds, run_in_slices

Result = TypeVar("Result")
Converted = TypeVar("Converted")


class NotReachedError(Exception):
    """The dial failed. `status` is the HTTP status with which the agent answered it, if any."""

    def __init__(
        self, why: DialFailure, status: int | None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(why.value if status is None else f"{why.value} {status}")
        self.why = why
        self.status = status
        self.retry_after_s = retry_after_s


class OperationCall(Generic[Result]):
    """One run of an operation. All times are times of the event loop."""

    def __init__(self, operation: Operation[Result], holder: Holder, rounds: Rounds) -> None:
        self._operation = operation
        self._holder = holder
        self._rounds = rounds
        self._result_reservation = holder.reserve(self._over_budget_for_result)
        """For a long frame that holds the result."""
        self._is_long = self._is_over_budget = False
        """Whether such a frame came; whether the budget has no memory left for it."""
        self._loop = asyncio.get_running_loop()
        self._result_future: asyncio.Future[Result | Rejection] = self._loop.create_future()
        self._link = AgentLink()
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self,
        transport: Transport,
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
        self._link.dial(transport, target, self, frame, dial_s)
        del target  # its body: only the transport keeps it, until it is sent
        try:
            await self._result_future
        finally:
            if self._timer is not None:
                self._timer.cancel()
            if self._operation.result is None:
                self._link.close()
            else:
                self._link.finish()
            frame.release()
        if self._is_over_budget:
            return Rejection.SILENT
        if not self._is_long:
            return await self._convert(convert)
        try:
            async with Interruptible(OverBudgetError()) as work:
                self._result_reservation.on_end = work.end
                async with self._holder.user.work_lock():
                    return await self._convert(convert)
        except OverBudgetError:
            return Rejection.SILENT
        finally:
            self._result_reservation.release()

    async def _convert(
        self, convert: Callable[[Result], Steps[Converted]]
    ) -> Converted | Rejection:
        result = self._result_future.result()
        if isinstance(result, Rejection):
            return result
        try:
            return await run_in_slices(self._rounds, convert(result))
        except RecursionError:  # nested so deeply that only the first decoding succeeded
            return Rejection.SILENT

    # Callbacks of the agent side (`relay.agent.link.LinkListener`).

    def agent_opened(self, connection: Connection) -> None:
        self._link.opened(connection)
        self._apply(self._operation.connection_opened(self._loop.time()))

    def agent_refused(
        self, why: DialFailure, status: int | None, retry_after_s: float | None
    ) -> None:
        self._fail(NotReachedError(why, status, retry_after_s))

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        now = self._loop.time()
        for frame in frames:
            if self._operation.result is None:
                self._apply(self._operation.receive_frame(frame, now))

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        yield from self._operation.prepare_frame(frame)
        self.agent_frames([frame])
        if self._operation.result is not None:
            self._link.close()  # this releases the reservation of the frame
            self._is_long = True
            self._is_over_budget = not self._result_reservation.set(len(frame))

    def agent_frame_begun(self) -> None:
        """No extra timeout: the deadline of the operation covers the frame too."""

    def agent_left(self, _why: DisconnectReason, _code: int | None) -> None:
        self._operation.connection_lost()
        self._apply(())

    def dial_crashed(self, bug: Exception) -> None:
        self._fail(bug)

    def _over_budget_for_frame(self) -> None:
        """The memory budget is spent: the incomplete frame must go."""
        self._link.close()
        self.agent_left(DisconnectReason.NO_ROOM, None)

    def _over_budget_for_result(self) -> None:
        """The memory budget is spent before the conversion began."""
        self._is_over_budget = True

    def _fail(self, error: Exception) -> None:
        """End without a result; `run` raises the error."""
        if not self._result_future.done():
            self._result_future.set_exception(error)

    def _tick(self) -> None:
        self._apply(self._operation.tick(self._loop.time()))

    def _apply(self, frames: Sequence[bytes]) -> None:
        if frames and (connection := self._link.connection) is not None:
            connection.send(frames)
        if self._timer is not None:
            self._timer.cancel()
        result = self._operation.result
        if result is None:
            if self._operation.deadline < NEVER:
                self._timer = self._loop.call_at(self._operation.deadline, self._tick)
        elif not self._result_future.done():
            self._result_future.set_result(result)
