"""The runner: works on prompts, one at a time or on V one a channel, and reports (§7).

Which of these it is, the queue decides; the runner begins whatever it is given.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.skills import TurnFailed
from turnwire_lab.agents.common.tool import Tool
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.handlers.reports import Reports
from turnwire_lab.agents.session_agent.runner import brain
from turnwire_lab.agents.session_agent.runner.turn import Premature, PromptFailed, Turn, Waits
from turnwire_lab.agents.session_agent.state.channel import Channel
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import Reply
from turnwire_lab.agents.session_agent.state.tally import Stopped


@dataclass(slots=True, eq=False)
class Run:
    """A prompt that is worked on."""

    row: Row
    turn: Turn
    task: asyncio.Task[None] | None = None
    stopping: bool = field(default=False)


class Runner:
    def __init__(
        self,
        reports: Reports,
        *,
        habits: Habits,
        tools: Mapping[str, Tool],
        start: Callable[[Coroutine[None, None, None]], asyncio.Task[None]],
    ) -> None:
        self.waits = Waits()
        self._reports = reports
        self._habits = habits
        self._tools = tools
        self._start = start
        self._runs: dict[str, Run] = {}
        self._threads: set[str] = set()

    @property
    def turns(self) -> list[Turn]:
        return [run.turn for run in self._runs.values()]

    def begin(self, row: Row) -> None:
        turn = Turn(
            row,
            habits=self._habits,
            tools=self._tools,
            reports=self._reports,
            waits=self.waits,
        )
        run = Run(row, turn)
        self._runs[row.id] = run
        run.task = self._start(self._work(run))

    def answer(self, question_id: str, answer: Reply) -> None:
        self.waits.answer(question_id, answer)

    def abort(self, channel: Channel) -> tuple[Stopped, ...]:
        """Stop that thread, or without one everything; what was hit, for the record."""
        runs = [
            run
            for run in self._runs.values()
            if not run.stopping and (channel.thread is None or run.row.channel.key == channel.key)
        ]
        for run in runs:
            assert run.task is not None
            run.stopping = True
            run.task.cancel()
        if runs or self._habits.revision == "V":
            # Only V answers if there was nothing to stop (§5.5).
            self._start(self._acknowledge(runs, channel.fields()))
        return tuple(
            Stopped(
                prompt_id=run.row.id,
                turn_id=run.turn.id,
                user_id=run.row.user_id,
                line=run.row.line,
            )
            for run in runs
        )

    def drop(self) -> None:
        """Lose all prompts in the middle of their turns, and report nothing."""
        runs = list(self._runs.values())
        self._runs.clear()
        for run in runs:
            if run.task is not None:
                run.task.cancel()

    async def _acknowledge(self, runs: list[Run], where: Json) -> None:
        tasks = [run.task for run in runs if run.task is not None]
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.sleep(self._habits.pace_s)
        runs = [run for run in runs if self._runs.pop(run.row.id, None) is run]
        for run in runs:
            self._reports.stopped(run.row)
        # Only the first: the other prompts of a session-wide abort never get an end (§5.5).
        first = runs[0].row if runs else None
        self._reports.aborted(first, where if first is None else first.channel.fields())

    async def _work(self, run: Run) -> None:
        row, turn = run.row, run.turn
        thread = row.channel.thread
        if thread is not None and thread not in self._threads:
            self._threads.add(thread)
            self._reports.open_thread(row)
        self._reports.status(row, "thinking")
        await turn.pause()
        await self._answer(turn)
        if self._habits.settles:
            await self._reports.settle()
        # From here on nothing waits: an abort that comes now hits whatever is next (§5.5).
        self._runs.pop(row.id, None)
        self._reports.complete(row)
        if self._habits.revision == "R":
            self._reports.status(row, "idle")
        self._reports.change_files()
        for act in turn.afterwards:
            act()

    async def _answer(self, turn: Turn) -> None:
        try:
            await brain.answer(turn)
        except TurnFailed as failure:
            turn.end(str(failure))
        except PromptFailed as failure:
            if failure.error is not None:
                self._reports.error(turn.row, failure.error)
        except Premature:
            turn.end()
        else:
            turn.end()
