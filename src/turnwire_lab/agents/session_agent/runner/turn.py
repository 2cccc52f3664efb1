"""One prompt, as the brain answers it: usually one turn, sometimes two, sometimes none (§5.4).

A turn gets its id at its first text or tool, or at its end if there was neither (§5.2).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import Tool, ToolFailed
from turnwire_lab.agents.common.wording import pieces
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.handlers.reports import Reports
from turnwire_lab.agents.session_agent.state.rows import Row
from turnwire_lab.agents.session_agent.state.state import Reply

T = TypeVar("T")


class PromptFailed(Exception):  # noqa: N818 - a verdict of the brain, not a fault of the program
    """Nothing comes of the prompt but an `error` frame, if that."""

    def __init__(self, error: str | Json | None) -> None:
        super().__init__(str(error))
        self.error = error


class Premature(Exception):  # noqa: N818 - a habit of R, not a fault of the program
    """R got no event for a minute, and ends the turn as if it were done (§5.4)."""


class Waits:
    """What the turns of one runner wait for."""

    def __init__(self) -> None:
        self._answers: dict[str, asyncio.Future[Reply]] = {}

    def answer(self, question_id: str, answer: Reply) -> None:
        future = self._answers.pop(question_id, None)
        if future is not None and not future.done():
            future.set_result(answer)

    def expect(self, question_id: str) -> asyncio.Future[Reply]:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._answers[question_id] = future
        return future


class Turn:
    """What the brain holds in its hand while it answers."""

    def __init__(
        self, row: Row, *, habits: Habits, tools: Mapping[str, Tool], reports: Reports, waits: Waits
    ) -> None:
        self.row = row
        self.habits = habits
        self.tools = tools
        self.reports = reports
        self.waits = waits
        self.id: str | None = None
        self.final_text: str | None = None
        """The text of the end; None: the text since the last tool."""
        self.reason = "end_turn"
        self.afterwards: list[Callable[[], None]] = []
        self._pieces: list[str] = []
        self._open: dict[str, str] = {}
        self._saying = False
        self._released = asyncio.Event()

    async def pause(self, pause_s: float | None = None) -> None:
        """Let other tasks run: an abort can only arrive while the turn pauses."""
        await asyncio.sleep(self.habits.pace_s if pause_s is None else pause_s)

    async def silence(self) -> None:
        """Send nothing more, until an abort, or until R loses patience."""
        await self._wait(asyncio.get_running_loop().create_future())

    async def hold(self) -> None:
        await self._wait(self._released.wait())

    def release(self) -> None:
        """Let it go on, whether it holds already or not."""
        self._released.set()

    async def say(self, text: str) -> None:
        for piece in pieces(text):
            self.say_delta(piece)
            await self.pause()

    def say_delta(self, piece: str) -> None:
        if not self._saying:
            self._saying = True
            self.reports.status(self.row, "streaming")  # before the turn is there (§4.2)
        self._pieces.append(piece)
        self.reports.delta(self.ensure(), piece)

    async def use(self, tool_name: str, args: Json) -> Json:
        """Run a tool from pending to its end. Clients get `ToolFailed` before it is raised."""
        call_id = self.open_call(tool_name)
        await self.pause()
        self.run_call(call_id, args)
        await self.pause()
        try:
            result = self.tools[tool_name](args)
        except ToolFailed as failure:
            self.close_call(call_id, "error", args=args, error=str(failure))
            raise
        # A result is a string as a rule, whatever is in it (§5.8).
        text = msgspec.json.encode(result).decode()
        self.close_call(call_id, "completed", args=args, result=text)
        return dict(result)

    def open_call(self, tool_name: str, *, status: str = "tool_calling") -> str:
        """A tool's first state; its arguments are often not there yet (§5.8)."""
        self._pieces.clear()
        self._saying = False
        detail = tool_name if status == "tool_calling" else None
        self.reports.status(self.row, status, detail)
        call_id = f"prt_{self.reports.new_id()}"
        self._open[call_id] = tool_name
        self._tell_call(call_id, "pending", args={})
        return call_id

    def run_call(self, call_id: str, args: Json) -> None:
        self._tell_call(call_id, "running", args=args)

    def close_call(self, call_id: str, status: str, **outcome: object) -> None:
        self._tell_call(call_id, status, **outcome)
        del self._open[call_id]

    def leave_call(self, tool_name: str) -> str:
        """A tool without a frame before its end, or the end of the turn (§5.8)."""
        call_id = f"prt_{self.reports.new_id()}"
        self._open[call_id] = tool_name
        return call_id

    async def ask(self, text: str, *options: str) -> Reply:
        return (await self.ask_all((text, options)))[0]

    async def ask_all(self, *asked: tuple[str, tuple[str, ...]]) -> list[Reply]:
        """All questions of one request; it goes on when all are answered (§4.4)."""
        # Idle, though the turn is alive: a question is a tool that waits (§4.4).
        call_id = self.open_call("question", status="idle")
        self.run_call(call_id, {"questions": [text for text, _ in asked]})
        request = f"que_{self.reports.new_id()}"
        ids = [request] if len(asked) == 1 else [f"{request}:{n}" for n in range(len(asked))]
        futures = [self.waits.expect(question_id) for question_id in ids]
        for question_id, (text, options) in zip(ids, asked, strict=True):
            self.reports.ask(self.row, question_id, text, options)
        answers = [await self._wait(future) for future in futures]
        joined = ", ".join(str(answer) for answer in answers)
        self.close_call(call_id, "completed", result=joined)
        return answers

    async def ask_approval(self, tool: str, params: Json) -> Reply:
        invocation_id = f"inv_{self.reports.new_id()}"
        future = self.waits.expect(invocation_id)
        self.reports.ask_approval(self.row, invocation_id, tool, params)
        return await self._wait(future)

    def fail_over(self) -> None:
        """The same prompt goes on in a second turn; the first one never gets an end (§5.4)."""
        self.reports.switch_model(self.row)
        self.id = None
        self._pieces.clear()
        self._saying = False

    def ensure(self) -> str:
        if self.id is None:
            self.id = self.reports.create(self.row)
        return self.id

    def end(self, error: str | None = None) -> None:
        known = self.id
        turn_id = self.ensure()
        if known is None and self.habits.revision == "R":
            # R looked for the id before there was one, so the end is for no turn, and dropped:
            # clients get an empty entry and nothing else (§5.4).
            return
        reason = self.reason if error is None else "error"
        text = self.final_text if self.final_text is not None else "".join(self._pieces) or None
        self.reports.finalize(self.row, turn_id, reason, text, error)
        for call_id in list(self._open):
            # Flushed after the end, with neither arguments nor a result (§5.6).
            self.close_call(call_id, "completed")

    async def _wait(self, future: Awaitable[T]) -> T:
        if self.habits.revision != "R":
            return await future
        try:
            async with asyncio.timeout(self.habits.premature_s):
                return await future
        except TimeoutError:
            raise Premature from None

    def _tell_call(self, call_id: str, status: str, **outcome: object) -> None:
        update = {"callId": call_id, "toolName": self._open[call_id], "status": status}
        self.reports.tool(self.ensure(), update | outcome)
