"""A recording of frames, before it is replayed: what is in it, and whose turn to follow."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from turnwire.core.recording import find_header, missing
from turnwire.core.replay import PROMPT_ID
from turnwire.dialects import DIALECTS


class UnclearRecordingError(ValueError):
    """It is not clear which turn to follow. The message says what to do."""


class _Create(Struct):
    type: str
    prompt_id: str | None = msgspec.field(default=None, name="promptId")


_create = msgspec.json.Decoder(_Create).decode


def read(file: Path) -> list[bytes]:
    """The lines of a recording; of standard input, if the file is `-`.

    Raises:
        OSError: it cannot be read.

    """
    data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    return data.splitlines()


def prompt_id(recording: Sequence[bytes], asked: str | None) -> str:
    """The prompt whose turn to follow: the one asked for, or the only one there is.

    What the gateway recorded says itself which it is.

    Raises:
        UnclearRecordingError: there are several, or not the one asked for.

    """
    if (header := find_header(recording)) is not None:
        return header.prompt_id or PROMPT_ID
    found = list(dict.fromkeys(filter(None, map(_prompt_id, recording))))
    wanted = asked or PROMPT_ID
    if wanted in found or not found:
        return wanted
    if asked is None and len(found) == 1:
        return found[0]
    names = ", ".join(found[:5])
    message = f"no turn has promptId {wanted}; choose one with --prompt-id: {names}"
    raise UnclearRecordingError(message)


def odd_lines(recording: Sequence[bytes]) -> int:
    """How many lines are neither a note nor a frame."""
    lines = (line.strip() for line in recording)
    return sum(1 for line in lines if line[:1] not in {b"", b"#", b"{"})


def dialect(recording: Sequence[bytes], asked: str | None) -> str:
    """The wire of a recording: the one asked for, or what the gateway that recorded it spoke.

    Raises:
        UnclearRecordingError: this build does not know it.

    """
    header = find_header(recording)
    told = asked or (header.dialect if header is not None else "v2")
    if told not in DIALECTS:
        message = f"this build does not know its dialect, {told!r}"
        raise UnclearRecordingError(message)
    return told


def lacks(recording: Sequence[bytes]) -> list[str]:
    """What a recording says that is not in it, one line each."""
    return [f"not in the recording: {what}" for what in missing(recording)]


def _prompt_id(line: bytes) -> str | None:
    try:
        frame = _create(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    return frame.prompt_id if frame.type == "message.create" else None
