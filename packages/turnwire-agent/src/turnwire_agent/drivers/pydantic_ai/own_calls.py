"""Calls of the tools of an agent's own, which run inside of an answer. People see them."""

from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec
from msgspec import Raw
from pydantic_ai import messages

from turnwire_agent.drivers.answers import Show
from turnwire_agent.llm.transcript import Text
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.session.events import CallBegun, CallEnded
from turnwire_agent.tools.run.outcome import FAILED, TEXT_MAX

_NO_INPUT: Final = Raw(b"{}")


class OwnCalls:
    """Those of one answer."""

    def __init__(self, asked: AskModel, registered: AbstractSet[str], show: Show) -> None:
        """Begin.

        Args:
            asked: What the agent was asked.
            registered: Names of the tools that are registered here: the loop shows their calls.
            show: Shows a call.

        """
        self._asked = asked
        self._registered = registered
        self._show = show
        self._ids: dict[str, str] = {}
        """By the id of the model, which may use it twice: the id in the turn of its last call."""
        self._count = 0

    def begin(self, tool: str, call_id: str) -> str:
        """A call begins to stream. Return the id that people see it by."""
        if tool in self._registered:
            return call_id
        self._count += 1
        shown_id = f"own-{self._asked.step}-{self._asked.attempt}-{self._count}"
        self._ids[call_id] = shown_id
        return shown_id

    async def see(self, event: Any) -> None:
        """Show what an event of pydantic-ai says of a call."""
        match event:
            case messages.FunctionToolCallEvent(part=part) if part.tool_name in self._registered:
                pass
            case messages.FunctionToolCallEvent(part=part):
                await self._show(
                    CallBegun(
                        turn_id=self._asked.turn_id,
                        call_id=self._id(part),
                        tool=part.tool_name,
                        key="",
                        effect="once",
                        input=_input(part),
                    )
                )
            case messages.FunctionToolResultEvent(part=part) if part.tool_call_id in self._ids:
                is_done = isinstance(part, messages.ToolReturnPart) and part.outcome == "success"
                text = part.model_response_str()[:TEXT_MAX] if is_done else FAILED
                await self._show(
                    CallEnded(
                        turn_id=self._asked.turn_id,
                        call_id=self._ids[part.tool_call_id],
                        tool=part.tool_name or "",
                        outcome="done" if is_done else "failed",
                        content=(Text(text),),
                        error=None if is_done else text,
                    )
                )
            case _:
                pass

    def _id(self, part: Any) -> str:
        return self._ids.get(part.tool_call_id) or self.begin(part.tool_name, part.tool_call_id)


def _input(part: Any) -> Raw:
    """The arguments; none if the model wrote no JSON: a journal takes nothing else."""
    try:
        written = part.args_as_json_str().encode()
        msgspec.json.decode(written)
    except (ValueError, RecursionError):
        return _NO_INPUT
    return Raw(written)
