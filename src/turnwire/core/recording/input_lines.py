"""Inputs of a turn as lines of a recording: `encode` and `decode`.

A frame is a line as it is, or a JSON string after `#! frame` if it does not begin with `{`. A
reply is a JSON object after `#! replied`. Any other input is `#!` and the words of its array form
(`core.turn.inputs`): `#! held 1024`.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.requests import QuestionReply
from turnwire.core.turn.inputs import Frames, Input, Replied

_MARK: Final = b"#! "
_QUOTED_FRAME: Final = b"#! frame "
REPLIED: Final = b"#! replied "
BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")
"""Translates line breaks into spaces."""


class BadRecordingError(ValueError):
    """A `#!` line that this build does not know, or a frame that is not UTF-8."""


class _Reply(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A `Replied` in a recording, with the names that a `Redactor` knows."""

    question_id: str
    answer: Raw
    user_id: str
    subject: bytes | None = None


_read_reply = msgspec.json.Decoder(_Reply).decode
# For `convert`: a `Struct` that two threads read for the first time at once ends the process.
msgspec.json.Decoder(Input)


def encode(turn_input: Input) -> Iterator[bytes]:
    """Yield the line of an input; of `Frames`, a line for each frame."""
    if isinstance(turn_input, Frames):
        yield from map(_frame_line, turn_input.frames)
    elif isinstance(turn_input, Replied):
        yield REPLIED + reply_json(turn_input)
    else:
        yield _MARK + " ".join(map(str, msgspec.to_builtins(turn_input))).encode()


def reply_json(replied: Replied) -> bytes:
    """Return the JSON object of a reply, in one line."""
    reply = replied.reply
    made = _Reply(reply.question_id, reply.answer, replied.user_id, reply.subject)
    return msgspec.json.encode(made).translate(BREAKS)


def _frame_line(frame: bytes) -> bytes:
    """A frame in one line. Raw line breaks stand only between JSON tokens: they become spaces."""
    if frame.startswith(b"{"):
        return frame.translate(BREAKS)
    return _QUOTED_FRAME + msgspec.json.encode(frame.decode())


def decode(line: bytes) -> Input:
    """Return the input of a line; `Frames` with one frame for a line that is a frame.

    Raises:
        BadRecordingError: this build does not know such a line, or a frame is not UTF-8.

    """
    if line.startswith(_QUOTED_FRAME):
        return Frames((_quoted_frame(line),))
    if line.startswith(REPLIED):
        return _replied(line)
    if not line.startswith(b"#!"):
        return Frames((checked_frame(line),))
    words = line[2:].decode().split()
    try:
        turn_input: Input = msgspec.convert(words, Input, strict=False)
    except msgspec.ValidationError as exc:
        raise BadRecordingError(f"unknown line: #! {' '.join(words)}") from exc
    return turn_input


def _replied(line: bytes) -> Replied:
    try:
        made = _read_reply(line[len(REPLIED) :])
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRecordingError(f"a reply cannot be read: {exc}") from exc
    return Replied(QuestionReply(made.question_id, made.answer, made.subject), made.user_id)


def _quoted_frame(line: bytes) -> bytes:
    try:
        return msgspec.json.decode(line[len(_QUOTED_FRAME) :], type=str).encode()
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise BadRecordingError(f"a frame is no JSON string: {exc}") from exc


def checked_frame(line: bytes) -> bytes:
    """Return the line.

    Raises:
        BadRecordingError: it is not UTF-8.

    """
    try:
        line.decode()
    except UnicodeDecodeError as exc:
        raise BadRecordingError(f"a frame is not UTF-8: {exc.reason}") from exc
    return line
