"""The server of the `ag-ui` agent: one POST is one run, and its response is the run's events."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from turnwire_lab.agents.ag_ui import brain, events
from turnwire_lab.agents.ag_ui.answer import Answer, Ending
from turnwire_lab.agents.ag_ui.http import Framing, Reader, Request, Responder, read_request
from turnwire_lab.agents.ag_ui.journal import End, Run
from turnwire_lab.agents.ag_ui.turn import Call, Habits, Turn, interrupt
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.skills import TurnFailed
from turnwire_lab.agents.common.tool import ToolFailed
from turnwire_lab.agents.common.toolbox import CHECKOUT, toolbox, utc_now
from turnwire_lab.service import Service

PATH: Final = "/agent"
KEPT_RUNS: Final = 10_000
_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of no time at all: closing sends a reset."""


class AgUiAgent(Service):
    """`async with AgUiAgent() as agent:` answers at `agent.url`.

    Each request takes the first of `answers`; where there is none, the agent answers by itself.
    """

    def __init__(
        self,
        habits: Habits | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        now: Callable[[], datetime] = utc_now,
        docs: Path = CHECKOUT,
    ) -> None:
        self.host = host
        self.port = port
        self.answers: deque[Answer] = deque()
        self.runs: deque[Run] = deque(maxlen=KEPT_RUNS)
        self.connections = 0
        """Those that are open."""
        self.opened = 0
        """Those that were opened so far."""
        self._habits = habits or Habits()
        self._tools = toolbox(now=now, docs=docs)
        self._waiting: dict[str, list[Call]] = {}
        """Calls that need an approval, by thread."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._stirred = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}{PATH}"

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait until the fact is true. There is no time limit: use a timeout."""
        while not fact():
            await self._stirred.wait()

    def drop_connections(self) -> None:
        """Close all connections, as an agent does that restarts."""
        for task in self._tasks:
            task.cancel()

    async def _start(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(self._connection, self.host, self.port)
        stack.push_async_callback(self._end, server)
        self.port = server.sockets[0].getsockname()[1]

    async def _end(self, server: asyncio.Server) -> None:
        server.close()
        self.drop_connections()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _connection(self) -> asyncio.StreamReaderProtocol:
        reader = Reader()

        async def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._accept(reader, writer)

        return asyncio.StreamReaderProtocol(reader, accept)

    async def _accept(self, reader: Reader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.opened += 1
        connection = self.opened
        try:
            while (request := await read_request(reader)) is not None:
                run = Run(request, connection)
                self.runs.append(run)
                self._stir()
                if not await self._answer(run, reader, writer):
                    break
        except asyncio.CancelledError:
            pass  # it is taken down; streams would log this as an error
        finally:
            writer.close()
            self._tasks.discard(task)
            self.connections -= 1
            self._stir()

    async def _answer(self, run: Run, reader: Reader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request. Returns whether the connection takes another one."""
        answer = self.answers.popleft() if self.answers else None
        answering = asyncio.create_task(self._play(run.request, answer, Responder(writer)))
        # A client has nothing to say while it is answered: what can come is its end.
        watching = asyncio.create_task(reader.ended.wait())
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            run.ended = End.PLAYED if answering.done() else End.HUNG_UP
        finally:
            run.ended_at = asyncio.get_running_loop().time()
            for task in (answering, watching):
                task.cancel()
            await asyncio.wait({answering, watching})
            self._stir()
        if not answering.cancelled() and isinstance(answering.exception(), OSError):
            run.ended = End.HUNG_UP
        elif not answering.cancelled():
            answering.result()
        if answer is not None and answer.ending is Ending.RESET:
            _reset(writer)
        return run.ended is End.PLAYED and _keeps(answer)

    async def _play(self, request: Request, answer: Answer | None, responder: Responder) -> None:
        answer = answer or self._refusal(request)
        if answer is not None:
            await answer.play(responder)
            return
        await responder.head(200, {"content-type": "text/event-stream"}, Framing.CHUNKED)
        await self._run(request.input, responder)
        await responder.end()

    def _refusal(self, request: Request) -> Answer | None:
        asked = request.input
        if (request.method, request.target.partition("?")[0]) != ("POST", PATH):
            return _refused(404, "no such route")
        if not isinstance(asked, dict) or not {"threadId", "runId", "messages"} <= asked.keys():
            return _refused(422, "no RunAgentInput")
        return None

    async def _run(self, asked: Json, responder: Responder) -> None:
        thread_id, run_id = asked["threadId"], asked["runId"]
        turn = Turn(habits=self._habits, tools=self._tools, send=responder.send)
        await responder.send(events.started(thread_id, run_id))
        try:
            if answers := asked.get("resume"):
                await self._resume(turn, self._waiting.pop(thread_id, []), answers)
            else:
                await brain.answer(turn, _prompt(asked["messages"]))
        except TurnFailed as failure:
            await turn.end(events.failed(str(failure)))
            return
        self._waiting[thread_id] = turn.waiting
        interrupts = [interrupt(call) for call in turn.waiting]
        await turn.end(events.finished(thread_id, run_id, interrupts))

    async def _resume(self, turn: Turn, waiting: list[Call], answers: list[Json]) -> None:
        by_id = {each["interruptId"]: each for each in answers}
        if {interrupt(call)["id"] for call in waiting} != by_id.keys():
            raise TurnFailed("These are not the answers to what is open.")
        for call in waiting:
            answer = by_id[interrupt(call)["id"]]
            payload = answer.get("payload") or {}
            if answer["status"] != "resolved" or not payload.get("approved"):
                await turn.tell_result(call, "Denied")
                await turn.say(f"Then I leave the {call.tool} alone.\n")
                continue
            with suppress(ToolFailed):
                result = await turn.run(call)
                shown = result.get("value", result.get("time"))
                await turn.say(f"The {call.tool} says **{shown}**.\n")

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()


def _keeps(answer: Answer | None) -> bool:
    if answer is None:
        return True
    whole = answer.ending is Ending.WHOLE and answer.framing is not Framing.CLOSE
    return whole and answer.keeps


def _refused(status: int, why: str) -> Answer:
    body = b'{"detail":"%b"}' % why.encode()
    return Answer(
        body=[body], status=status, content_type="application/json", framing=Framing.LENGTH
    )


def _prompt(messages: list[Any]) -> str:
    """The text of the last message of a user."""
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            return " ".join(part.get("text", "") for part in content or ())
    return ""


def _reset(writer: asyncio.StreamWriter) -> None:
    sock: socket.socket = writer.get_extra_info("socket")
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
