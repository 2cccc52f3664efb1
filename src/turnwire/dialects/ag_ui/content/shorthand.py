"""Events in shorthand (`…_CHUNK`): each opens, goes on with or closes a message by itself.

`expand` gives the events that they stand for. The run, and each of its subagents, has at most one
such message open: its *lane*. A chunk of another kind or id closes it, and so do most other events
of the same owner. A chunk without an id goes on with the lane of its owner.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from turnwire.dialects.ag_ui import frames
from turnwire.dialects.ag_ui.frames import RunEvent, Shorthand

LANES_MAX: Final = 64
"""Most subagents with a lane. Beyond that, the oldest lane is closed."""

Kind: TypeAlias = type[Shorthand]

_CLOSING: Final = (
    *(frames.TextStart, frames.TextContent, frames.TextEnd),
    *(frames.ReasoningStart, frames.ReasoningContent, frames.ReasoningEnd),
    *(frames.ThinkingStart, frames.ThinkingContent, frames.ThinkingEnd),
    *(frames.CallStart, frames.CallArgs, frames.CallEnd, frames.CallResult),
    *(frames.StepStarted, frames.StepFinished, frames.StateSnapshot, frames.StateDelta),
    *(frames.Custom, frames.SubagentFinished, frames.SubagentError),
)
"""Events that close the lane of their owner."""


class _Lane(Struct, frozen=True):
    kind: Kind
    id: str


class Lanes:
    """The messages that were opened in shorthand, by the subagent they belong to."""

    def __init__(self) -> None:
        self.open: dict[str | None, _Lane] = {}

    @property
    def holds_calls(self) -> bool:
        """Whether a call is open, which other events end."""
        lanes = self.open
        return bool(lanes) and any(lane.kind is frames.CallChunk for lane in lanes.values())

    def expand(self, frame: RunEvent | Shorthand) -> Sequence[RunEvent] | None:
        """The events that an event stands for; None if it does not say what it goes on with."""
        if isinstance(frame, Shorthand):
            return self._expand(frame)
        if not self.open:
            return (frame,)
        if isinstance(frame, frames.MessagesSnapshot):
            return (*self.close_all(), frame)
        if isinstance(frame, _CLOSING):
            return (*self._close([frame.subagent_run_id or None]), frame)
        return (frame,)

    def close_all(self) -> Sequence[RunEvent]:
        """The events that close what is open."""
        return self._close(list(self.open))

    def _expand(self, chunk: Shorthand) -> Sequence[RunEvent] | None:
        kind = type(chunk)
        item_id = (
            chunk.tool_call_id if isinstance(chunk, frames.CallChunk) else chunk.message_id
        ) or None
        owner = self._owner(kind, item_id, chunk.subagent_run_id or None)
        lane = self.open.get(owner)
        before: list[RunEvent] = []
        if lane is None or lane.kind is not kind or item_id not in {None, lane.id}:
            if item_id is None:
                return None
            opening = _opening(chunk, item_id)
            if opening is None:
                return None
            before = [*self._close([owner]), *self._close_oldest(), opening]
            lane = self.open[owner] = _Lane(kind, item_id)
        return before if not chunk.delta else [*before, _content(chunk, lane.id, chunk.delta)]

    def _owner(self, kind: Kind, item_id: str | None, owner: str | None) -> str | None:
        """Whose message a chunk is of: it may name its message alone, or nothing."""
        if owner is not None:
            return owner
        matching = [
            each
            for each, lane in self.open.items()
            if lane.kind is kind and item_id in {None, lane.id}
        ]
        return matching[0] if len(matching) == 1 else None

    def _close(self, owners: Iterable[str | None]) -> list[RunEvent]:
        closed = (self.open.pop(owner, None) for owner in owners)
        return [_end(lane) for lane in closed if lane is not None]

    def _close_oldest(self) -> list[RunEvent]:
        return self._close([next(iter(self.open))]) if len(self.open) >= LANES_MAX else []


def _opening(chunk: Shorthand, item_id: str) -> RunEvent | None:
    """The event that opens a message or a call; None for a call without a name."""
    match chunk:
        case frames.TextChunk(role=role):
            return frames.TextStart(message_id=item_id, role=role)
        case frames.ReasoningChunk():
            return frames.ReasoningStart(message_id=item_id)
        case frames.CallChunk(tool_call_name=name):
            return frames.CallStart(tool_call_id=item_id, tool_call_name=name) if name else None
        case _:
            assert_never(chunk)


def _content(chunk: Shorthand, item_id: str, delta: str) -> RunEvent:
    match chunk:
        case frames.TextChunk():
            return frames.TextContent(message_id=item_id, delta=delta)
        case frames.ReasoningChunk():
            return frames.ReasoningContent(message_id=item_id, delta=delta)
        case frames.CallChunk():
            return frames.CallArgs(tool_call_id=item_id, delta=delta)
        case _:
            assert_never(chunk)


def _end(lane: _Lane) -> RunEvent:
    if lane.kind is frames.TextChunk:
        return frames.TextEnd(message_id=lane.id)
    if lane.kind is frames.ReasoningChunk:
        return frames.ReasoningEnd(message_id=lane.id)
    return frames.CallEnd(tool_call_id=lane.id)
