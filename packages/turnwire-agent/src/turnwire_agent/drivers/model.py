"""The loop over a model, with tasks and a clock. What is next, `loop.decide` alone says."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from turnwire_agent import metrics
from turnwire_agent.drivers.answers import Answers
from turnwire_agent.drivers.asking import Asking, RunAsks
from turnwire_agent.drivers.contained import contained
from turnwire_agent.drivers.heartbeat import Heartbeat
from turnwire_agent.host.driver import Ended, Parked, Turn
from turnwire_agent.llm.transcript import File, Image, Text, Transcript
from turnwire_agent.loop.actions import AskModel, Compact, End, Park, RunCall, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.decide import decide, due_at
from turnwire_agent.loop.endings import unanswered
from turnwire_agent.loop.prepare import prepare
from turnwire_agent.loop.streaming import Attempt
from turnwire_agent.loop.turn_state import TurnState
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.session.deltas import StatusChanged
from turnwire_agent.session.events import AttemptLost, Compacted
from turnwire_agent.tools.contract import Context, Media
from turnwire_agent.tools.run.raised import described
from turnwire_agent.tools.run.runner import ToolRunner

Compaction = Callable[[Transcript], Awaitable[Transcript | None]]
"""Makes a transcript shorter; None: it cannot be."""

LOGGER: Final = logging.getLogger("turnwire_agent.drivers")
STOPPING_S: Final = 0.5
"""How long a model's connection may take to close, when the turn is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDriver:
    """One agent: what answers, and its tools."""

    agent: Agent
    answers: Answers
    tools: ToolRunner
    compaction: Compaction | None = None
    servers: McpServers | None = None
    """Servers whose tools the model may call beside those of `agent`."""
    clock: Callable[[], float] = time.time

    async def turn(self, turn: Turn) -> Ended | Parked:
        """Give the answer to a prompt, or go on with it."""
        agent = self.agent
        if self.servers is not None:
            snapshot = await self.servers.snapshot(agent.tools)
            agent = replace(agent, tools=snapshot.tools)
        return await _Loop(self, agent, turn).run()


