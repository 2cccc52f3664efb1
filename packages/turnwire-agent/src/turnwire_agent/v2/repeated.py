"""A turn once more from its beginning, for one socket whose prompt it answers already."""

from collections.abc import Iterator
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from turnwire_agent.session.history import Exchange
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2 import wire
from turnwire_agent.v2.frames import Frames, created
from turnwire_agent.v2.init import all_parts, parts_of


def repeated(
    exchange: Exchange, prompt_id: str | None, state: SessionState, frames: Frames
) -> list[bytes]:
    """The frames of a turn as far as it is. What comes later goes to all sockets.

    A prompt that waits has none: its turn names each of its prompt ids when it begins.

    Args:
        exchange: What `SessionState.same_message` found.
        prompt_id: Of the prompt that came again.
        state: Of the session.
        frames: What writes the frames of the session.

    """
    turn_id = exchange.turn_id
    if turn_id is None:
        return []
    found: list[wire.Frame] = [created(turn_id, exchange, prompt_id)]
    for part in parts_of(all_parts(exchange, state), frames):
        found += _frames(part, turn_id)
    if exchange.reason is not None:
        end = wire.Finalize(turn_id, exchange.reason, exchange.finish_reason, exchange.error)
        found.append(end)
        found.append(wire.Complete(turn_id, UNSET if prompt_id is None else prompt_id))
    return [wire.encoded(frame) for frame in found]


def _frames(part: wire.TurnPart, turn_id: str) -> Iterator[wire.Frame]:
    match part:
        case wire.TextPart(text):
            yield wire.TextDelta(turn_id, text)
        case wire.ReasoningPart(text):
            yield wire.ReasoningDelta(turn_id, text)
        case wire.CallPart(call_id=call_id, tool_name=tool, input_text=pieces):
            if pieces:
                yield wire.ToolInputDelta(turn_id, call_id, tool, pieces)
            yield wire.ToolUpdate(
                turn_id,
                call_id,
                tool,
                part.status,
                args=part.args,
                result=part.result,
                error=part.error,
                preliminary=part.preliminary,
            )
        case wire.FilePart(mime, url, filename):
            if url is not None:
                yield wire.File(turn_id, mime, url, filename)
        case wire.SourcePart(source_id, url, title):
            yield wire.Source(turn_id, source_id, url, title)
        case wire.DataPart(name, value, data_id):
            yield wire.Data(turn_id, name, value, data_id)
        case wire.StepPart():
            yield wire.Step(turn_id)
        case wire.RetractPart(since):
            yield wire.Retract(turn_id, since)
        case wire.Question(question_id=question_id):
            yield replace(part, answer=UNSET, expired=False)
            if part.expired:
                yield wire.QuestionExpired(question_id, turn_id)
            elif part.answer is not UNSET:
                yield wire.QuestionResolved(question_id, turn_id, part.answer)
        case _:
            assert_never(part)
