"""The events of frames that add to the message of a turn, or end it."""

from typing import Final, assert_never

from turnwire.core import events, safe_json
from turnwire.core.events import Event, Phase
from turnwire.core.wire.lenient import finish_reason
from turnwire.dialects.v2.frames import (
    Content,
    Data,
    File,
    Finalize,
    ReasoningDelta,
    Source,
    Step,
    ToolInputDelta,
    ToolUpdate,
)

_WHOLE: Final = "stop"
"""The `finishReason` of an answer that is whole."""


def content_event(frame: Content) -> Event:
    """The event of a frame that is one."""
    match frame:
        case ReasoningDelta(delta=delta):
            return events.ReasoningDelta(delta)
        case ToolInputDelta(_, call_id, tool_name, delta):
            return events.ToolInputDelta(call_id, tool_name, delta)
        case File(_, url, mime):
            return events.FilePart(url, mime)
        case Source(_, source_id, url, title):
            return events.SourceUrl(source_id, url, title)
        case Data(_, name, value, data_id, transient):
            return events.DataPart(name, data_id or None, value, transient=bool(transient))
        case Step():
            return events.StepStarted()
        case _:
            assert_never(frame)


def call_events(frame: ToolUpdate) -> list[Event]:
    """The state of a call, and the piece of its input that may come with it."""
    update = events.ToolUpdate(
        call_id=frame.call_id,
        tool_name=frame.tool_name,
        phase=frame.status,
        args=frame.args or None,
        result=frame.result or None,
        error=safe_json.error_message(frame.error),
        preliminary=bool(frame.preliminary),
    )
    if frame.args_delta is None:
        return [update]
    piece = events.ToolInputDelta(frame.call_id, frame.tool_name, frame.args_delta)
    # In any other state the input is whole: the piece is the last one.
    return [update, piece] if frame.status is Phase.PENDING else [piece, update]


def turn_finished(finalize: Finalize) -> Event:
    """The end of a turn."""
    stopped_by = safe_json.short_string(finalize.finish_reason) or None
    return events.TurnFinished(
        reason=finish_reason(finalize.reason),
        final_text=safe_json.string(finalize.final_text),
        error=safe_json.error_message(finalize.error),
        usage=finalize.usage or None,
        cut_short=None if stopped_by == _WHOLE else stopped_by,
        finish_reason=stopped_by,
    )
