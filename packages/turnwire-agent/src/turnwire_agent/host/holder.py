"""The holder of a session: takes what it is asked for, runs its turns, and gives the lease up.

It exists on one replica at a time, and only while something is to be done. A turn that waits for a
person has none.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final
from uuid import uuid4

from turnwire_agent import metrics
from turnwire_agent.host.commands import AbortCommand, AnswerCommand, wanted
from turnwire_agent.host.driver import Driver, Ended, Parked
from turnwire_agent.host.left_open import left_open
from turnwire_agent.host.live_session import LiveSession
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.host.turn import HostTurn
from turnwire_agent.host.writer import Extra, Writer
from turnwire_agent.journal.port import Journal, Lease, LeaseLostError
from turnwire_agent.light_event import LightEvent
from turnwire_agent.loop.usage import total
from turnwire_agent.session.events import (
    Event,
    Prompted,
    PromptRepeated,
    PromptTakenBack,
    QuestionClosed,
    StepEnded,
    TurnBegun,
    TurnEnded,
    TurnParked,
    TurnTakenOver,
)
from turnwire_agent.session.transcript import messages_of, transcript_for
from turnwire_agent.tools.run.raised import described

LOGGER: Final = logging.getLogger("turnwire_agent.host")
FAILED: Final = "The agent failed."
COMMANDS_AT_ONCE: Final = 20
"""Most commands that are read at once: each may be a prompt with files."""
TAKEOVERS_MAX: Final = 20
"""Most processes that take a turn over, one after another, without any event of its driver.

