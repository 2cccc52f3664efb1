"""What the updates of a session tell: text, thoughts, calls, the plan.

A history and a turn that runs are told in the same words, so both go through `Progress`.
"""

from typing import Final, TypeAlias, assert_never

from msgspec import Raw

from turnwire.core.events import DataPart, Event, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import blocks, frames
from turnwire.dialects.acp.calls import Calls
from turnwire.dialects.acp.frames import AgentChunk, ThoughtChunk, Update

PLAN_BYTES_MAX: Final = 65_536
"""Longest plan that is sent, in bytes of its JSON."""

_PLAN: Final = "plan"
_Chunk: TypeAlias = AgentChunk | ThoughtChunk


class Progress:
    """What one turn tells its client. `take` returns the events of an update."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self.calls = Calls(frame_stats)
        self._message: tuple[type[_Chunk], str | None] | None = None
        """The kind and the id of the message that the last chunk belongs to."""
        self._frame_stats = frame_stats

    def take(self, update: Update, text: str | None = None) -> list[Event]:
        """`text`: that of a chunk which begins or ends with half of a surrogate pair."""
        match update:
            case frames.AgentChunk() | frames.ThoughtChunk():
                return self._chunk(update, text)
            case frames.UserChunk():
                return self._leave_out("user_message_chunk", 0)
            case frames.ToolCall() | frames.ToolCallUpdate():
                return self.calls.take(update)
            case frames.Plan(entries=entries):
                if len(entries) > PLAN_BYTES_MAX:
                    return self._leave_out("plan that is too large", len(entries))
                data = Raw(b'{"entries":%b}' % (bytes(entries) or b"[]"))
                return [DataPart(_PLAN, _PLAN, data)]
            case (
                frames.UsageUpdate()
                | frames.PlanUpdate()
                | frames.PlanRemoved()
                | frames.CommandsUpdate()
                | frames.ModeUpdate()
                | frames.ConfigUpdate()
                | frames.InfoUpdate()
            ):
                return self._leave_out(str(type(update).__struct_config__.tag), 0)
            case _:
                assert_never(update)

    def _chunk(self, chunk: _Chunk, torn: str | None) -> list[Event]:
        block = lenient.field(frames.block, chunk.content)
        if block is None or (block.type == "text" and block.text is None):
            self._frame_stats.count_malformed(bytes(chunk.content))
            return []
        if block.type != "text":
            shown = blocks.shown(block.type, chunk.content)
            return [shown] if shown else self._leave_out("block of content", len(chunk.content))
        text = torn or block.text
        if not text:
            return []
        before, self._message = self._message, (type(chunk), chunk.message_id)
        is_other = before is not None and before != self._message and before[0] is type(chunk)
        new: list[Event] = [TextBreak()] if is_other else []
        kind = TextDelta if isinstance(chunk, AgentChunk) else ReasoningDelta
        return [*new, kind(text)]

    def _leave_out(self, what: str, size: int) -> list[Event]:
        self._frame_stats.count_left_out(what, size)
        return []
