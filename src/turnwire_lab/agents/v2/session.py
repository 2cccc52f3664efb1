"""One session: its sockets, its queue of turns, its history.

Every frame to a socket is sent here, to all sockets at once and without waiting for any: a socket
that does not read fills its own buffer, and is cut off when the buffer is full.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec
from websockets.asyncio.server import ServerConnection, broadcast

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.skills import TurnFailed
from turnwire_lab.agents.common.tool import Tool
from turnwire_lab.agents.v2 import brain
from turnwire_lab.agents.v2.frames import Abort, Answer, Habits, Prompt
from turnwire_lab.agents.v2.history import Entry, History
from turnwire_lab.agents.v2.journal import IgnoredAnswer, Journal, Run
from turnwire_lab.agents.v2.parts import Question
from turnwire_lab.agents.v2.repeat import repeated
from turnwire_lab.agents.v2.turn import Turn


class Session:
    def __init__(
        self,
        session_id: str,
        *,
        habits: Habits,
        tools: Mapping[str, Tool],
        now: Callable[[], datetime],
        journal: Journal,
        group: asyncio.TaskGroup,
        changed: Callable[[], None],
    ) -> None:
        self.id = session_id
        self.history = History()
        self._habits = habits
        self._tools = tools
        self._now = now
        self._journal = journal
        self._group = group
        self._changed = changed
        self._sockets: dict[ServerConnection, str | None] = {}
        self._queue: deque[tuple[Turn, Run]] = deque()
        self._also_waiting: dict[str, list[tuple[ServerConnection, Prompt]]] = {}
        self._running: tuple[Turn, Run, asyncio.Task[str | None]] | None = None
        self._worker: asyncio.Task[None] | None = None

    @property
    def running(self) -> Turn | None:
        return None if self._running is None else self._running[0]

    @property
    def queued(self) -> int:
        return len(self._queue)

    def join(self, socket: ServerConnection, user_id: str | None) -> None:
        """Add a socket. `init` goes out in the same breath, so it misses and repeats nothing."""
        if self._habits.init:
            self.tell_one(socket, self._init())
        self._sockets[socket] = user_id
        self._noise({"type": "user.joined", "userId": user_id})

    def leave(self, socket: ServerConnection) -> None:
        user_id = self._sockets.pop(socket)
        self._noise({"type": "user.left", "userId": user_id})

    def ask(self, socket: ServerConnection, prompt: Prompt) -> None:
        """Queue a prompt as a new turn, unless it is one that came before."""
        if (why := brain.refusal(prompt)) is not None:
            self.tell_one(socket, {"type": "error", "error": why, **self._prompt_ids(prompt)})
            return
        if self._habits.recognise and self._is_known(socket, prompt):
            return
        turn = Turn(
            prompt,
            user_id=self._sockets[socket],
            habits=self._habits,
            tools=self._tools,
            now=self._now,
            tell=self.tell,
            hang_up=self._hang_up,
        )
        run = Run(self.id, turn.id, prompt.prompt_id, turn.user_id)
        self._journal.runs.append(run)
        self._queue.append((turn, run))
        self.history.add(turn.prompted)
        self._noise({"type": "message", "data": turn.prompted.written()})
        if self._running is not None:
            position = {"promptQueued": True, "queuePosition": len(self._queue)}
            self._noise({"type": "status", "data": position})
        if self._worker is None or self._worker.done():
            self._worker = self._group.create_task(self._work())

    def abort(self, socket: ServerConnection, abort: Abort) -> None:
        """Stop what is named, running or queued; what names neither is ignored."""
        if self._running is not None:
            turn, run, task = self._running
            if abort.turn_id == turn.id or _names(abort, turn):
                if task.cancel() and not run.aborted:
                    run.aborted, run.aborted_by = True, self._sockets[socket]
                return
        for turn, run in self._queue:
            if _names(abort, turn):
                run.reason, run.aborted, run.aborted_by = "canceled", True, self._sockets[socket]
                self._queue.remove((turn, run))
                self.history.remove(turn.prompted)
                self._noise({"type": "messages.removed", "messageIds": [turn.prompted.id]})
                # A stream that waits for this turn would otherwise wait for ever. Without ids the
                # error could not name its prompt, so none is sent.
                for prompt in (turn.prompt, *(p for _, p in self._waiting_too(turn))):
                    if ids := self._prompt_ids(prompt):
                        self.tell({"type": "error", "error": "The prompt was taken back", **ids})
                return

    def answer(self, socket: ServerConnection, answer: Answer) -> None:
        """Close the open question that it names, for any user. Other answers are only noted."""
        turn = self.running
        if turn is not None and turn.asking.answer(answer.question_id, answer.answer):
            return
        parts = (part for entry in self.history for part in entry.parts)
        asked = {part.id for part in parts if isinstance(part, Question)}
        self._journal.ignored_answers.append(
            IgnoredAnswer(
                session_id=self.id,
                question_id=answer.question_id,
                answer=answer.answer,
                user_id=self._sockets[socket],
                why="closed" if answer.question_id in asked else "unknown",
            )
        )

    def _is_known(self, socket: ServerConnection, prompt: Prompt) -> bool:
        """Whether this message has a turn already; if so, the socket gets that turn."""
        if prompt.client_message_id is None or prompt.edit or prompt.regenerate:
            return False
        message = (prompt.client_message_id, prompt.channel)
        for turn, _ in self._queue:
            if message == (turn.prompt.client_message_id, turn.prompt.channel):
                turn.prompt_ids.add(prompt.prompt_id)
                self._also_waiting.setdefault(turn.id, []).append((socket, prompt))
                return True
        if (entry := self.history.answer_to(prompt)) is None:
            return False
        if self.running is not None and self.running.entry is entry:
            self.running.prompt_ids.add(prompt.prompt_id)
        self._retell(socket, entry, prompt)
        return True

    def _waiting_too(self, turn: Turn) -> list[tuple[ServerConnection, Prompt]]:
        return self._also_waiting.pop(turn.id, [])

    def _retell(self, socket: ServerConnection, entry: Entry, prompt: Prompt) -> None:
        for frame in repeated(entry, self._habits.spellings, self._prompt_ids(prompt)):
            self.tell_one(socket, frame)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()

    def tell(self, frame: Json) -> None:
        for socket in self._sockets:
            if socket.transport.get_write_buffer_size() > self._habits.buffer_bytes:
                socket.transport.abort()
        broadcast(self._sockets, msgspec.json.encode(frame), text=True)
        self._changed()

    def tell_one(self, socket: ServerConnection, frame: Json) -> None:
        broadcast([socket], msgspec.json.encode(frame), text=True)

    async def _work(self) -> None:
        while self._queue:
            turn, run = self._queue.popleft()
            self._begin(turn)
            run.began = True
            # A group of one: an abort cancels the answer and leaves the queue alone, while the
            # end of the agent cancels both.
            async with asyncio.TaskGroup() as group:
                task = group.create_task(_why_failed(turn))
                self._running = turn, run, task
            self._running = None
            why = None
            if task.cancelled():
                run.reason = "canceled"
            else:
                run.reason = "end_turn" if (why := task.result()) is None else "error"
            turn.end(run.reason, why)
            if not self._queue:
                turn.status("idle")
                self._noise({"type": "status", "data": {"runnerBusy": False}})

    def _begin(self, turn: Turn) -> None:
        if gone := self.history.take_back(turn.prompt):
            self._noise({"type": "messages.removed", "messageIds": [entry.id for entry in gone]})
        summary = turn.prompt.content[:80]
        self._noise(
            {"type": "audit_log", "entry": {"eventType": "user.prompt", "summary": summary}}
        )
        self.history.begin(turn.prompted, turn.entry)
        turn.begin()
        for socket, prompt in self._waiting_too(turn):
            self._retell(socket, turn.entry, prompt)

    def _init(self) -> Json:
        running = {} if self.running is None else {"runningTurnId": self.running.id}
        return {
            "type": "init",
            "session": {
                "id": self.id,
                "status": "running",
                "messages": [entry.written() for entry in self.history],
            },
            "data": {
                "runnerBusy": self.running is not None,
                "promptsQueued": len(self._queue),
                **running,
            },
        }

    def _prompt_ids(self, prompt: Prompt) -> Json:
        known = self._habits.prompt_ids and prompt.prompt_id is not None
        return {"promptId": prompt.prompt_id} if known else {}

    def _noise(self, frame: Json) -> None:
        if self._habits.noise:
            self.tell(frame)

    def _hang_up(self) -> None:
        for socket in list(self._sockets):
            socket.transport.abort()


def _names(abort: Abort, turn: Turn) -> bool:
    return abort.prompt_id is not None and abort.prompt_id in turn.prompt_ids


async def _why_failed(turn: Turn) -> str | None:
    try:
        await brain.answer(turn)
    except TurnFailed as failure:
        return str(failure)
    return None
