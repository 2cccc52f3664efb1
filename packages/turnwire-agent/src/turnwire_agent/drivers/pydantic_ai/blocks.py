"""What the model of an agent streams, as events of the loop."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic_ai import messages

from turnwire_agent.drivers.pydantic_ai.own_calls import OwnCalls
from turnwire_agent.llm.events import (
    Event,
    FileMade,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)


class Blocks:
    """The parts of the responses of one run."""

    def __init__(self, own: OwnCalls) -> None:
        self._own = own
        self._tools: Any = None
        self._responses = 0
        self._open: dict[int, Event] = {}
        """By the index of a part: what ends it."""
        self.is_structured = False
        """Whether the last response called a tool that is the output of the run, and no tool."""

    def begin(self, tools: Any) -> None:
        """A response begins.

        Args:
            tools: The `ToolManager` of pydantic-ai, which knows the tools of this request.

        """
        self._tools = tools
        self.is_structured = False

    def of(self, event: Any) -> Iterator[Event]:
        """Return what one event of pydantic-ai says."""
        match event:
            case messages.PartStartEvent(index=index, part=part):
                yield from self._begin(index, part)
            case messages.PartDeltaEvent(index=index, delta=delta):
                yield from self._more(index, delta)
            case _:
                pass

    def end(self) -> Iterator[Event]:
        """End what is open: the response is whole."""
        yield from self._open.values()
        self._open.clear()
        self._responses += 1

    def _begin(self, index: int, part: Any) -> Iterator[Event]:
        if index in self._open:
            yield self._open.pop(index)
        id_ = f"{self._responses}-{index}"
        match part:
            case messages.TextPart(content=text):
                yield TextStart(id_)
                self._open[index] = TextEnd(id_)
                if text:
                    yield TextDelta(id_, text)
            case messages.ThinkingPart(content=text):
                yield ReasoningStart(id_)
                self._open[index] = ReasoningEnd(id_)
                if text:
                    yield ReasoningDelta(id_, text)
            case messages.FilePart(content=content):
                yield FileMade(content.media_type, content.data)
            case messages.ToolCallPart(tool_name=name, tool_call_id=call_id, args=args):
                if self._is_output(name):
                    self.is_structured = True
                    return
                shown_id = self._own.begin(name, call_id)
                yield ToolInputStart(shown_id, name)
                self._open[index] = ToolInputEnd(shown_id)
                if args:
                    yield ToolInputDelta(
                        shown_id, args if isinstance(args, str) else json.dumps(args)
                    )
            case _:
                pass

    def _more(self, index: int, delta: Any) -> Iterator[Event]:
        end = self._open.get(index)
        match delta:
            case messages.TextPartDelta(content_delta=text) if text and isinstance(end, TextEnd):
                yield TextDelta(end.id, text)
            case messages.ThinkingPartDelta(content_delta=text) if text and isinstance(
                end, ReasoningEnd
            ):
                yield ReasoningDelta(end.id, text)
            case messages.ToolCallPartDelta(args_delta=str(text)) if text and isinstance(
                end, ToolInputEnd
            ):
                yield ToolInputDelta(end.id, text)
            case _:
                pass

    def _is_output(self, name: str) -> bool:
        tool = self._tools.get_tool_def(name)
        return tool is not None and tool.kind == "output"