class _Loop:
    """One turn."""

    def __init__(self, driver: ModelDriver, agent: Agent, turn: Turn) -> None:
        self._driver = driver
        self._agent = agent
        """Its tools do not change before the turn ends or parks."""
        self._turn = turn
        self._state = TurnState(
            session_id=turn.session_id, turn_id=turn.turn_id, before=turn.transcript
        )
        self._applied = 0
        self._asking = Asking(turn, self._state, clock=driver.clock, catch_up=self._catch_up)
        self._attempt: asyncio.Task[None] | None = None
        self._compacting: asyncio.Task[None] | None = None
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._heartbeat = Heartbeat(turn.add)
        self._verdict: End | None = None
        """Of a transcript that nobody could make shorter."""

    async def run(self) -> Ended | Parked:
        changed: asyncio.Task[None] = asyncio.create_task(self._turn.changed())
        try:
            while True:
                self._catch_up()
                if self._verdict is not None:
                    return await self._end(self._verdict)
                now = self._driver.clock()
                actions = decide(self._state, self._agent, self._running(), now)
                for action in actions:
                    if isinstance(action, End):
                        return await self._end(action)
                    if isinstance(action, Park):
                        return Parked()
                    await self._do(action)
                if not actions:
                    changed = await self._wait(changed)
        finally:
            changed.cancel()
            await self._stop()

    def _catch_up(self) -> None:
        events = self._turn.events
        while self._applied < len(events):
            self._state.apply(events[self._applied])
            self._applied += 1
        self._asking.wake()

    def _running(self) -> Running:
        return Running(
            attempt=self._attempt is not None,
            compacting=self._compacting is not None,
            calls=frozenset(self._calls),
        )

    async def _do(self, action: Write | AskModel | RunCall | Compact) -> None:
        match action:
            case Write(events, effects):
                await self._turn.write(*events, effects=effects)
            case AskModel():
                self._attempt = asyncio.create_task(contained(self._ask(action)))
            case RunCall(call_id=call_id):
                self._calls[call_id] = asyncio.create_task(self._call(action))
            case Compact():
                self._compacting = asyncio.create_task(self._compact(action))

    async def _wait(self, changed: asyncio.Task[None]) -> asyncio.Task[None]:
        """Until something that runs is done, somebody answered, or it is time for something."""
        due = due_at(self._state, self._agent)
        until_due = None if due is None else max(0.0, due - self._driver.clock())
        running = self._tasks()
        timeout = self._heartbeat.next_in() if running else until_due
        if until_due is not None and timeout is not None:
            timeout = min(timeout, until_due)
        done, _ = await asyncio.wait(
            {*running, changed}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
        self._heartbeat.beat()
        for task in done:
            task.result()  # a lease that was lost, or a fault of ours, ends the turn
        if self._attempt in done:
            self._attempt = None
        if self._compacting in done:
            self._compacting = None
        self._calls = {id_: task for id_, task in self._calls.items() if task not in done}
        return asyncio.create_task(self._turn.changed()) if changed in done else changed

    # --- what runs ---------------------------------------------------------------------------

    async def _ask(self, action: AskModel) -> None:
        driver, turn = self._driver, self._turn
        if action.step or action.attempt:  # of a turn that begins, the host says so
            self._heartbeat.say(StatusChanged("thinking"))
        since = turn.parts
        await turn.write(action.begun(since=since, at=driver.clock()))
        agent = self._agent
        prepared = prepare(action.model, action.transcript, agent.tools, agent.instructions)
        attempt = Attempt(action, agent, prepared.names, since=since)
        answer = driver.answers.stream(action, prepared, turn.write)
        async with aclosing(answer) as events:
            async for event in events:
                if deltas := attempt.add(event):
                    for delta in deltas:
                        turn.add(delta)
                    self._heartbeat.spoke()
                if attempt.is_over:
                    break
                await turn.drain()
        outcome = attempt.outcome()
        why = outcome.why if isinstance(outcome, AttemptLost) else "ended"
        metrics.MODEL_ATTEMPTS.labels(why).inc()
        await turn.write(outcome)

    async def _call(self, action: RunCall) -> None:
        turn = self._turn
        begun = action.begun(self._driver.clock())
        self._heartbeat.say(StatusChanged("tool_calling", action.tool.name))
        await turn.write(begun, effects=action.effects)
        asks = RunAsks(
            self._asking,
            action.call_id,
            expires_at=begun.at + min(action.tool.timeout_s, self._agent.limits.question_s),
        )
        context = Context(
            session_id=turn.session_id,
            call_id=action.call_id,
            key=action.key,
            epoch=turn.epoch,
            ask=asks,
        )
        try:
            outcome = await self._driver.tools.run(action.tool, action.value, context)
        finally:
            asks.cancel()
        await asks.end()
        self._catch_up()
        closed = unanswered(self._state, action.call_id, self._driver.clock())
        ended = action.ended(
            outcome.kind,
            tuple(_content(part) for part in outcome.parts),
            UNSET if outcome.value is None else Raw(outcome.value),
            outcome.error,
        )
        await turn.write(*closed, ended, effects=action.settled(ended))

    async def _compact(self, action: Compact) -> None:
        shorter: Transcript | None = None
        if self._driver.compaction is not None:
            try:
                shorter = await self._driver.compaction(action.transcript)
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - `sys.exit`, too: the turn ends well
                LOGGER.warning("compaction: outcome=raised %s", described(error))
        if shorter is None:
            self._verdict = action.otherwise
        else:
            await self._turn.write(Compacted(turn_id=self._turn.turn_id, transcript=shorter))

    # --- the end -----------------------------------------------------------------------------

    async def _end(self, end: End) -> Ended:
        await self._stop()
        if end.events:
            await self._turn.write(*end.events, effects=end.effects)
        return Ended(
            reason=end.reason,
            finish_reason=end.finish_reason,
            error=end.error,
            usage=end.usage,
            lost_usage=end.lost_usage,
        )

    async def _stop(self) -> None:
        """Cancel all that runs. The connection of a model is closed when this is done."""
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOPPING_S)
        self._attempt = self._compacting = None
        self._calls.clear()

    def _tasks(self) -> set[asyncio.Task[None]]:
        others = {task for task in (self._attempt, self._compacting) if task is not None}
        return others | set(self._calls.values())


def _content(part: str | Media) -> Text | Image | File:
    if isinstance(part, str):
        return Text(part)
    if part.media_type.startswith("image/"):
        return Image(part.media_type, part.data)
    return File(part.media_type, part.data)
