"""One session, put together: which handler takes a frame, and a test's levers."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import assert_never

from websockets.asyncio.server import ServerConnection

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import Tool
from turnwire_lab.agents.session_agent.habits import Habits, Status
from turnwire_lab.agents.session_agent.handlers import (
    aborting,
    init,
    intake,
    lifecycle,
    orders,
    questions,
)
from turnwire_lab.agents.session_agent.handlers.asked import (
    Abort,
    Answer,
    Approve,
    Asked,
    Command,
    Deny,
    Diff,
    Ping,
    Promote,
    Prompt,
    Replace,
    Revert,
    Review,
    Withdraw,
)
from turnwire_lab.agents.session_agent.handlers.reports import Reports
from turnwire_lab.agents.session_agent.runner.runner import Runner
from turnwire_lab.agents.session_agent.runner.turn import Turn
from turnwire_lab.agents.session_agent.state.channel import DEFAULT, NOWHERE, Channel
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import Pending, State
from turnwire_lab.agents.session_agent.state.tally import Tally


class Session:
    def __init__(
        self,
        session_id: str,
        *,
        habits: Habits,
        tools: Mapping[str, Tool],
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        group: asyncio.TaskGroup,
        changed: Callable[[], None],
        tally: Tally,
    ) -> None:
        self.id = session_id
        self._state = State(
            session_id,
            habits=habits,
            now=now,
            new_id=new_id,
            group=group,
            changed=changed,
            tally=tally,
        )
        reports = Reports(self._state)
        self._runner = Runner(reports, habits=habits, tools=tools, start=self._state.start)
        self._state.runner = self._runner
        self._intake = intake.Intake(self._state)
        self._open = asyncio.Event()
        self._open.set()
        lifecycle.initialize(self._state)

    async def join(self, socket: ServerConnection, user_id: str) -> None:
        """Add a socket, which on R may get frames of a running turn before its `init` (§4.1)."""
        state = self._state
        state.owner = state.owner or user_id
        state.sockets.add(socket, user_id)
        if state.revision == "R":
            if state.habits.init_delay_s:
                await asyncio.sleep(state.habits.init_delay_s)
            await self._open.wait()
        init.send_init(state, socket)
        if state.revision != "R" and state.habits.hydration_s:
            state.later(state.habits.hydration_s, lambda: init.hydrate(state, socket, user_id))
        else:
            init.hydrate(state, socket, user_id)

    def leave(self, socket: ServerConnection) -> None:
        init.socket_left(self._state, self._state.sockets.remove(socket))

    def complain(self, socket: ServerConnection, words: str) -> None:
        """The second shape of an error: to the socket that asked (§4.2)."""
        self._state.sockets.tell_one(socket, {"type": "error", "message": words})

    def hear(self, socket: ServerConnection, asked: Asked) -> None:
        state = self._state
        by, line = state.sockets.user_of(socket), state.sockets.line_of(socket)
        match asked:
            case Prompt():
                self._intake.take(asked, by, line, lambda words: self.complain(socket, words))
            case Abort():
                aborting.abort(state, Channel(asked.channel_type, asked.channel_id), by, line)
            case Answer(question_id=str() as found, answer=str() | bool() as answer):
                questions.answer(state, found, answer)
            case Answer():
                self.complain(socket, "Missing questionId or answer")
            case Ping():
                state.sockets.tell_one(socket, {"type": "pong"})
            case (
                Approve()
                | Command()
                | Deny()
                | Diff()
                | Promote()
                | Replace()
                | Revert()
                | Review()
                | Withdraw()
            ):
                orders.obey(
                    state, self._intake, asked, by, lambda f: state.sockets.tell_one(socket, f)
                )
            case _:
                assert_never(asked)

    @property
    def status(self) -> Status:
        return self._state.status

    @property
    def owner(self) -> str | None:
        return self._state.owner

    @property
    def queued(self) -> list[Row]:
        return self._state.rows.queued

    @property
    def processing(self) -> list[Row]:
        """Prompts that count as running, also those an abort has left behind."""
        return self._state.rows.processing

    @property
    def turns(self) -> list[Turn]:
        """What the runner really works on."""
        return self._runner.turns

    @property
    def pending(self) -> list[Pending]:
        """Questions and approvals that wait."""
        return list(self._state.pending.values())

    @property
    def entries(self) -> list[Json]:
        """The transcript, oldest first."""
        return [entry.written() for entry in self._state.entries.values()]

    @property
    def users(self) -> list[str]:
        return self._state.sockets.users

    def release(self) -> None:
        """Let every turn continue that holds."""
        for turn in self.turns:
            turn.release()

    def hold_init(self) -> None:
        """R: sockets that join from now on get no `init` before `release_init`."""
        self._open.clear()

    def release_init(self) -> None:
        self._open.set()

    def lose_runner(self) -> None:
        lifecycle.lose_runner(self._state)

    def find_runner(self) -> None:
        lifecycle.find_runner(self._state)

    def recover(self) -> None:
        """What the watchdog does after minutes: give up prompts that no runner works on."""
        lifecycle.recover(self._state)

    def hibernate(self) -> None:
        lifecycle.hibernate(self._state)

    def fall_asleep(self) -> None:
        """Be done with hibernating, whatever time that takes."""
        lifecycle.fall_asleep(self._state)

    def wake(self) -> None:
        lifecycle.wake(self._state)

    def die(self, status: Status = "terminated") -> None:
        lifecycle.die(self._state, status)

    def clear_queue(self) -> None:
        """What the product has a route for."""
        cleared = aborting.delete_queued(self._state, None)
        self._state.tell_status(queueCleared=True, cleared=cleared)

    def ask(self, content: str, channel: Channel = DEFAULT, by: str | None = None) -> None:
        """Ask as the product's routes do, where an author is not always known (§9.20)."""
        self._intake.ask(content, channel, by)

    def flush(self) -> None:
        """Ask what was collected until now."""
        self._intake.flush()

    def remind(self, content: str, channel: Channel = NOWHERE) -> None:
        """Begin a turn that no user asked for."""
        intake.remind(self._state, content, channel)

    def tell(self, frame: Json) -> None:
        """Send a frame of a test to all clients."""
        self._state.tell(frame)

    def hang_up(self) -> None:
        self._state.sockets.hang_up()

    def close(self) -> None:
        self._state.close()
