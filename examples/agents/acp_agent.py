"""An agent that speaks the Agent Client Protocol: `uvicorn acp_agent:app --port 8000`.

It is written with the protocol's own Python SDK, whose server ends a session with its WebSocket. So
the agent keeps its sessions itself: the next connection loads the one that it names. The words of
the prompt choose what it says (`offline/script.py`).
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from acp import helpers
from acp.exceptions import RequestError
from acp.http.asgi import create_asgi_app
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
)

from offline.script import Call, ModelFailed, Thought, answer
from offline.tools import calculate, delete, tell_time

TOOLS = {
    "calculator": lambda given: calculate(given["expression"]),
    "clock": lambda given: tell_time(given["city"]),
    "delete_file": lambda given: delete(given["path"]),
}
KINDS = {"calculator": "execute", "clock": "fetch", "delete_file": "delete"}
OPTIONS = [
    PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
    PermissionOption(option_id="always", name="Always allow", kind="allow_always"),
    PermissionOption(option_id="no", name="Reject", kind="reject_once"),
]
SESSIONS: dict[str, list[Any]] = {}
"""What was told in each session, in order."""


class Agent:
    """The agent of one connection."""

    def __init__(self, connection: Any) -> None:
        self._client = connection
        self._turn: asyncio.Task[str] | None = None
        self._calls = 0

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        able = AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=able)

    async def new_session(self, **_: Any) -> NewSessionResponse:
        session_id = uuid4().hex
        SESSIONS[session_id] = []
        return NewSessionResponse(session_id=session_id)

    async def load_session(self, session_id: str, **_: Any) -> LoadSessionResponse:
        if session_id not in SESSIONS:
            raise RequestError(-32002, "no such session")
        for update in SESSIONS[session_id]:
            await self._client.session_update(session_id, update)
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: Sequence[Any], **_: Any) -> PromptResponse:
        text = "".join(block.text for block in prompt if block.type == "text")
        SESSIONS[session_id].append(helpers.update_user_message_text(text))
        self._turn = asyncio.create_task(self._answer(session_id, text))
        try:
            reason = await self._turn
        except asyncio.CancelledError:
            reason = "cancelled"
        except ModelFailed as failure:
            raise RequestError(-32603, str(failure)) from failure
        usage = Usage(input_tokens=3, output_tokens=4, total_tokens=7)
        return PromptResponse(stop_reason=reason, usage=usage)

    async def cancel(self, session_id: str, **_: Any) -> None:
        if self._turn is not None and session_id in SESSIONS:
            self._turn.cancel()

    def on_connect(self, conn: Any) -> None:
        """Do nothing: the connection came with the constructor."""

    async def _tell(self, session_id: str, update: Any) -> None:
        SESSIONS[session_id].append(update)
        await self._client.session_update(session_id, update)

    async def _answer(self, session_id: str, text: str) -> str:
        results: list[str] = []
        while True:
            made: list[Call] = []
            async for piece in answer(text, results, self._calls):
                match piece:
                    case str():
                        await self._tell(session_id, helpers.update_agent_message_text(piece))
                    case Thought():
                        thought = helpers.update_agent_thought_text(piece.text)
                        await self._tell(session_id, thought)
                    case Call():
                        made.append(piece)
            if not made:
                return "end_turn"
            for call in made:
                self._calls += 1
                results.append(await self._run(session_id, call))

    async def _run(self, session_id: str, call: Call) -> str:
        call_id = f"{call.id}-{uuid4().hex[:8]}"
        begun = helpers.start_tool_call(
            call_id, f"Use {call.tool}", kind=KINDS[call.tool], status="pending", raw_input={}
        )
        await self._tell(session_id, begun)
        if call.tool == "delete_file" and not await self._may(session_id, call_id, call):
            return await self._end(session_id, call_id, "failed", "The user said no")
        running = helpers.update_tool_call(call_id, status="in_progress", raw_input=call.arguments)
        await self._tell(session_id, running)
        try:
            return await self._end(
                session_id, call_id, "completed", TOOLS[call.tool](call.arguments)
            )
        except ZeroDivisionError as error:
            return await self._end(session_id, call_id, "failed", f"{call.tool}: {error}")

    async def _may(self, session_id: str, call_id: str, call: Call) -> bool:
        asked = ToolCallUpdate(
            tool_call_id=call_id, title=f"Use {call.tool}", raw_input=call.arguments
        )
        response = await self._client.request_permission(
            session_id=session_id, tool_call=asked, options=OPTIONS
        )
        return getattr(response.outcome, "option_id", None) in {"once", "always"}

    async def _end(self, session_id: str, call_id: str, status: Any, text: str) -> str:
        content = [helpers.tool_content(helpers.text_block(text))]
        await self._tell(
            session_id, helpers.update_tool_call(call_id, status=status, content=content)
        )
        return text


app = create_asgi_app(Agent)
