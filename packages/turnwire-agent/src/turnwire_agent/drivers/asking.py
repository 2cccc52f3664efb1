"""`Context.ask`: from the thread of a tool to the journal of its turn, and back with the answer."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import msgspec
from msgspec import UNSET

from turnwire_agent.host.driver import Turn
from turnwire_agent.light_event import LightEvent
from turnwire_agent.loop.calls.questions import question
from turnwire_agent.loop.turn_state import TurnState
from turnwire_agent.session.events import QuestionAsked, QuestionClosed
from turnwire_agent.tools.contract import NoAnswer
from turnwire_agent.tools.run.tool_thread import give_slot_up


class Asking:
    """The questions that the tools of one turn have asked, and wait for."""

    def __init__(
        self,
        turn: Turn,
        state: TurnState,
        *,
        clock: Callable[[], float],
        catch_up: Callable[[], None],
    ) -> None:
        """Begin.

        Args:
            turn: Where questions are written.
            state: Of the turn.
            clock: In seconds since 1970.
            catch_up: Takes into the state what was written, and calls `wake`.

        """
        self.turn = turn
        self.clock = clock
        self._state = state
        self._catch_up = catch_up
        self._woken: LightEvent | None = None
        """Set and forgotten when something has changed. None: nobody waits."""

    def wake(self) -> None:
        """Say that the state has changed: perhaps there is an answer."""
        if self._woken is not None:
            self._woken.set()
            self._woken = None

    async def ask(self, asked: QuestionAsked) -> Any:
        """Ask, unless the journal has the question already; return the answer.

        Raises:
            NoAnswer: the question was closed without one.

        """
        state, asks = self._state, asked.question_id
        if asks not in state.questions and asks not in state.answers:
            await self._write(asked)
        while (closed := state.answers.get(asks)) is None:
            self._woken = self._woken or LightEvent()
            try:
                async with asyncio.timeout(self._left(state.questions[asks])):
                    await self._woken.wait()
            except TimeoutError:
                now = self.clock()
                await self._write(QuestionClosed(turn_id=asked.turn_id, question_id=asks, at=now))
        if closed.answer is UNSET:
            raise NoAnswer("Nobody answered the question in time.")
        return msgspec.json.decode(closed.answer)

    def _left(self, asked: QuestionAsked) -> float:
        """Seconds until the question expires."""
        assert asked.expires_at is not None
        return max(0.0, asked.expires_at - self.clock())

    async def _write(self, event: QuestionAsked | QuestionClosed) -> None:
        await self.turn.write(event)
        self._catch_up()


class RunAsks:
    """What one run of a tool asks. It is called in whatever thread the tool runs."""

    def __init__(self, asking: Asking, call_id: str, expires_at: float) -> None:
        self._asking = asking
        self._home = asyncio.get_running_loop()
        self._call_id = call_id
        self._expires_at = expires_at
        self._numbers = count(1)
        self._has_asked = False
        self._waiting: set[asyncio.Task[Any]] = set()
        self._is_over = False

    def __call__(self, text: str, *, options: Sequence[str] = ()) -> Any:
        """See `contract.Ask`."""
        asked = question(
            self._asking.turn.turn_id,
            self._call_id,
            next(self._numbers),
            text,
            options,
            at=self._asking.clock(),
            expires_at=self._expires_at,
        )
        answer = asyncio.run_coroutine_threadsafe(self._answer(asked), self._home)
        try:
            asyncio.get_running_loop()
        except (
            RuntimeError
        ):  # a plain function: its thread may wait, and keeps no other from running
            give_slot_up()
            return answer.result()
        return asyncio.wrap_future(answer)

    async def end(self) -> None:
        """Give no answer any more. What is on its way to the journal arrives first."""
        self.cancel()
        if self._has_asked:
            await self._asking.turn.write()  # behind all that was asked

    def cancel(self) -> None:
        """The same, and wait for nothing."""
        self._is_over = True
        for task in self._waiting:
            task.cancel()

    async def _answer(self, asked: QuestionAsked) -> Any:
        if self._is_over:
            raise NoAnswer("The call is over.")
        task = asyncio.current_task()
        assert task
        self._has_asked = True
        self._waiting.add(task)
        try:
            return await self._asking.ask(asked)
        finally:
            self._waiting.discard(task)
