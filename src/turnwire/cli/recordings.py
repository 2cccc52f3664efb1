"""Read a recording for `turnwire replay`: its dialect, the prompt to follow, its missing parts."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire.config import dialect_defaults
from turnwire.config.dialect_loading import BadDialectError, find, find_installed
from turnwire.core.agent import Dialect
from turnwire.core.recording.event_stream_body import as_lines, is_body
from turnwire.core.recording.recorder import find_header, missing
from turnwire.core.recording.replay import PROMPT_ID, Replayed, replay_turn
from turnwire.dialects import DIALECTS


class UnclearRecordingError(ValueError):
    """The turn to follow, or the dialect, is unclear or wrong. The message says what to do."""


class _Create(Struct, rename="camel"):
    type: str
    prompt_id: str | None = None
    run_id: str | None = None


_decode_create = msgspec.json.Decoder(_Create).decode


def read(file: Path) -> list[bytes]:
    """Return the lines of a file; of standard input, if the file is `-`.

    The body of a response with server-sent events is a recording too.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: it is a body with an event that is not UTF-8.

    """
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    return as_lines(data) if is_body(data) else data.splitlines()


def prompt_id(recording: Sequence[bytes], requested: str | None) -> str:
    """Return the id of the prompt to follow.

    The header of a recording decides. Without a header, it is the requested prompt, or else
    `PROMPT_ID`, or else the only prompt of the recording.

    Raises:
        UnclearRecordingError: the recording has several prompts, or not the requested one.

    """
    if (header := find_header(recording)) is not None:
        return header.prompt_id or PROMPT_ID
    ids = list(dict.fromkeys(filter(None, map(_prompt_id, recording))))
    wanted = requested or PROMPT_ID
    if wanted in ids or not ids:
        return wanted
    if requested is None and len(ids) == 1:
        return ids[0]
    choices = ", ".join(ids[:5])
    message = f"no turn has promptId {wanted}; choose one with --prompt-id: {choices}"
    raise UnclearRecordingError(message)


def odd_lines(recording: Sequence[bytes]) -> int:
    """Return the number of lines that are neither a comment nor a frame."""
    lines = (line.strip() for line in recording)
    return sum(1 for line in lines if line[:1] not in {b"", b"#", b"{"})


def dialect(recording: Sequence[bytes], requested: Dialect | None) -> Dialect:
    """Return the dialect: the requested one, else that of the recording's header, else the default.

    Raises:
        UnclearRecordingError: this build does not know the dialect.

    """
    if requested is not None:
        return requested
    header = find_header(recording)
    if header is None:
        return find(dialect_defaults.DIALECT)
    try:
        return find_installed(header.dialect)
    except BadDialectError as exc:
        message = f"cannot replay its dialect: {exc}; name another with --dialect"
        raise UnclearRecordingError(message) from exc


def check_wire(
    recording: Sequence[bytes],
    replayed: Replayed,
    *,
    dialect: Dialect,
    named: bool,
    prompt_id: str,
) -> None:
    """Check that a recording is one of this wire, after it was replayed.

    The gateway says in the first line of a recording which wire it is of. Otherwise the frames say
    it: if no turn of this wire began, and one of another wire did. If nobody `named` this wire, a
    wire that knows more of the frames is reason enough. It does not prove much: a turn that this
    wire ends early may go on in the other.

    Raises:
        UnclearRecordingError: it is of another wire, or no recording.

    """
    header = find_header(recording)
    if replayed.has_turn or (header is not None and header.dialect == dialect.name):
        return
    for name, other in DIALECTS.items():
        if name != dialect.name:
            found = replay_turn(recording, other, prompt_id=prompt_id)
            if found.has_turn or (not named and found.known_frames > replayed.known_frames):
                message = f"has no turn of the wire {dialect.name}; try --dialect {name}"
                raise UnclearRecordingError(message)
    if replayed.known_frames <= 0 and not any(line.startswith(b"#!") for line in recording):
        message = f"is no recording: it has no frame of the wire {dialect.name}"
        raise UnclearRecordingError(message)


def lacks(recording: Sequence[bytes]) -> list[str]:
    """Return the missing parts that a recording names, one line each."""
    return [f"not in the recording: {text}" for text in missing(recording)]


def _prompt_id(line: bytes) -> str | None:
    """The prompt id of a frame in which a turn begins; None for any other line."""
    try:
        frame = _decode_create(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    match frame.type:
        case "message.create":
            return frame.prompt_id
        case "RUN_STARTED":  # a run has the id of its prompt
            return frame.run_id
        case _:
            return None
