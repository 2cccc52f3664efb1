"""One session: its sockets, its queue of turns, its history.

Everything a socket hears is told here, to all of them at once and without waiting for any: a socket
that does not read fills its own buffer and is cut off when that is full, and nobody else notices.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from websockets.asyncio.server import ServerConnection, broadcast

from turnwire_lab.agent import brain
from turnwire_lab.agent.frames import Abort, Habits, Json, Prompt
from turnwire_lab.agent.history import Entry
from turnwire_lab.agent.tool import Tool
from turnwire_lab.agent.turn import Turn, TurnFailed

HISTORY: Final = 200
"""Entries that `init` repeats; older ones are forgotten, since a demo may run for weeks."""


class Session:
    def __init__(
        self,
        session_id: str,
        *,
        habits: Habits,
        tools: Mapping[str, Tool],
        group: asyncio.TaskGroup,
        changed: Callable[[], None],
    ) -> None:
        self.id = session_id
        self.history: deque[Entry] = deque(maxlen=HISTORY)
        self._habits = habits
        self._tools = tools
        self._group = group
        self._changed = changed
        self._sockets: dict[ServerConnection, str | None] = {}
        self._queue: deque[Turn] = deque()
        self._running: tuple[Turn, asyncio.Task[str | None]] | None = None
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
        """Queue a prompt as a new turn, whether or not the same was asked before."""
        ids = self._prompt_ids(prompt)
        why = brain.refusal(prompt.content)
        if not prompt.content.strip() and not prompt.attachments:
            why = "Missing content or attachments"
        if why is not None:
            self.tell_one(socket, {"type": "error", "error": why, **ids})
            return
        turn = Turn(
            prompt,
            user_id=self._sockets[socket],
            habits=self._habits,
            tools=self._tools,
            tell=self.tell,
            hang_up=self._hang_up,
        )
        self._queue.append(turn)
        if self._running is not None:
            position = {"promptQueued": True, "queuePosition": len(self._queue)}
            self._noise({"type": "status", "data": position})
        if self._worker is None or self._worker.done():
            self._worker = self._group.create_task(self._work())

    def abort(self, abort: Abort) -> None:
        """Stop what is named, running or queued; what names neither is ignored."""
        if self._running is not None:
            turn, task = self._running
            if abort.turn_id == turn.id or _names(abort, turn):
                task.cancel()
                return
        for turn in self._queue:
            if _names(abort, turn):
                self._queue.remove(turn)
                # Whoever waits for this turn would otherwise wait for ever. Without ids nobody
                # could tell whose prompt it was, so then nothing is said.
                if ids := self._prompt_ids(turn.prompt):
                    self.tell({"type": "error", "error": "The prompt was taken back", **ids})
                return

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
            turn = self._queue.popleft()
            self._begin(turn)
            # A group of one: an abort cancels the answer and leaves the queue alone, while the
            # end of the agent cancels both.
            async with asyncio.TaskGroup() as group:
                task = group.create_task(_why_failed(turn))
                self._running = turn, task
            self._running = None
            if task.cancelled():
                turn.end("canceled")
            elif (why := task.result()) is not None:
                turn.end("error", why)
            else:
                turn.end("end_turn")
            if not self._queue:
                turn.status("idle")
                self._noise({"type": "status", "data": {"runnerBusy": False}})

    def _begin(self, turn: Turn) -> None:
        asked = turn.asked()
        self.history.append(asked)
        self._noise({"type": "message", "data": asked.written()})
        summary = turn.prompt.content[:80]
        self._noise(
            {"type": "audit_log", "entry": {"eventType": "user.prompt", "summary": summary}}
        )
        self.history.append(turn.entry)
        turn.begin()

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
    return abort.prompt_id is not None and abort.prompt_id == turn.prompt.prompt_id


async def _why_failed(turn: Turn) -> str | None:
    try:
        await brain.answer(turn)
    except TurnFailed as failure:
        return str(failure)
    return None
