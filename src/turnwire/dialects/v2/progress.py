"""The events of a turn: of its live frames, and of its parts in `init`.

A lost attempt of a running turn stays among the parts, with the mark that takes it back: so a
client that reads the turn again, or goes on with it, counts the same parts as one that saw it live.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, assert_never

import msgspec
from msgspec import Raw

from turnwire.core import events, safe_json
from turnwire.core.bounds import FEW
from turnwire.core.events import Event, Phase, Reason
from turnwire.core.wire import lenient
from turnwire.dialects.v2 import init, questions
from turnwire.dialects.v2.frames import (
    Content,
    Data,
    File,
    Finalize,
    Position,
    ReasoningDelta,
    Source,
    Step,
    ToolInputDelta,
    ToolUpdate,
)
from turnwire.dialects.v2.init import Entry, Part

_WHOLE: Final = "stop"
"""The `finishReason` of an answer that is whole."""

_MARK_BYTES: Final = 256
"""The longest part that may be a `retract`."""

_PIECE: Final = 1_048_576
"""Characters of the longest text that goes into one event."""

_decode_fields = msgspec.json.Decoder(Annotated[dict[str, Raw], FEW]).decode
_decode_position = msgspec.json.Decoder(Position).decode


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
        preliminary=bool(frame.preliminary) and not frame.status.is_over,
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
        reason=lenient.finish_reason(finalize.reason),
        final_text=safe_json.string(finalize.final_text),
        error=safe_json.error_message(finalize.error),
        usage=finalize.usage or None,
        cut_short=None if stopped_by == _WHOLE else stopped_by,
        finish_reason=stopped_by,
    )


def history_events(entry: Entry) -> Iterator[Event]:
    """The events of a turn that is over, without those of attempts that were taken back."""
    if any(len(raw) <= _MARK_BYTES and b'"retract"' in bytes(raw) for raw in entry.parts):
        entry = msgspec.structs.replace(entry, parts=_standing(entry.parts))
    return turn_events(entry)


def _standing(all_parts: Iterable[Raw]) -> list[Raw]:
    """The parts that stand, with the marks between them."""
    standing: list[Raw] = []
    positions: list[int] = []
    """Where the parts that count are in `standing`: the n-th one has the position n."""
    for raw in all_parts:
        part = init.part(raw)
        since = None if part is None else lenient.field(_decode_position, part.since)
        match None if part is None else part.type:
            case "retract":
                if since is not None and since < len(positions):
                    del standing[positions[since] :], positions[since:]
            case "step" | "error" | "finish" | None:
                standing.append(raw)
            case _:
                positions.append(len(standing))
                standing.append(raw)
    return standing


def turn_events(entry: Entry) -> Iterator[Event]:
    """The events of a turn, without its start. `TurnFinished` is the last one if it is over."""
    reason: Reason | None = None
    error: str | None = None
    finished_calls: dict[str, Raw] = {}
    """Calls with an outcome: the part of each, by call id."""
    for raw in entry.parts:
        part = init.part(raw)
        if part is None:
            continue
        match part.type:
            case "finish":
                reason = lenient.finish_reason(part.reason)
            case "error":
                error = safe_json.error_message(part.message)
            case "question":
                yield from _question_events(part, raw)
            case "tool-call":
                yield from _call_events(part, raw, finished_calls)
            case "step":
                yield events.StepStarted()
            case "retract":
                since = lenient.field(_decode_position, part.since)
                if since is not None:
                    yield events.PartsRetracted(since)
            case _:
                yield from _content_events(part)
    if reason is not None:
        yield events.TurnFinished(reason=reason, error=error)


def _content_events(part: Part) -> Iterator[Event]:
    match part.type:
        case "text":
            yield from map(events.TextDelta, _pieces(_text(part.text, part.half)))
        case "reasoning":
            yield from map(events.ReasoningDelta, _pieces(_text(part.text, part.half)))
        case "file" if file := part.file:
            yield events.FilePart(*file)
        case "source" if url := safe_json.string(part.url):
            source_id, title = safe_json.short_string(part.source_id), safe_json.string(part.title)
            yield events.SourceUrl(source_id or "", url, title)
        case "data" if (name := safe_json.short_string(part.data_name)) and part.value:
            yield events.DataPart(name, safe_json.short_string(part.data_id) or None, part.value)


def _call_events(part: Part, raw: Raw, finished_calls: dict[str, Raw]) -> Iterator[Event]:
    """The state of a call. As in a live turn, its id may be used again once the call is over."""
    call_id = safe_json.short_string(part.call_id)
    try:
        phase = Phase(safe_json.string(part.status))
    except ValueError:
        return
    if not call_id:
        return
    name = safe_json.short_string(part.tool_name) or ""
    finished = finished_calls.pop(call_id, None)
    if finished is not None and bytes(finished) != bytes(raw):
        yield events.ToolUpdate(call_id=call_id, tool_name=name, phase=Phase.PENDING)
    if phase.is_over:
        finished_calls[call_id] = raw
    input_text = _text(part.input_text, part.half)
    if input_text and not part.args:
        yield events.ToolInputDelta(call_id, name, input_text)
    yield events.ToolUpdate(
        call_id=call_id,
        tool_name=name,
        phase=phase,
        args=part.args or None,
        result=part.result or None,
        error=safe_json.error_message(part.error),
        preliminary=bytes(part.preliminary) == b"true" and not phase.is_over,
    )


def _pieces(text: str) -> Iterator[str]:
    """The text; a very long one in pieces of `_PIECE`, so that no step takes long."""
    for start in range(0, len(text) or 1, _PIECE):
        yield text[start : start + _PIECE]


def _text(text: Raw, half: int) -> str:
    """A text of a part, with the half of a surrogate pair that it ends with."""
    return (safe_json.string(text) or "") + (chr(half) if half else "")


def _question_events(part: Part, raw: Raw) -> Iterator[Event]:
    question_id = part.valid_question_id
    if not question_id:
        return
    try:
        payload = _decode_fields(raw)
    except msgspec.ValidationError:  # more fields than a question may have
        return
    for field in ("type", "answer", "expired"):
        payload.pop(field, None)
    yield questions.question(question_id, payload)
    if part.answer:
        yield events.QuestionClosed(question_id, answer=part.answer)
    elif part.is_expired:
        yield events.QuestionClosed(question_id, expired=True)
