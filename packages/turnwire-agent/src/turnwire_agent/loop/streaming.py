"""One attempt of a model, as it streams: what is shown at once, and how the attempt ends."""

import base64
from collections.abc import Callable, Sequence
from typing import Any

from turnwire_agent.llm.answer import Answer
from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
    ReasoningDelta,
    Source,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.calls.ids import CallIds
from turnwire_agent.loop.finish import finish_overflows
from turnwire_agent.loop.prepare import registered
from turnwire_agent.loop.turn_state import OVERFLOW
from turnwire_agent.session.deltas import (
    Delta,
    FileAdded,
    InputAdded,
    ReasoningAdded,
    SourceAdded,
    TextAdded,
)
from turnwire_agent.session.events import AttemptLost, StepEnded
from turnwire_agent.tools.names import WireNames


class Attempt:
    """Takes the events of one attempt, from the model's stream."""

    def __init__(self, asked: AskModel, agent: Agent, names: WireNames, *, since: int) -> None:
        """Begin.

        Args:
            asked: What the model was asked.
            agent: The agent that asks.
            names: Those of the request.
            since: How many parts the turn had before, as in `StepBegun`.
        """
        self._asked = asked
        self._window = agent.window
        self._names = names
        self._since = since
        self._answer = Answer(asked.model)
        self._ids = CallIds(asked.used_ids)
        self._tools: dict[str, str] = {}
        """By the id of the model: the registered name of a call whose input streams."""
        self._chars_left = agent.limits.answer_chars
        self._sources = 0
        self._began = False
        self._fault: Fault | None = None
        self._shown: dict[type, Callable[[Any], Sequence[Delta]]] = {
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            ToolInputStart: self._input_start,
            ToolInputDelta: self._input,
            ToolCall: self._call,
            FileMade: self._file,
            Source: self._source,
        }
        """By the type of an event. What is not here is not shown."""

    def add(self, event: Event) -> Sequence[Delta]:
        """Take the next event; return what is shown of it."""
        self._answer.add(event)
        show = self._shown.get(type(event))
        if show is not None:
            self._began = True
            return show(event)
        if isinstance(event, Fault):
            self._fault = event
        elif not isinstance(event, Begun):
            self._began = True
        return ()

    @property
    def is_over(self) -> bool:
        """Whether nothing more of the stream need be read: the answer ended, or is too long."""
        return self._answer.finish is not None or self._fault is not None or self._chars_left < 0

    @property
    def _is_too_long(self) -> bool:
        return self._chars_left < 0

    def outcome(self) -> StepEnded | AttemptLost:
        """Return how the attempt ended. A stream that just stops was truncated."""
        finish = self._answer.finish
        message = self._answer.message()
        if self._fault:
            return self._lost(self._fault.kind, self._fault.retry_after_s)
        if self._is_too_long:
            return self._lost(words.TOO_LONG)
        if finish is None or message is None:
            return self._lost("truncated")
        if self._asked.retries_overflow and finish_overflows(finish, self._window):
            return self._lost(OVERFLOW, usage=finish.usage)
        return StepEnded(
            turn_id=self._asked.turn_id,
            step=self._asked.step,
            message=registered(message, self._names),
            call_ids=tuple(self._ids.unique(call.id) for call in message.calls),
            finish_reason=finish.reason,
            raw=finish.raw,
            usage=finish.usage,
        )

    def _lost(
        self, why: str, retry_after_s: float | None = None, usage: Usage | None = None
    ) -> AttemptLost:
        return AttemptLost(
            turn_id=self._asked.turn_id,
            step=self._asked.step,
            attempt=self._asked.attempt,
            since=self._since,
            why=why,
            final=not self._began,
            retry_after_s=retry_after_s,
            usage=usage,
        )

    def _text(self, event: TextDelta) -> Sequence[Delta]:
        self._chars_left -= len(event.text)
        return (TextAdded(event.text),)

    def _reasoning(self, event: ReasoningDelta) -> Sequence[Delta]:
        self._chars_left -= len(event.text)
        return (ReasoningAdded(event.text),)

    def _input_start(self, event: ToolInputStart) -> Sequence[Delta]:
        name = self._tools[event.id] = self._names.tool(event.name) or event.name
        return (InputAdded(self._ids.unique(event.id), name, ""),)

    def _input(self, event: ToolInputDelta) -> Sequence[Delta]:
        self._chars_left -= len(event.text)
        return (InputAdded(self._ids.unique(event.id), self._tools[event.id], event.text),)

    def _call(self, event: ToolCall) -> Sequence[Delta]:
        if event.id in self._tools:
            return ()  # its input came in pieces
        self._chars_left -= len(event.arguments)
        name = self._names.tool(event.name) or event.name
        return (InputAdded(self._ids.unique(event.id), name, event.arguments),)

    def _file(self, event: FileMade) -> Sequence[Delta]:
        data = base64.b64encode(event.data).decode()
        return (FileAdded(event.media_type, f"data:{event.media_type};base64,{data}"),)

    def _source(self, event: Source) -> Sequence[Delta]:
        self._sources += 1
        source_id = f"source-{self._asked.step}-{self._asked.attempt}-{self._sources}"
        return (SourceAdded(source_id, event.url, event.title),)
