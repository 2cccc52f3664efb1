"""The scripted brain as a driver of the agent runtime's host.

The brain tells its turn in frames of the `v2` wire; here they become events, which the host keeps
and turns into frames again. A script cannot be resumed: after a crash what it told is taken back,
and it plays from the beginning. Its tools only read, so that does no harm.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from turnwire_agent.host.driver import Ended
from turnwire_agent.host.driver import Turn as HostTurn
from turnwire_agent.session.deltas import (
    Delta,
    FileAdded,
    InputAdded,
    ReasoningAdded,
    SourceAdded,
    StatusChanged,
    TextAdded,
)
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Event,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    TurnTakenOver,
)
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.skills import TurnFailed
from turnwire_lab.agents.common.tool import Tool
from turnwire_lab.agents.common.toolbox import CHECKOUT, toolbox, utc_now
from turnwire_lab.agents.v2 import brain
from turnwire_lab.agents.v2.frames import Attachment, Habits, Prompt
from turnwire_lab.agents.v2.turn import Turn

DIED: Final = "died"


@dataclass
class ScriptedDriver:
    """Plays the brain of the `v2` agent."""

    habits: Habits = field(default_factory=lambda: Habits(spellings=("text-delta",), noise=False))
    now: Callable[[], datetime] = utc_now
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """In the place of those of the toolbox with the same names."""

    async def turn(self, turn: HostTurn) -> Ended:
        """Play the script of a prompt."""
        return await _Play(self, turn).run()


class _Play:
    """One turn."""

    def __init__(self, driver: ScriptedDriver, turn: HostTurn) -> None:
        self._host = turn
        self._now = driver.now
        self._frames: asyncio.Queue[Json] = asyncio.Queue()
        self._steps = 0
        self._since = 0
        """How many parts there were when the last step began."""
        self._running: set[str] = set()
        """Calls that run, by their ids."""
        prompted = turn.prompt
        self._turn = Turn(
            Prompt(
                content=prompted.content,
                prompt_id=prompted.prompt_id,
                client_message_id=prompted.client_message_id,
                channel_type=prompted.channel.type,
                channel_id=prompted.channel.id,
                attachments=[
                    Attachment(each.mime, each.url, each.filename) for each in prompted.attachments
                ],
            ),
            user_id=prompted.user_id,
            habits=driver.habits,
            tools={**toolbox(now=driver.now, docs=CHECKOUT), **driver.tools},
            now=driver.now,
            tell=self._frames.put_nowait,
            hang_up=lambda: None,
        )
        self._turn.id = turn.turn_id

    async def run(self) -> Ended:
        # Not only if it is the last: an answer may have come since.
        if any(isinstance(each, TurnTakenOver) for each in self._host.events):
            await self._begin_anew()
        pump = asyncio.create_task(self._pump())
        answers = asyncio.create_task(self._hear_answers())
        try:
            error = await self._play()
            await self._frames.join()
        finally:
            pump.cancel()
            answers.cancel()
            await asyncio.gather(pump, answers, return_exceptions=True)
        if error is not None:
            return Ended(reason="error", finish_reason="error", error=error)
        return Ended(finish_reason=self._turn.finish_reason or "stop")

    async def _begin_anew(self) -> None:
        """Take back what the lost script told, and the questions that it waited for."""
        events = self._host.events
        closed = {each.question_id for each in events if isinstance(each, QuestionClosed)}
        left = [
            QuestionClosed(
                turn_id=self._host.turn_id, question_id=each.question_id, at=self._now().timestamp()
            )
            for each in events
            if isinstance(each, QuestionAsked) and each.question_id not in closed
        ]
        await self._host.write(*left)
        await self._lose(DIED, since=0)

    async def _play(self) -> str | None:
        """Why the script gave up, if it did."""
        try:
            await brain.answer(self._turn)
        except TurnFailed as failure:
            return str(failure)
        return None

    async def _pump(self) -> None:
        """Hand over what the script tells, in its order."""
        while True:
            frame = await self._frames.get()
            await self._hand_over(frame)
            self._frames.task_done()

    async def _hand_over(self, frame: Json) -> None:
        kind = frame["type"]
        if (delta := _delta(frame)) is not None:
            self._host.add(delta)
            await self._host.drain()
        elif kind == "message.part.tool-update":
            await self._tool(frame)
        elif kind == "question":
            await self._host.write(_asked(frame))
        elif kind == "message.part.step":
            await self._host.write()  # so that all parts before it are counted
            self._since = self._host.parts
            self._steps += 1
            await self._host.write(
                StepBegun(turn_id=self._host.turn_id, step=self._steps, since=self._since)
            )
        elif kind == "message.part.retract":
            await self._lose("connection", since=self._since)

    async def _lose(self, why: str, *, since: int) -> None:
        await self._host.write(
            AttemptLost(
                turn_id=self._host.turn_id, step=self._steps, attempt=0, since=since, why=why
            )
        )

    async def _tool(self, frame: Json) -> None:
        call_id, tool, status = frame["callId"], frame["toolName"], frame["status"]
        turn_id = self._host.turn_id
        event: Event
        if status == "pending":
            self._host.add(InputAdded(call_id, tool, frame.get("argsDelta", "")))
            return
        if status == "running":
            if call_id in self._running:
                return
            self._running.add(call_id)
            event = CallBegun(
                turn_id=turn_id,
                call_id=call_id,
                tool=tool,
                key=f"{turn_id}/{call_id}",
                effect="safe",
                input=_json(frame.get("args")),
            )
        else:
            is_done = status == "completed"
            event = CallEnded(
                turn_id=turn_id,
                call_id=call_id,
                tool=tool,
                outcome="done" if is_done else "failed",
                value=_json(frame["result"]) if is_done else UNSET,
                error=None if is_done else frame["error"],
            )
        await self._host.write(event)

    async def _hear_answers(self) -> None:
        """Tell the script which of its questions were answered."""
        closed = 0
        while True:
            await self._host.changed()
            events = [each for each in self._host.events if isinstance(each, QuestionClosed)]
            for each in events[closed:]:
                if each.answer is not UNSET:
                    self._turn.asking.answer(each.question_id, msgspec.json.decode(each.answer))
            closed = len(events)


def _delta(frame: Json) -> Delta | None:
    match frame:
        case {"type": "message.part.text-delta", "delta": text}:
            return TextAdded(text)
        case {"type": "message.part.reasoning-delta", "delta": text}:
            return ReasoningAdded(text)
        case {"type": "message.part.file", "mime": mime, "url": url}:
            return FileAdded(mime, url, frame.get("filename"))
        case {"type": "message.part.source", "sourceId": id_, "url": url}:
            return SourceAdded(id_, url, frame.get("title", ""))
        case {"type": "agentStatus", "status": status}:
            return StatusChanged(status, frame.get("detail"))
        case _:
            return None


def _asked(frame: Json) -> QuestionAsked:
    args: Any = frame.get("args")
    return QuestionAsked(
        turn_id=frame["turnId"],
        question_id=frame["questionId"],
        text=frame["text"],
        options=tuple(frame.get("options", ())),
        expires_at=frame["expiresAt"] / 1000,
        call_id=frame.get("callId"),
        tool=frame.get("toolName"),
        input=UNSET if args is None else _json(args),
    )


def _json(value: object) -> Raw:
    return Raw(msgspec.json.encode(value))