A loop gives up much earlier; this is for a driver that kills its process before it comes to that.
"""


class Holder:
    """Holds the lease of one session."""

    def __init__(
        self,
        live: LiveSession,
        lease: Lease,
        *,
        journal: Journal,
        driver: Driver,
        settings: HostSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._live = live
        self._is_lost = False
        self._journal = journal
        self._driver = driver
        self._settings = settings
        self._clock = clock
        self._store_ahead = 0.0 if lease.at is None else lease.at - clock()
        """Seconds from our clock to that of the store, which says when a session is due."""
        self._writer = Writer(journal, lease, committed=live.apply, lost=self._lose)
        self._woken = LightEvent()
        self._leaving = False
        self._releasing = False
        """Whether the lease is being given up. The store may have done that already."""
        self._turn: HostTurn | None = None
        self._task: asyncio.Task[Ended | Parked] | None = None

    def wake(self) -> None:
        """Say that there may be commands."""
        self._woken.set()

    def leave(self) -> None:
        """Stop working, as soon as it can be: whoever claims the session next goes on with it."""
        self._leaving = True
        self._woken.set()

    def lose(self) -> None:
        """Say that somebody else has the lease, unless it was given up meanwhile."""
        if self._writer.is_good and not self._releasing:
            self._lose(LeaseLostError("the lease was not renewed"))

    async def run(self) -> None:
        """Work until nothing is left to do, the lease is lost, or `leave`.

        Raises:
            LeaseLostError: somebody else has the session, or the store is not there.
            UnavailableError: of the store.
            NewerEventError: a newer program has written here.
            NewerCommandError: a newer program asks for something here.

        """
        await self._live.catch_up()
        try:
            if (running := self._live.state.running) and not running.parked:
                metrics.TAKEOVERS.inc()
                await self._write([TurnTakenOver(turn_id=running.turn_id, at=self._clock())])
                if _is_hopeless(running.events):
                    LOGGER.error(
                        "turn: session=%s turn=%s outcome=taken-over-too-often",
                        self._live.id,
                        running.turn_id,
                    )
                    await self._write_end(
                        Ended(reason="error", finish_reason="error", error=FAILED)
                    )
            while not self._leaving:
                self._woken.clear()
                has_more = await self._take_commands()
                await self._expire_questions()
                if self._task is not None and self._task.done():
                    await self._end_turn()
                    continue
                if self._task is None and not await self._begin() and not has_more:
                    await self._release()
                    return
                if not has_more:
                    await self._wait()
                elif self._is_lost:
                    raise LeaseLostError
            await self._hand_over()
        finally:
            await self._drop()

    # --- what the session is asked for -------------------------------------------------------

    async def _take_commands(self) -> bool:
        """Take some. Returns whether there may be more: other things come in between."""
        found = await self._journal.commands(self._live.id, limit=COMMANDS_AT_ONCE)
        for each in found:
            match wanted(each):
                case asked if self._settings.private and not self._live.state.is_of(
                    asked.user_id
                ):  # it came before the session was anybody's
                    await self._write([], take=[each.id])
                case Prompted() as prompted:
                    await self._prompt(prompted, each.id)
                case AbortCommand() as abort:
                    await self._abort(abort, each.id)
                case AnswerCommand() as answer:
                    await self._answer(answer, each.id)
        return len(found) == COMMANDS_AT_ONCE

    async def _prompt(self, prompted: Prompted, command: str) -> None:
        """Accept a prompt, unless its client sent the same message again: it has its turn."""
        same = self._live.state.same_message(prompted)
        event: Event = prompted
        if same is not None and prompted.prompt_id is not None:
            event = PromptRepeated(same.prompt.entry_id, prompted.prompt_id)
        elif not self._live.state.has_room(
            prompted, prompts=self._settings.queue, size=self._settings.queue_bytes
        ):
            # Several replicas may have let it in at once. Whoever asked hears that it is no more.
            metrics.REFUSED_PROMPTS.labels("queue").inc()
            await self._write([prompted, PromptTakenBack(prompted.entry_id)], take=[command])
            return
        await self._write([event], take=[command])

    async def _abort(self, abort: AbortCommand, command: str) -> None:
        state = self._live.state
        running = state.running
        if running and running.goes_by(abort.turn_id, abort.prompt_id):
            await self._stop(command)
            return
        waiting = state.waiting(abort.prompt_id) if abort.prompt_id else None
        events = [PromptTakenBack(waiting.entry_id)] if waiting else []
        await self._write(events, take=[command])

    async def _answer(self, answer: AnswerCommand, command: str) -> None:
        running = self._live.state.running
        events: list[Event] = []
        if running and (asked := running.open_question(answer.question_id, answer.turn_id)):
            events.append(
                QuestionClosed(
                    turn_id=running.turn_id,
                    question_id=asked.question_id,
                    answer=answer.answer,
                    user_id=answer.user_id,
                    at=self._clock(),
                )
            )
        await self._write(events, take=[command])
        if events and self._turn is not None:
            self._turn.notify()

    async def _expire_questions(self) -> None:
        running = self._live.state.running
        if running is None:
            return
        now, store_now = self._clock(), self._store_now()
        events = [
            QuestionClosed(turn_id=running.turn_id, question_id=asked.question_id, at=now)
            for asked in running.open_questions
            if asked.expires_at is not None and asked.expires_at <= store_now
        ]
        if events:
            await self._write(events)
            if self._turn is not None:
                self._turn.notify()

    # --- turns -------------------------------------------------------------------------------

    async def _begin(self) -> bool:
        """Begin the next turn, or go on with the one that runs. False: there is nothing to do."""
        state = self._live.state
        if state.running is None:
            if not state.queue:
                return False
            begun = TurnBegun(
                turn_id=f"turn-{uuid4().hex}", entry_id=state.queue[0].entry_id, at=self._clock()
            )
            await self._write([begun])
        running = state.running
        if running is None or running.parked:
            return False
        self._turn = HostTurn(
            self._live.id,
            running,
            transcript_for(state, running),
            writer=self._writer,
            pending_bytes=self._settings.pending_bytes,
        )
        self._task = asyncio.create_task(self._drive(self._turn))
        self._task.add_done_callback(lambda _: self._woken.set())
        return True

    async def _drive(self, turn: HostTurn) -> Ended | Parked:
        try:
            with metrics.TURNS_RUNNING.track_inprogress():
                return await self._driver.turn(turn)
        except LeaseLostError:
            if self._is_lost or not self._writer.is_good:
                raise
            return Ended(reason="error", finish_reason="error", error=FAILED)
        except asyncio.CancelledError:
            raise
        # Whatever a driver raises, its turn ends; `sys.exit` would end all the others, too.
        except BaseException as error:  # noqa: BLE001
            LOGGER.error(  # noqa: TRY400 - never with its text: that may be a prompt
                "turn: session=%s turn=%s outcome=raised %s",
                turn.session_id,
                turn.turn_id,
                described(error),
            )
            return Ended(reason="error", finish_reason="error", error=FAILED)

    async def _end_turn(self) -> None:
        assert self._task is not None
        assert self._turn is not None
        if self._task.cancelled():
            # Nobody here has cancelled it, or the lease is lost: then nothing more is written.
            ended: Ended | Parked = Ended(reason="error", finish_reason="error", error=FAILED)
        else:
            ended = self._task.result()
        self._turn.end()
        self._task, turn, self._turn = None, self._turn, None
        if isinstance(ended, Parked):
            await self._writer.flush()
            if turn.was_notified:  # of a question that was closed in between
                return
            running = self._live.state.running
            if running and running.open_questions:
                await self._write([TurnParked(turn.turn_id)])
                metrics.TURNS_PARKED.inc()
                return
            # It would be called again and again: nothing that it waits for can come.
            LOGGER.error(
                "turn: session=%s turn=%s outcome=parked-without-a-question",
                turn.session_id,
                turn.turn_id,
            )
            ended = Ended(reason="error", finish_reason="error", error=FAILED)
        await self._write_end(ended)

    async def _stop(self, command: str) -> None:
        """End the turn that runs, now. What it runs has a moment to end, too."""
        task = self._task
        if self._turn is not None:
            self._turn.end()
        if task is not None:
            task.cancel()
        await self._writer.flush()
        running = self._live.state.running
        events = running.events if running else ()
        used = total(each.usage for each in events if isinstance(each, StepEnded))
        stopped = Ended(reason="canceled", finish_reason="other", usage=used)
        await self._write_end(stopped, take=[command])
        self._task = self._turn = None
        if task is not None:
            await self._wait_for(task)

    async def _write_end(self, ended: Ended, take: Sequence[str] = ()) -> None:
        await self._writer.flush()
        running = self._live.state.running
        assert running is not None
        parts = running.parts_at_end(ended.reason)
        end = TurnEnded(
            turn_id=running.turn_id,
            reason=ended.reason,
            finish_reason=ended.finish_reason,
            error=ended.error,
            usage=ended.usage,
            lost_usage=ended.lost_usage,
            parts=parts,
            messages=messages_of(running.events, parts),
            at=self._clock(),
        )
        unknown = left_open(self._live.id, running.events)
        await self._writer.write([end], Extra(take=take, effects=unknown, settle=True))
        metrics.TURNS.labels(ended.reason).inc()

    # --- the end of a hold -------------------------------------------------------------------

    async def _release(self) -> None:
        """Give the lease up."""
        self._releasing = True
        await self._writer.write([], Extra(release=True, wake_at=self._next_expiry()))

    async def _hand_over(self) -> None:
        """Leave a turn as it is, for whoever claims the session next: at once."""
        if self._turn is not None:
            self._turn.end()
        if self._task is not None:
            self._task.cancel()
            await self._wait_for(self._task)
            self._task = None
        await self._writer.flush()
        self._releasing = True
        await self._writer.write([], Extra(release=True, wake_at=0.0))

    async def _drop(self) -> None:
        if self._turn is not None:
            self._turn.end()
        if self._task is not None:
            self._task.cancel()
            await self._wait_for(self._task)
        await self._writer.end()

    def _lose(self, error: Exception) -> None:
        if self._is_lost:  # the renewal has said so, and a write on its way hears of it, too
            return
        metrics.LEASES_LOST.inc()
        LOGGER.warning("session: session=%s outcome=lease-lost: %s", self._live.id, error)
        self._is_lost = True
        if self._task is not None:
            self._task.cancel()
        self._woken.set()

    async def _wait(self) -> None:
        """Until a driver is done, a command may have come, or a question expires."""
        expires_at = self._next_expiry()
        timeout = None if expires_at is None else max(0.0, expires_at - self._store_now())
        try:
            async with asyncio.timeout(timeout):
                await self._woken.wait()
        except TimeoutError:
            pass
        if self._is_lost:
            raise LeaseLostError

    def _store_now(self) -> float:
        """The clock of the store: whoever claims a session that is due finds it due, too."""
        return self._clock() + self._store_ahead

    def _next_expiry(self) -> float | None:
        """When the first of the open questions expires."""
        running = self._live.state.running
        asked = running.open_questions if running else ()
        return min((each.expires_at for each in asked if each.expires_at is not None), default=None)

    async def _wait_for(self, task: asyncio.Task[Ended | Parked]) -> None:
        """Give a cancelled driver its moment. One that takes longer is left alone."""
        await asyncio.wait([task], timeout=self._settings.stop_s)
        if not task.done():
            metrics.DRIVERS_ABANDONED.inc()
            LOGGER.error("turn: session=%s outcome=driver-does-not-end", self._live.id)

    async def _write(self, events: Sequence[Event], take: Sequence[str] = ()) -> None:
        await self._writer.write(events, Extra(take=take))


def _is_hopeless(events: Sequence[Event]) -> bool:
    last = events[-TAKEOVERS_MAX - 1 :]
    return len(last) > TAKEOVERS_MAX and all(isinstance(each, TurnTakenOver) for each in last)
