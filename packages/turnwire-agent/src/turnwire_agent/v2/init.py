"""`init`: where a session stands, for a socket that joins."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from turnwire_agent.session.events import (
    CallPart,
    DataPart,
    FilePart,
    Part,
    QuestionPart,
    ReasoningPart,
    SourcePart,
    StepPart,
    TextPart,
)
from turnwire_agent.session.history import Exchange
from turnwire_agent.session.parts import Retracted
from turnwire_agent.session.state import SessionState
from turnwire_agent.v2 import wire
from turnwire_agent.v2.frames import Frames

INIT_BYTES: Final = 24 * 1024 * 1024
"""Most bytes of all entries, as JSON, unless what runs and waits has more. A gateway takes a frame
of 32 MiB, if it is not told otherwise."""

FILE_CHARACTERS: Final = 8 * 1024 * 1024
"""Of the URLs of all files together. An older file is listed without its URL."""


def init_frame(session_id: str, state: SessionState, frames: Frames) -> bytes:
    """What the sockets of a session were sent, as one frame.

    The oldest turns that are over are left out if they do not fit.

    Args:
        session_id: As the gateway calls it.
        state: Of the session.
        frames: What wrote the frames of the session, with the same secrets.

    """
    running = state.running
    room, files_room = INIT_BYTES, FILE_CHARACTERS
    written: list[Raw] = []
    # The newest first: the oldest are left out, and before them their files.
    for exchange in reversed(state.history):
        if not exchange.is_shown:
            break
        entries: list[Raw] = []
        for entry in _entries(exchange, state, frames):
            bounded, files_room = _bounded(entry, files_room)
            entries.append(Raw(wire.encoded(bounded)))
        room -= sum(map(len, entries))
        if room < 0 and exchange.is_over:
            break
        written += entries
    return wire.encoded(
        wire.Init(
            wire.Session(session_id, "running", tuple(reversed(written))),
            wire.InitData(
                runner_busy=running is not None,
                prompts_queued=len(state.queue),
                running_turn_id=UNSET if running is None else running.turn_id,
            ),
        )
    )


def all_parts(exchange: Exchange, state: SessionState) -> Sequence[Part | Retracted]:
    """The parts of a turn: of one that runs also those that were taken back."""
    running = state.running
    if running is not None and running.exchange is exchange:
        return running.parts.log()
    return exchange.parts


def parts_of(parts: Iterable[Part | Retracted], frames: Frames) -> Iterator[wire.TurnPart]:
    """The parts of a turn, as `init` has them."""
    for part in parts:
        match part:
            case TextPart(text):
                yield wire.TextPart(text)
            case ReasoningPart(text):
                yield wire.ReasoningPart(text)
            case CallPart():
                yield _call(part, frames)
            case FilePart(mime, url, filename):
                yield wire.FilePart(mime, url or None, filename)
            case SourcePart(source_id, url, title):
                yield wire.SourcePart(source_id, url, title)
            case DataPart(name, value, data_id):
                yield wire.DataPart(name, value, data_id)
            case QuestionPart(asked, answer, expired):
                yield frames.question(asked, answer, expired=expired)
            case StepPart():
                yield wire.StepPart()
            case Retracted(since):
                yield wire.RetractPart(since)
            case _:
                assert_never(part)


def _call(call: CallPart, frames: Frames) -> wire.CallPart:
    is_shown = call.input is UNSET and frames.shows_pieces(call.tool)
    return wire.CallPart(
        call_id=call.call_id,
        tool_name=call.tool,
        status=call.status,
        args=frames.args(call.tool, call.input),
        input_text=call.input_text if is_shown else "",
        result=call.value,
        error=UNSET if call.error is None else call.error,
        preliminary=call.preliminary,
    )


def _entries(exchange: Exchange, state: SessionState, frames: Frames) -> Iterator[wire.Entry]:
    """The turn of an exchange, and its prompt."""
    prompt = exchange.prompt
    prompt_id = exchange.prompt_ids[0] if exchange.prompt_ids else UNSET
    if exchange.turn_id is not None:
        yield wire.Entry(
            id=exchange.turn_id,
            role="assistant",
            prompt_id=prompt_id,
            channel_type=prompt.channel.type,
            channel_id=prompt.channel.id,
            parts=(*parts_of(all_parts(exchange, state), frames), *_end(exchange)),
        )
    text = (wire.TextPart(prompt.content),) if prompt.content else ()
    yield wire.Entry(
        id=prompt.entry_id,
        role="user",
        prompt_id=prompt_id,
        client_message_id=_or_unset(prompt.client_message_id),
        user_id=_or_unset(prompt.user_id),
        channel_type=prompt.channel.type,
        channel_id=prompt.channel.id,
        queued=exchange.turn_id is None,
        parts=(
            *text,
            *(wire.FilePart(a.mime, a.url or None, a.filename) for a in prompt.attachments),
        ),
    )


def _or_unset(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value


def _end(exchange: Exchange) -> Iterator[wire.Part]:
    if exchange.error is not None:
        yield wire.ErrorPart(exchange.error)
    if exchange.reason is not None:
        yield wire.FinishPart(exchange.reason)


def _bounded(entry: wire.Entry, room: int) -> tuple[wire.Entry, int]:
    """The entry without the URLs that do not fit, and how many characters still do."""
    if not any(isinstance(part, wire.FilePart) for part in entry.parts):  # nearly always
        return entry, room
    parts = list(entry.parts)
    for place, part in reversed(list(enumerate(parts))):
        if isinstance(part, wire.FilePart) and part.url is not None:
            room -= len(part.url)
            if room < 0:
                parts[place] = wire.FilePart(part.mime, None, part.filename)
    return replace(entry, parts=tuple(parts)), room
