"""One run: what the brain holds in its hand while it answers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import msgspec

from turnwire_lab.agents.ag_ui.events import encode
from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import Tool, ToolFailed
from turnwire_lab.agents.common.wording import pieces

APPROVAL_SCHEMA: Final = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}


@dataclass(frozen=True)
class Habits:
    """How the agent differs from its default; times are seconds."""

    pace_s: float = 0.02
    slow_s: float = 0.2


@dataclass(frozen=True)
class Call:
    """A call of a tool; one that waits for an approval is kept with its thread."""

    id: str
    tool: str
    args: Json


class Turn:
    """It sends steps. `waiting` has the calls that need an approval when the run ends."""

    def __init__(
        self, *, habits: Habits, tools: Mapping[str, Tool], send: Callable[[bytes], Awaitable[None]]
    ) -> None:
        self.habits = habits
        self.waiting: list[Call] = []
        self._tools = tools
        self._send = send
        self._unsent: list[bytes] = []
        self._open: tuple[str, str] | None = None

    async def say(self, text: str) -> None:
        for piece in pieces(text):
            self.say_delta(piece)
            await self.pause()

    def say_delta(self, piece: str) -> None:
        self._delta("TEXT_MESSAGE", "assistant", piece)

    async def think(self, text: str) -> None:
        for piece in pieces(text):
            self._delta("REASONING_MESSAGE", "reasoning", piece)
            await self.pause()

    async def use(self, tool_name: str, args: Json) -> Any:
        """Run a tool and return its result. Clients get `ToolFailed` before it is raised."""
        call = await self._call(tool_name, args)
        return await self.run(call)

    async def use_approved(self, tool_name: str, args: Json) -> None:
        """Announce a call that runs when it is approved, in another run."""
        self.waiting.append(await self._call(tool_name, args))

    async def run(self, call: Call) -> Any:
        try:
            result = self._tools[call.tool](call.args)
        except ToolFailed as failure:
            await self.tell_result(call, str(failure))
            raise
        await self.tell_result(call, msgspec.json.encode(result).decode())
        return result

    async def tell_result(self, call: Call, content: str) -> None:
        self._add("TOOL_CALL_RESULT", messageId=_new_id(), toolCallId=call.id, content=content)
        await self.flush()

    async def pause(self, pause_s: float | None = None) -> None:
        await self.flush()
        await asyncio.sleep(self.habits.pace_s if pause_s is None else pause_s)

    async def flush(self) -> None:
        """Send what has not been sent, in one piece."""
        if self._unsent:
            data, self._unsent = b"".join(self._unsent), []
            await self._send(data)

    async def end(self, last: bytes) -> None:
        """Close what is open, and send the last event."""
        self._close()
        self._unsent.append(last)
        await self.flush()

    async def _call(self, tool_name: str, args: Json) -> Call:
        self._close()
        call = Call(_new_id(), tool_name, args)
        arguments = msgspec.json.encode(args).decode()
        half = len(arguments) // 2
        self._add("TOOL_CALL_START", toolCallId=call.id, toolCallName=tool_name)
        self._add("TOOL_CALL_ARGS", toolCallId=call.id, delta=arguments[:half])
        await self.pause()
        self._add("TOOL_CALL_ARGS", toolCallId=call.id, delta=arguments[half:])
        self._add("TOOL_CALL_END", toolCallId=call.id)
        await self.pause()
        return call

    def _delta(self, kind: str, role: str, piece: str) -> None:
        if self._open is None or self._open[0] != kind:
            self._close()
            self._open = (kind, _new_id())
            self._add(f"{kind}_START", messageId=self._open[1], role=role)
        self._add(f"{kind}_CONTENT", messageId=self._open[1], delta=piece)

    def _close(self) -> None:
        if self._open is not None:
            kind, message_id = self._open
            self._add(f"{kind}_END", messageId=message_id)
            self._open = None

    def _add(self, kind: str, **fields: Any) -> None:
        self._unsent.append(encode(kind, **fields))


def interrupt(call: Call) -> Json:
    """The question whether a call may run."""
    return {
        "id": f"approve-{call.id}",
        "reason": "tool_call",
        "message": f"Run {call.tool} with {msgspec.json.encode(call.args).decode()}?",
        "toolCallId": call.id,
        "responseSchema": APPROVAL_SCHEMA,
    }


def _new_id() -> str:
    return str(uuid4())
